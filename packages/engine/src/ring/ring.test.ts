import assert from "node:assert/strict";
import { test } from "node:test";
import { RingWorld } from "../properties/ring-world.ts";

test("a ring without active members serves none", () => {
  const world = new RingWorld();
  world.member("a");
  assert.equal(world.rings.peek(world.ring), 0);
  assert.equal(world.rings.leaf(world.ring), 0);
  assert.equal(world.rings.sizeOf(world.ring), 0);
});

test("asking who is next does not change who is next", () => {
  const world = new RingWorld();
  const [a] = [..."abc"].map((name) => world.active(name));
  assert.equal(world.rings.peek(world.ring), a);
  assert.equal(world.rings.peek(world.ring), a);
});

test("members of equal weight take turns, those of larger weight get more at every moment", () => {
  const world = new RingWorld();
  for (const name of "abc") world.active(name);
  assert.equal(world.serve(9), "abcabcabc");
  const weighted = new RingWorld();
  const weights: Record<string, number> = { a: 3, b: 1, c: 2 };
  for (const [name, weight] of Object.entries(weights)) weighted.active(name, weight);
  const served: Record<string, number> = { a: 0, b: 0, c: 0 };
  for (let i = 0; i < 600; i++) {
    served[weighted.serve(1)]! += 1;
    const shares = Object.entries(weights).map(([name, weight]) => served[name]! / weight);
    assert.ok(Math.max(...shares) - Math.min(...shares) <= 1, JSON.stringify(served));
  }
  assert.deepEqual(served, { a: 300, b: 100, c: 200 });
});

test("a newcomer gets one job at once and then waits its turn", () => {
  const world = new RingWorld();
  for (const name of "ab") world.active(name);
  world.serve(20);
  world.active("n");
  const order = world.serve(8);
  assert.ok(order.indexOf("n") <= 1, order);
  const counts = ["a", "b", "n"].map((name) => order.split(name).length - 1);
  assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, order);
});

test("several newcomers alternate with the current round", () => {
  const world = new RingWorld();
  for (const name of "abcd") world.active(name);
  world.serve(9);
  for (const name of "xyz") world.active(name);
  assert.equal(world.serve(6), "xbyczd");
});

test("a newcomer that leaves before it is served does not delay the others", () => {
  const world = new RingWorld();
  const nodes = [..."abc"].map((name) => world.active(name));
  world.rings.peek(world.ring);
  world.rings.deactivate(nodes[2]!);
  world.rings.deactivate(nodes[0]!);
  assert.equal(world.serve(3), "bbb");
});

test("leaving and coming back earns nothing", () => {
  const world = new RingWorld();
  const a = world.active("a");
  world.active("b");
  world.serve(2);
  let served = "";
  for (let i = 0; i < 50; i++) {
    world.rings.deactivate(a);
    world.rings.activate(a);
    served += world.serve(1);
  }
  assert.ok(served.split("a").length - 1 <= 27, served);
});

test("members that leave from the middle and the end of a round are not missed", () => {
  const world = new RingWorld();
  const [a, b, c] = [..."abcd"].map((name) => world.active(name));
  world.serve(8);
  world.rings.deactivate(b!);
  world.rings.deactivate(b!);
  assert.equal(world.serve(3), "acd");
  world.rings.deactivate(c!);
  world.rings.deactivate(a!);
  assert.equal(world.serve(2), "dd");
});

test("a job that costs many turns keeps its member back for as many rounds", () => {
  const world = new RingWorld();
  const a = world.active("a");
  world.active("b");
  world.rings.charge(a, 10);
  const order = world.serve(20);
  assert.equal(order.indexOf("a"), 10, "the cost, and b's first job is an advance");
  assert.ok(order.slice(12).includes("ab"), order);
});

test("members of far rounds come before members that reach the round later, and may leave", () => {
  const world = new RingWorld();
  const [a, b, c] = [..."abc"].map((name) => world.active(name));
  world.rings.charge(a!, 6);
  world.rings.charge(b!, 8);
  world.rings.deactivate(b!);
  assert.equal(world.serve(1), "c");
  world.rings.charge(c!, 20);
  assert.equal(world.serve(1), "a", "with no one nearer the next round is the far one's");
  world.rings.activate(b!);
  assert.ok(world.serve(3).includes("b"));
});

