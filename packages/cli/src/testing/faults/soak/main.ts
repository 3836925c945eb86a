// Many injections, a few in each cluster. What is done is kept in a file by the seed, so that an
// interrupted run continues where it stopped, and with a timeline of each recovery that took too
// long. Ends with a table of recovery times by fault.
//
//   --count 300   injections
//   --seed 7      which faults, in which order, on which node or server (default: of the day)
//   --nats 2.15.1 of nats-server; may be given several times

import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { NATS_OLDEST } from "@sluice/log/nats";
import { NATS_VERSION } from "@sluice/log/testing";
import { FAULTS } from "../faults.ts";
import type { Verdict } from "../run-faults.ts";
import { spawnInSandbox } from "../sandbox.ts";
import { type Injection, recoveryTable } from "./recovery-table.ts";

const MAIN = join(import.meta.dirname, "..", "main.ts");
// Few, so that little is repeated when a run is interrupted.
const EACH = 5;
const DAY_MS = 86_400_000;

interface Chapter {
  readonly chapter: number;
  readonly injections: readonly Injection[];
  readonly verdict?: Verdict;
  readonly failed?: string;
}

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "300" },
    seed: { type: "string", default: String(Math.floor(Date.now() / DAY_MS)) },
    nats: { type: "string", multiple: true, default: [...new Set([NATS_OLDEST, NATS_VERSION])] },
  },
});
const seed = Number(values.seed);
const dir = join(process.cwd(), ".soak");
mkdirSync(dir, { recursive: true });
const file = join(dir, `cluster-${seed}-${values.nats.join("-")}.jsonl`);

const done = existsSync(file)
  ? readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line): Chapter => JSON.parse(line))
  : [];
const order = Array.from({ length: Number(values.count) }, (_, i) => faultAt(i));
for (let first = 0; first < order.length; first += EACH) {
  const chapter = first / EACH;
  if (done.some((one) => one.chapter === chapter)) continue;
  const found = await run(chapter, order.slice(first, first + EACH));
  done.push(found);
  appendFileSync(file, `${JSON.stringify(found)}\n`);
  const { failed, verdict, injections } = found;
  const what = failed ?? `${verdict?.violations.length} violations`;
  console.log(`${chapter + 1} of ${Math.ceil(order.length / EACH)}: ${injections.length}, ${what}`);
}

const broken = done.filter(({ failed, verdict }) => failed || verdict?.violations.length !== 0);
const injections = done.flatMap((one) => one.injections);
const confirmed = done.reduce((sum, { verdict }) => sum + (verdict?.confirmed ?? 0), 0);
console.log(recoveryTable(injections));
for (const { chapter, failed, verdict } of broken) {
  console.log(`part ${chapter + 1}: ${failed ?? verdict?.violations.slice(0, 5).join("; ")}`);
}
console.log(
  `seed ${seed}: ${injections.length} injections, ${confirmed} confirmed jobs, ` +
    `${broken.length} of ${done.length} parts with violations`,
);
process.exitCode = broken.length > 0 ? 1 : 0;

// Every fault as often as any other, in an order of the seed.
function faultAt(index: number): string {
  const round = Math.floor(index / FAULTS.length);
  const shuffled = [...FAULTS].sort((a, b) => rank(a.name, round) - rank(b.name, round));
  return shuffled[index % FAULTS.length]!.name;
}

function rank(name: string, round: number): number {
  let hash = (seed * 7919 + round) >>> 0;
  for (const letter of name) hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) >>> 0;
  return hash;
}

async function run(chapter: number, faults: readonly string[]): Promise<Chapter> {
  const nats = values.nats[chapter % values.nats.length]!;
  const args = ["--nats", nats, "--seed", String(seed + chapter)];
  const child = spawnInSandbox(MAIN, [...args, ...faults.flatMap((name) => ["--fault", name])]);
  const ended = once(child, "exit");
  const found: Injection[] = [];
  let end: Pick<Chapter, "verdict" | "failed"> = { failed: "it ended without a verdict" };
  for await (const line of createInterface({ input: child.stdout! })) {
    const told = JSON.parse(line);
    if (told.fault === undefined) end = told;
    else found.push(told);
  }
  await ended;
  return { chapter, injections: found, ...end };
}
