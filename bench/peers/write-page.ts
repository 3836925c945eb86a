// Puts the page and its plots into docs.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem, type } from "node:os";
import { join } from "node:path";
import type { Finish } from "../figure.ts";
import { pageOf, withSection } from "./page.ts";
import { IN_PROCESS, SYSTEMS } from "./systems.ts";

const DOCS = join(import.meta.dirname, "../../docs");
const PAGE = join(DOCS, "benchmarks.md");
const PLOTS = join(DOCS, "benchmarks");
const GIB = 2 ** 30;

const SCALES = {
  quick: "`--quick`: 3 runs, a backlog of 50,000",
  usual: "the usual size: 5 runs, a backlog of 200,000",
  full: "`--full`: 5 runs, a backlog of 1,000,000",
} as const;

export function writePage({ figures, scale, isWhole }: Finish): void {
  if (!isWhole) {
    console.error("The page is not written: not everything was measured.");
    return;
  }
  const systems = [...SYSTEMS, ...IN_PROCESS];
  const { section, plots } = pageOf({ figures, systems, about: about(scale.name) });
  mkdirSync(PLOTS, { recursive: true });
  for (const old of readdirSync(PLOTS)) {
    if (old.endsWith(".svg") && !plots.has(old)) rmSync(join(PLOTS, old));
  }
  for (const [name, plot] of plots) writeFileSync(join(PLOTS, name), plot);
  const before = existsSync(PAGE) ? readFileSync(PAGE, "utf8") : undefined;
  writeFileSync(PAGE, withSection(before, section));
}

function about(scale: keyof typeof SCALES): string {
  const memory = Math.round(totalmem() / GIB);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores, ${memory} GiB`;
  return [
    `\`npm run bench -- peers\` at ${SCALES[scale]}; ${day}, ${machine}, ${type()},`,
    `Node ${process.version}, a load of ${loadavg()[0]!.toFixed(1)} at the end.`,
    "Producer, server and consumer are processes of their own, over loopback, in rounds",
    "(A B C A B C), after warm-ups that count nowhere. Jobs are objects of 512 bytes as JSON.",
    "The ids delivered are checked to be exactly the ids added.",
  ].join("\n");
}
