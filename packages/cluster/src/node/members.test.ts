import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeEntry } from "./entries.ts";
import { Members } from "./members.ts";

const OWN = { node: "a", incarnation: "a1" };

const LEASE_MS = 3_000;
const ENTRY: NodeEntry = {
  address: "http://b",
  incarnation: "b1",
  version: "1",
  startedAt: 0,
  isDraining: false,
  beat: 1,
  keysRead: 0,
  unreached: [],
  lives: [],
};

test("a beat of a node that is as it was is no news; all that others act on is", () => {
  let revision = 0;
  let now = 0;
  const members = new Members(OWN, LEASE_MS);
  const hear = (id: string, change: Partial<NodeEntry> = {}): boolean =>
    members.hear(id, { ...ENTRY, beat: revision, ...change }, ++revision, now);
  const own = { incarnation: "a1" };
  assert.ok(hear("a", own));
  // Without it a node that was deaf would not know that it hears again.
  assert.ok(hear("a", own), "our own");
  assert.ok(hear("b"), "a new one");
  assert.ok(!hear("b"), "the same");
  assert.ok(!hear("b", { lives: [] }), "the same figures");
  for (const change of [
    { incarnation: "b2" },
    { isDraining: true },
    { keysRead: 7 },
    { unreached: ["c"] },
  ]) {
    assert.ok(hear("b", change), Object.keys(change).join());
    assert.ok(!hear("b", change), Object.keys(change).join());
    assert.ok(hear("b"), "as it was before");
  }
  now += LEASE_MS;
  assert.ok(hear("a", own));
  assert.ok(hear("c"));
  assert.ok(!members.hear("b", ENTRY, 1, now), "what is older than what was heard");
  now += LEASE_MS - 1;
  assert.ok(hear("c") === false, "just in time");
  now += LEASE_MS;
  assert.ok(hear("c"), "one that was dead");
  assert.ok(members.hear("c", undefined, ++revision, now), "one that has left");
  assert.ok(!members.hear("c", undefined, ++revision, now), "again");
});

test("what others write into the entry of a dead node does not bring it back", () => {
  const members = new Members(OWN, LEASE_MS);
  members.hear("b", { ...ENTRY, beat: 7 }, 1, 0);
  members.hear("b", { ...ENTRY, beat: 7, isDraining: true }, 2, LEASE_MS - 1);
  assert.ok(members.all(0)[0]?.isDraining, "it is heard");
  assert.ok(!members.isAlive({ node: "b", incarnation: "b1" }, LEASE_MS));
  members.hear("b", { ...ENTRY, beat: 8 }, 3, LEASE_MS);
  assert.ok(members.isAlive({ node: "b", incarnation: "b1" }, LEASE_MS));
  members.hear("b", { ...ENTRY, incarnation: "b2", beat: 1 }, 4, 2 * LEASE_MS);
  assert.ok(members.isAlive({ node: "b", incarnation: "b2" }, 2 * LEASE_MS), "started anew");
});

test("a word of a node that left does not hide the one that came after it", () => {
  const members = new Members(OWN, LEASE_MS);
  members.hear("b", ENTRY, 9, 0);
  assert.ok(!members.hear("b", undefined, 8, 0));
  assert.ok(members.isAlive({ node: "b", incarnation: "b1" }, 0));
  assert.ok(members.hear("b", undefined, 10, 0));
});

test("nodes that drain get partitions only when all that live do", () => {
  const members = new Members(OWN, LEASE_MS);
  members.hear("a", { ...ENTRY, incarnation: "a1", isDraining: true }, 1, 0);
  members.hear("b", { ...ENTRY, isDraining: true }, 2, 0);
  members.hear("c", ENTRY, 3, 0);
  assert.deepEqual(members.placeable(0), ["c"]);
  assert.deepEqual(members.heirsOf("a", 0), ["c"]);
  assert.deepEqual(members.heirsOf("c", 0), []);
  members.hear("c", { ...ENTRY, beat: 2, isDraining: true }, 4, 0);
  assert.deepEqual(members.placeable(0), ["a", "b", "c"]);
  assert.deepEqual(members.heirsOf("a", 0), []);
});