test("newcomers that came while the round ended begin the next, with far rounds or without", () => {
  for (const cost of [1, 9]) {
    const world = new RingWorld();
    const far = world.active("f");
    world.rings.charge(far, cost);
    world.rings.deactivate(far);
    const a = world.active("a");
    assert.equal(world.rings.peek(world.ring), a);
    world.active("b");
    world.rings.deactivate(a);
    assert.equal(world.serve(2), "bb");
  }
});

test("no round is leapt over while newcomers wait, however far ahead the others are", () => {
  const world = new RingWorld();
  const costly = world.active("c");
  assert.equal(world.rings.peek(world.ring), costly, "the round is closing, with its last member");
  world.active("n");
  assert.equal(world.serve(1, 5), "c");
  assert.equal(world.serve(6), "nnnncn", "the newcomer catches up before it is served again");
});

test("the heap of far rounds of a dropped ring is used again", () => {
  const world = new RingWorld();
  world.rings.charge(world.active("a"), 50);
  world.rings.drop(world.ring);
  const again = new RingWorld();
  again.rings.charge(again.active("a"), 50);
  assert.equal(again.serve(1), "a");
  const ring = world.rings.create(0, true);
  const node = world.member("n", 1, ring);
  world.rings.activate(node);
  world.rings.charge(node, 50);
  assert.equal(world.rings.peek(ring), node);
});

test("when no member is left the ring forgets who led", () => {
  const world = new RingWorld();
  const a = world.active("a");
  world.active("b");
  world.rings.charge(a, 3);
  for (const node of world.names.keys()) world.rings.deactivate(node);
  for (const node of world.names.keys()) world.rings.activate(node);
  assert.equal(world.serve(4), "abab");
});

test("a ring without newcomers puts a member that joins at the tail of its round", () => {
  const world = new RingWorld(false);
  for (const name of "ab") world.active(name);
  assert.equal(world.serve(3), "aba");
  world.active("n");
  assert.equal(world.serve(5), "bnabn");
});

test("a member served while the line is empty leads by one turn at most", () => {
  const world = new RingWorld(false);
  const a = world.member("a");
  for (let i = 0; i < 100; i++) world.rings.charge(a, 1);
  for (const name of "bc") world.active(name);
  world.rings.activate(a);
  assert.equal(world.serve(6), "bcabca");
});

test("leads of every size are remembered by a line that forms later", () => {
  const world = new RingWorld(false);
  const a = world.member("a", 2);
  world.rings.charge(a, 7);
  assert.equal(world.rings.roundsAhead(a), 0, "half a turn into the round");
  const b = world.active("b", 2);
  world.rings.activate(a);
  world.rings.activate(a);
  assert.equal(world.serve(4), "baba");
  world.rings.deactivate(a);
  world.rings.deactivate(b);
  assert.equal(world.rings.peek(world.ring), 0);
});

test("charges a member that is served outside the line while others wait in it", () => {
  const world = new RingWorld(false);
  const a = world.member("a");
  world.active("b");
  world.rings.charge(a, 2);
  world.rings.activate(a);
  assert.equal(world.serve(4), "bbab");
});

test("a flood of fresh members that come for one job leaves the others their share", () => {
  const world = new RingWorld();
  for (const name of "op") world.active(name);
  world.serve(4);
  let since = 0;
  for (let i = 0; i < 2000; i++) {
    const fresh = world.active("n");
    const served = world.rings.leaf(world.ring);
    world.rings.charge(served, 1);
    if (served !== fresh && world.names.get(served) === "n") world.rings.deactivate(served);
    since = world.names.get(served) === "o" ? 0 : since + 1;
    assert.ok(since < 2 * world.rings.sizeOf(world.ring) + 64, `o has waited for ${since} jobs`);
  }
});

test("beyond what a round takes in, a newcomer's first job is an advance on the next round", () => {
  const world = new RingWorld();
  const old = world.active("o", 1000);
  world.serve(1);
  world.rings.deactivate(old);
  world.rings.activate(old);
  world.serve(1);
  for (let i = 0; i < 63; i++) world.active("e");
  for (let i = 0; i < 37; i++) world.active("l");
  const first = world.serve(200);
  assert.equal(first.split("e").length - 1, 63);
  assert.equal(first.split("l").length - 1, 37, "each gets one job at once");
  world.rings.deactivate(old);
  assert.equal(world.serve(63), "e".repeat(63), "the round has taken in 64");
  assert.equal(world.serve(100).split("l").length - 1, 37);
});
