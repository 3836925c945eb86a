// What it takes to append to the log with one append in flight: small writes handed to the
// operating system at once, as the log does, and through Node's threads, as it did.

import { FileLog } from "@sluice/log";
import type { Figure, Group, Scale } from "../figure.ts";
import { Scratch } from "../scratch.ts";
import { rounded, spreadConditions, spreadOf } from "../spread.ts";
import { PAYLOAD_BYTES } from "./jobs.ts";
import { threadDisk } from "./thread-disk.ts";

const APPENDS = { fsync: 2000, os: 20_000 } as const;
// A job's facts beside its payload.
const FACTS_BYTES = 100;
const WAYS = {
  "through Node's threads": { disk: threadDisk },
  "at once": {},
} as const;

export const writesGroups: readonly Group[] = (["fsync", "os"] as const).map((durability) => ({
  name: `writes-${durability}`,
  run: (scale, report) => measure(scale, durability, report),
}));

async function measure(
  scale: Scale,
  durability: "fsync" | "os",
  report: (figure: Figure) => void,
): Promise<void> {
  using scratch = new Scratch();
  await using logs = new AsyncDisposableStack();
  const appends = scale.size(APPENDS[durability]);
  const ways: { name: string; log: FileLog; cpuMicros: number[] }[] = [];
  for (const [name, way] of Object.entries(WAYS)) {
    const log = logs.use(await FileLog.open({ dir: scratch.fresh(), durability, ...way }));
    for await (const _ of log.replay()) throw new Error("a fresh log has something in it");
    ways.push({ name, log, cpuMicros: [] });
    await appendAll(log, appends);
  }
  for (let run = 0; run < scale.runs; run++) {
    for (const { log, cpuMicros } of ways) cpuMicros.push(await appendAll(log, appends));
  }
  for (const { name, cpuMicros } of ways) {
    const spread = spreadOf(cpuMicros);
    const conditions = { durability, bytes: PAYLOAD_BYTES + FACTS_BYTES, appends };
    const more = { disk: scratch.disk, runs: scale.runs, ...spreadConditions(spread) };
    report({
      metric: `one append in flight, ${durability}, written ${name}: processor time`,
      value: rounded(spread.median),
      unit: "µs",
      conditions: { ...conditions, ...more },
    });
  }
}

async function appendAll(log: FileLog, appends: number): Promise<number> {
  const facts = Buffer.alloc(PAYLOAD_BYTES + FACTS_BYTES, 1);
  const before = process.cpuUsage();
  for (let i = 0; i < appends; i++) await log.append(facts);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / appends;
}
