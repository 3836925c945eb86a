import assert from "node:assert/strict";
import { test } from "node:test";
import { PARTITIONS_MAX } from "@sluice/protocol";
import { CALLERS } from "../limits.ts";
import { checkValue } from "../registry/registry.ts";
import {
  BeatReader,
  encodeBeat,
  encodeNodeEntry,
  type NodeEntry,
  parseNodeEntry,
} from "./entries.ts";

const LONG_NAME = "n".repeat(100);

function entryOf(count: number, state: string): NodeEntry {
  return {
    address: `https://${LONG_NAME}:65535`,
    incarnation: "0b5d8c1e-7b5f-4d5e-9f0e-6f1c2f3a4b5c",
    version: "10.20.30",
    startedAt: 1_700_000_000_000,
    isDraining: false,
    beat: 2 ** 40,
    keysRead: Number.MAX_SAFE_INTEGER,
    unreached: Array.from({ length: CALLERS }, () => LONG_NAME),
    lives: Array.from({ length: count }, (_, partition) => ({
      ...{ partition, state, lagMs: 86_400_000, jobs: 1_000_000_000, openMs: 86_400_000 },
    })),
  };
}

test("what a node says of itself is read as it was written", () => {
  for (const state of ["serving", "resting"]) {
    const entry = entryOf(3, state);
    assert.deepEqual(parseNodeEntry(encodeNodeEntry(entry)), entry);
  }
});

test("a node that owns all there can be says so within what the registry takes", () => {
  checkValue(encodeNodeEntry(entryOf(PARTITIONS_MAX, "opening")));
});

test("what cannot be read counts as not there", () => {
  const entry = { address: "http://a", incarnation: "a1", lives: [{ partition: 1 }, 7, null] };
  const parsed = parseNodeEntry(JSON.stringify(entry));
  assert.deepEqual([parsed?.lives, parsed?.unreached], [[], []]);
  for (const text of [undefined, "", "{", "7", "null", "{}", '{"address":"http://a"}']) {
    assert.equal(parseNodeEntry(text), undefined, text);
  }
});

test("beats are read as they were sent, also when only their number changes", () => {
  const reader = new BeatReader();
  const entry = {
    ...{ address: "http://a", incarnation: "a1", version: "1", startedAt: 5, isDraining: false },
    ...{ keysRead: 3, unreached: ["b"], beat: 1 },
    lives: [
      { partition: 7, state: "serving", lagMs: 1, jobs: 2, openMs: 3 },
      { partition: 8, state: "serving", lagMs: 1, jobs: 2, openMs: 3, leader: "n1" },
      { partition: 9, state: "away", lagMs: 0, jobs: 0, openMs: 0, error: "a hole" },
    ],
  };
  for (const beat of [1, 2, 3]) {
    const text = encodeBeat("a.b-c", { ...entry, beat });
    assert.deepEqual(reader.read(text), { id: "a.b-c", entry: { ...entry, beat }, isGone: false });
  }
  const drained = { ...entry, beat: 4, isDraining: true };
  assert.deepEqual(reader.read(encodeBeat("a.b-c", drained))?.entry, drained);
  assert.equal(reader.read(encodeBeat("a.b-c", drained, true))?.isGone, true);
  for (const text of ["", "a", "a 1", "a 1 +", "a x +{}", " 1 +{}", "a 1 +nonsense"]) {
    assert.equal(reader.read(text), undefined, text);
  }
});
