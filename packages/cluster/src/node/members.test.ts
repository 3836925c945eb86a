import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeEntry } from "./entries.ts";
import { Members } from "./members.ts";

const LEASE_MS = 3_000;

function entry(more: Partial<NodeEntry> = {}): NodeEntry {
  return {
    address: "http://x",
    incarnation: "1",
    version: "1",
    startedAt: 0,
    isDraining: false,
    beat: 1,
    keysRead: 0,
    unreached: [],
    tenures: [],
    ...more,
  };
}

function membersOf(entries: Record<string, NodeEntry>): Members {
  const members = new Members({ node: "a", incarnation: "1" }, LEASE_MS);
  let revision = 0;
  for (const [id, one] of Object.entries(entries)) members.hear(id, one, ++revision, 0);
  return members;
}

test("a node lives for one lease after its entry moved, by the clock of whoever listens", () => {
  const members = membersOf({ a: entry(), b: entry() });
  members.hear("a", entry(), 3, 1_000);
  members.hear("a", entry(), 4, 2_000);
  assert.deepEqual(members.placeable(2_999), ["a", "b"]);
  assert.deepEqual(members.placeable(3_000), ["a"]);
  assert.equal(members.isAlive({ node: "b", incarnation: "1" }, 2_999), true);
  assert.equal(members.isAlive({ node: "b", incarnation: "another" }, 0), false);
});

test("an entry that is told again does not make a node younger", () => {
  const members = membersOf({ a: entry(), b: entry() });
  members.hear("b", entry(), 2, 2_500);
  assert.deepEqual(members.placeable(3_500), []);
});

test("whoever has not heard itself gives everybody a fresh lease when it does again", () => {
  const members = membersOf({ a: entry(), b: entry() });
  assert.equal(members.isHearing(1_499), true);
  assert.equal(members.isHearing(1_500), false);
  members.hear("a", entry(), 3, 10_000);
  assert.deepEqual(members.placeable(12_000), ["a", "b"]);
  assert.deepEqual(members.placeable(13_000), []);
});

test("a draining node, and one that most others cannot reach, get nothing", () => {
  const away = { unreached: ["c"] };
  const members = membersOf({ a: entry(away), b: entry(away), c: entry(), d: entry() });
  assert.deepEqual(members.placeable(0), ["a", "b", "d"]);
  members.hear("a", entry({ ...away, isDraining: true }), 9, 0);
  assert.deepEqual(members.placeable(0), ["b", "d"]);
});

test("what one alone says of another is not believed, and all against all changes nothing", () => {
  const one = membersOf({ a: entry({ unreached: ["b", "c"] }), b: entry(), c: entry() });
  assert.deepEqual(one.placeable(0), ["a", "b", "c"]);
  const both = membersOf({ a: entry({ unreached: ["b"] }), b: entry({ unreached: ["a"] }) });
  assert.deepEqual(both.placeable(0), ["a", "b"]);
});
