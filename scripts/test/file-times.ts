// How long each test file took the last time, so that a quick run can choose those that fit.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const PATH = "node_modules/.cache/test-times.json";

export type FileTimes = ReadonlyMap<string, number>;

export function readFileTimes(root: string): FileTimes {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(join(root, PATH), "utf8"))));
  } catch {
    return new Map();
  }
}

// Of files whose times are not known, as in a fresh clone, these begin first.
const LONG = [
  "broker-faults/hours.sim.test.ts",
  "worlds/worlds.sim.test.ts",
  "planted.sim.test.ts",
  "client/connect-cluster.test.ts",
  "apps/jobserver/src/server.test.ts",
  "apps/jobserver/src/variables.test.ts",
  "apps/jobserver/src/callbacks.test.ts",
  "apps/jobserver/src/isolation.test.ts",
  "cluster-node.test.ts",
  "conformance.test.ts",
  "four-partitions.test.ts",
  "spread-queues.test.ts",
  "crash/crash.crash.test.ts",
  "kill.crash.test.ts",
  "lua/programs.fuzz.test.ts",
];

// The order in which files that run side by side are done soonest.
export function longestFirst(root: string, files: readonly string[]): string[] {
  const times = readFileTimes(root);
  const timeOf = (file: string): number => {
    const rank = LONG.findIndex((ending) => file.endsWith(ending));
    return times.get(file) ?? (rank === -1 ? 0 : 1e9 - rank);
  };
  return [...files].sort((a, b) => timeOf(b) - timeOf(a));
}

export function writeFileTimes(root: string, times: FileTimes): void {
  const all = Object.fromEntries([...readFileTimes(root), ...times]);
  mkdirSync(dirname(join(root, PATH)), { recursive: true });
  writeFileSync(join(root, PATH), JSON.stringify(all, null, 1));
}
