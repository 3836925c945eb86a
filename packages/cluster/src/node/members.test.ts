import assert from "node:assert/strict";
import { test } from "node:test";
import type { Beat, NodeEntry } from "./entries.ts";
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

function beatOf(id: string, change: Partial<NodeEntry> = {}, isGone = false): Beat {
  return { id, entry: { ...ENTRY, ...change }, isGone };
}

test("a beat of a node that is as it was is no news; all that others act on is", () => {
  let beat = 0;
  let now = 0;
  const members = new Members(OWN, LEASE_MS);
  const hear = (id: string, change: Partial<NodeEntry> = {}): boolean => {
    members.hearEntry(beat, now);
    return members.hear(beatOf(id, { beat: ++beat, ...change }), now);
  };
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
  assert.ok(!members.hear(beatOf("b", { beat: 1 }), now), "what is older than what was heard");
  now += LEASE_MS - 1;
  assert.ok(hear("c") === false, "just in time");
  now += LEASE_MS;
  assert.ok(hear("c"), "one that was dead");
  assert.ok(members.hear(beatOf("c", {}, true), now), "one that has left");
  assert.ok(!members.hear(beatOf("c", {}, true), now), "again");
});

test("a word of a node that left does not hide the one that came after it", () => {
  const members = new Members(OWN, LEASE_MS);
  members.hear(beatOf("b", { incarnation: "b2", startedAt: 2 }), 0);
  assert.ok(!members.hear(beatOf("b", { beat: 9, startedAt: 1 }, true), 0));
  assert.ok(!members.hear(beatOf("b", { beat: 9, startedAt: 1 }), 0), "nor does a late beat");
  assert.ok(members.isAlive({ node: "b", incarnation: "b2" }, 0));
  assert.ok(members.hear(beatOf("b", { incarnation: "b2" }, true), 0));
});

test("a node gives every node a lease, and what it could not hear counts against none", () => {
  const members = new Members(OWN, LEASE_MS);
  const hearSelf = (now: number): void => {
    members.hearEntry(1, now);
    members.hear(beatOf("a", { incarnation: "a1", beat: now }), now);
  };
  const b = { node: "b", incarnation: "b1" };
  hearSelf(10);
  assert.ok(members.isHearing(10));
  assert.ok(members.isAlive(b, 10 + LEASE_MS - 1), "nothing was heard of it yet");
  members.hear(beatOf("b"), 20);
  members.hearEntry(2, LEASE_MS);
  assert.ok(!members.isHearing(LEASE_MS), "its own beats do not come back");
  members.hear(beatOf("a", { incarnation: "a1", beat: LEASE_MS }), LEASE_MS);
  assert.ok(members.isHearing(LEASE_MS));
  members.hear(beatOf("a", { incarnation: "a1", beat: 2 * LEASE_MS }), 2 * LEASE_MS);
  assert.ok(!members.isHearing(2 * LEASE_MS), "its own entry does not come back");
  hearSelf(2 * LEASE_MS + 1);
  assert.ok(members.isAlive(b, 3 * LEASE_MS));
  for (let now = 2 * LEASE_MS + 1; now <= 3 * LEASE_MS + 1; now += 500) hearSelf(now);
  assert.ok(!members.isAlive(b, 3 * LEASE_MS + 20), "and then it is dead");
});

test("a registry that is slow for a moment does not put off the death of a silent node", () => {
  const members = new Members(OWN, LEASE_MS);
  const b = { node: "b", incarnation: "b1" };
  members.hearEntry(1, 0);
  members.hear(beatOf("b"), 0);
  const slowMs = 2_000;
  for (let now = 0; now <= LEASE_MS + slowMs; now += 250) {
    members.hear(beatOf("a", { incarnation: "a1", beat: now + 1 }), now);
    if (now < 500 || now >= 500 + slowMs) members.hearEntry(now + 2, now);
    if (now === 2_250) assert.ok(!members.isHearing(now), "its own entry is late");
    if (now === LEASE_MS + slowMs - 500)
      assert.ok(members.isAlive(b, now), "as it may have spoken");
  }
  assert.ok(members.isHearing(LEASE_MS + slowMs));
  assert.ok(!members.isAlive(b, LEASE_MS + slowMs + 250));
});

test("the registry waits elsewhere when every node that is heard at another server says so", () => {
  const members = new Members(OWN, LEASE_MS);
  let beat = 0;
  const hear = (id: string, nats: string, registryWaits?: boolean): void => {
    const incarnation = `${id}1`;
    members.hear(beatOf(id, { incarnation, nats, registryWaits, beat: ++beat }), 0);
  };
  hear("a", "n1", true);
  hear("b", "n1", true);
  assert.ok(!members.waitsElsewhere(0), "no other server is heard");
  hear("c", "n2", true);
  assert.ok(members.waitsElsewhere(0));
  hear("d", "n3");
  assert.ok(!members.waitsElsewhere(0), "one of them reaches it");
  hear("d", "n3", true);
  assert.ok(members.waitsElsewhere(0));
  assert.ok(!members.waitsElsewhere(LEASE_MS), "what was said long ago says nothing");
});

test("nodes that drain get partitions only when all that live do", () => {
  const members = new Members(OWN, LEASE_MS);
  members.hear(beatOf("a", { incarnation: "a1", isDraining: true }), 0);
  members.hear(beatOf("b", { isDraining: true }), 0);
  members.hear(beatOf("c"), 0);
  assert.deepEqual(members.placeable(0), ["c"]);
  assert.deepEqual(members.heirsOf("a", 0), ["c"]);
  assert.deepEqual(members.heirsOf("c", 0), []);
  members.hear(beatOf("c", { beat: 2, isDraining: true }), 0);
  assert.deepEqual(members.placeable(0), ["a", "b", "c"]);
  assert.deepEqual(members.heirsOf("a", 0), []);
});
