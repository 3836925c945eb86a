import assert from "node:assert/strict";
import { test } from "node:test";
import { RingWorld } from "../properties/ring-world.ts";

test("owners come and go with their children, and are charged for them", () => {
  const world = new RingWorld();
  const p = world.owner("p");
  const [a, b] = [world.member("a", 1, p.ring), world.member("b", 1, p.ring)];
  world.rings.activate(a);
  world.rings.activate(b);
  world.active("z");
  assert.equal(world.rings.ownerOf(p.ring), p.node);
  assert.equal(world.serve(8), "azbzazbz");
  world.rings.deactivate(a);
  assert.equal(world.rings.sizeOf(world.ring), 2, "the owner has a child left");
  world.rings.deactivate(b);
  assert.equal(world.serve(2), "zz");
  world.rings.activate(b);
  assert.ok(world.serve(2).includes("b"));
});

test("charging a node without a ring has no effect, and the node takes part in nothing", () => {
  const world = new RingWorld();
  const node = world.member("a", 1, 0);
  world.rings.activate(node);
  world.rings.charge(node, 1);
  assert.equal(world.rings.peek(world.ring), 0);
});

test("with one member at the top only the rings below it need books", () => {
  const world = new RingWorld(false);
  const p = world.owner("p", false);
  const [a, b] = [world.member("a", 1, p.ring), world.member("b", 1, p.ring)];
  world.rings.activate(a);
  world.rings.activate(b);
  world.rings.chargeBelowRoot(a, 2);
  assert.equal(world.rings.roundsAhead(p.node), 0);
  assert.equal(world.rings.roundsAhead(a), 2);
  assert.equal(world.serve(4), "bbab");
});

test("a change of weight keeps the round and rescales what is used of the turn, rounded up", () => {
  const world = new RingWorld();
  const a = world.active("a", 4);
  const b = world.active("b", 4);
  assert.equal(world.serve(2), "ab");
  world.rings.setWeight(a, 2);
  world.rings.setWeight(a, 4);
  assert.equal(world.serve(8), "ababbaba", "to and fro has cost a part of the turn");
  world.rings.setWeight(b, 4);
  assert.equal(world.rings.roundsAhead(b), world.rings.roundsAhead(a));
});

test("restores a saved position, wherever the member is", () => {
  const world = new RingWorld();
  const [a, b] = [world.active("a", 2), world.active("b", 2)];
  world.rings.restore(a, 3, 1);
  assert.equal(world.rings.roundsAhead(a), 3);
  assert.equal(world.serve(7), "bbbbbba");
  const c = world.member("c", 2);
  world.rings.restore(c, 9, 5);
  world.rings.activate(c);
  assert.ok(!world.serve(20).includes("c"), "far ahead");
  world.rings.restore(c, 0, 0);
  assert.equal(world.serve(1), "c");
  world.rings.restore(b, 2, 0);
  assert.equal(world.rings.roundsAhead(b), 2);
});

test("idle members are handed out oldest first once their position means nothing", () => {
  const world = new RingWorld();
  const [a, b, c, d] = [..."abcd"].map((name) => world.member(name));
  for (const node of [a!, b!, c!, d!]) world.rings.linkIdle(node);
  world.rings.unlinkIdle(b!);
  world.rings.unlinkIdle(d!);
  assert.equal(world.rings.expired(world.ring), a);
  world.rings.restore(a!, 1, 0);
  assert.equal(world.rings.expired(world.ring), 0, "it leads");
  world.rings.activate(a!);
  assert.equal(world.rings.expired(world.ring), c);
  world.rings.unlinkIdle(c!);
  assert.equal(world.rings.expired(world.ring), 0);
});
