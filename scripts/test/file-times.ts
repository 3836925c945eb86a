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

export function writeFileTimes(root: string, times: FileTimes): void {
  const all = Object.fromEntries([...readFileTimes(root), ...times]);
  mkdirSync(dirname(join(root, PATH)), { recursive: true });
  writeFileSync(join(root, PATH), JSON.stringify(all, null, 1));
}
