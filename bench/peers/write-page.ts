// Puts the page into docs.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";
import type { Finish } from "../figure.ts";
import { missingRows, pictureOf } from "./first-screen.ts";
import { PICTURE, pageOf, withSection } from "./page.ts";
import { IN_PROCESS, SYSTEMS } from "./systems.ts";

const DOCS = join(import.meta.dirname, "../../docs");
const PAGE = join(DOCS, "benchmarks.md");
const GIB = 2 ** 30;

const SCALES = {
  quick: "`--quick`: 3 runs, a backlog of 50,000",
  usual: "the usual size: 5 runs, a backlog of 200,000",
  full: "`--full`: 5 runs, a backlog of 1,000,000",
} as const;

const WAY = `Over the network, producer, server and consumer are processes of their own on loopback, and jobs are objects of 512 bytes
as JSON. All systems take turns (A B C, B C A, ...) after warm-ups that count nowhere, and disks are synced between turns.
The ids delivered are checked to be exactly the ids added; in the rows of the deep backlog, which is never drained, that
none came twice or from nowhere. "Relaxed": a confirm may come before the disk has the job, as the durability of each says.
Batches of Sluice are of the size and number that did best in its own benchmark; those of the peers follow their manuals
where these name any, and are round numbers otherwise.`;

export function writePage({ figures, scale, isWhole }: Finish): void {
  if (!isWhole) {
    console.error("The page is not written: not everything was measured.");
    return;
  }
  const missing = missingRows(figures);
  if (missing.length > 0) throw new Error(`no workload measures these rows: ${missing.join("; ")}`);
  const systems = [...SYSTEMS, ...IN_PROCESS];
  const section = pageOf({ figures, systems, about: about(scale.name, figures) });
  writeFileSync(join(DOCS, PICTURE), pictureOf(figures));
  const before = existsSync(PAGE) ? readFileSync(PAGE, "utf8") : undefined;
  writeFileSync(PAGE, withSection(before, section));
}

function about(scale: keyof typeof SCALES, figures: Finish["figures"]): string {
  const memory = Math.round(totalmem() / GIB);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores, ${memory} GiB`;
  const disk = figures.find(({ conditions }) => conditions.disk !== undefined)?.conditions.disk;
  return [
    `\`npm run bench -- peers\` at ${SCALES[scale]}; ${day}, ${machine}, ${type()}`,
    `${release()}, ${disk}, Node ${process.version}, Sluice at ${commit()}, a load of`,
    `${loadavg()[0]!.toFixed(1)} at the end.`,
    WAY,
  ].join("\n");
}

function commit(): string {
  const { stdout } = spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8" });
  return stdout?.trim() || "an unknown commit";
}
