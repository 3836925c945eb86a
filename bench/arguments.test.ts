import assert from "node:assert/strict";
import { test } from "node:test";
import { BenchUsageError, parseArguments } from "./arguments.ts";
import type { Bench } from "./figure.ts";

const group = (name: string) => ({ name, run: () => [] });
const BENCHES: Bench[] = [
  { name: "engine", groups: [group("permits"), group("memory-jobs"), group("memory-lanes")] },
  { name: "stream", groups: [group("wire")] },
];

const groupsOf = (...args: string[]): string[] =>
  parseArguments(args, BENCHES).groups.map(({ bench, group: { name } }) => `${bench} ${name}`);

test("without a name every benchmark runs", () => {
  assert.equal(groupsOf().length, 4);
  assert.deepEqual(groupsOf("--json", "stream"), ["stream wire"]);
});

test("--only picks groups by a part of their name", () => {
  assert.deepEqual(groupsOf("engine", "--only", "memory"), [
    "engine memory-jobs",
    "engine memory-lanes",
  ]);
});

test("--quick divides sizes by ten and runs three times", () => {
  const { scale } = parseArguments(["--quick"], BENCHES);
  assert.deepEqual([scale.isQuick, scale.runs, scale.size(1000)], [true, 3, 100]);
  assert.equal(parseArguments([], BENCHES).scale.size(1000), 1000);
});

test("an unknown name is answered with those that exist", () => {
  const usage = (message: RegExp) => (error: unknown) =>
    error instanceof BenchUsageError && message.test(error.message);
  assert.throws(() => groupsOf("motor"), usage(/"motor"; there are: engine, stream\./));
  assert.throws(() => groupsOf("--only", "disk"), usage(/permits, memory-jobs/));
  assert.throws(() => groupsOf("--fast"), usage(/--json, --quick, --full, --only/));
});

test("a benchmark that takes too long runs only when it is named", () => {
  const benches = [...BENCHES, { name: "peers", isOnlyNamed: true, groups: [group("flood")] }];
  assert.equal(parseArguments([], benches).groups.length, 4);
  assert.equal(parseArguments(["peers"], benches).groups.length, 1);
});

test("--full is the largest size, and a part of the groups is not the whole", () => {
  const { scale, isWhole, writesDocs } = parseArguments(["--full", "--write-docs"], BENCHES);
  assert.deepEqual([scale.name, isWhole, writesDocs], ["full", true, true]);
  assert.equal(parseArguments(["--only", "wire"], BENCHES).isWhole, false);
});

test("--only takes the group of that very name before those that contain it", () => {
  const benches = [{ name: "peers", groups: [group("flood"), group("flood-relaxed")] }];
  assert.equal(parseArguments(["--only", "flood"], benches).groups.length, 1);
  assert.equal(parseArguments(["--only", "floo"], benches).groups.length, 2);
});

test("contradicting arguments are refused before anything runs", () => {
  for (const args of [
    ["--quick", "--full"],
    ["--only"],
    ["--only", "--json"],
    ["--only", "wire", "--write-docs"],
  ]) {
    assert.throws(() => parseArguments(args, BENCHES), BenchUsageError, args.join(" "));
  }
  assert.throws(() => parseArguments(["--help"], BENCHES), /--write-docs/);
});
