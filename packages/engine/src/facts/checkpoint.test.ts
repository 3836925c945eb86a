import assert from "node:assert/strict";
import { test } from "node:test";
import { ROWS_PER_STEP } from "../tables/table-walk.ts";
import { each, openTelling, rebuilt, TestEngine } from "../testing/test-engine.ts";
import type { Fact } from "./facts.ts";

/** An engine whose facts are heard. */
const checkpoint = (engine: TestEngine): Fact[] => [...engine.checkpoint()].flat();

const moved = (engine: TestEngine, ...ids: number[]): Fact[] =>
  ids.map((id) => ({ at: 0, fact: "moved", job: engine.queries.record(id)! }));

const order = (engine: TestEngine): number[] => engine.lease("q", 100, 0).map(({ id }) => id);

test("a checkpoint begins with what all facts need: counts, queues, limits, purges", () => {
  const { engine } = openTelling();
  engine.setGate("g", { rate: 1 }, 0);
  // More than one step of a purge, so that it is under way.
  for (let i = 0; i < 2 * ROWS_PER_STEP; i++) engine.add("q", {}, 0);
  engine.purge("q", 0);
  const [first] = engine.checkpoint();
  const kinds = first!.map(({ fact }) => fact);
  assert.deepEqual(kinds, ["ids", "queue", "gate", "purged"]);
});

test("the secret of leases is told by every checkpoint, so that a trimmed log keeps it", () => {
  const { engine, facts } = openTelling();
  assert.equal(engine.queries.leaseSecret, undefined);
  const secret = Uint8Array.of(1, 2, 3);
  engine.setLeaseSecret(secret, 0);
  assert.deepEqual(facts.at(-1), { at: 0, fact: "lease-secret", secret });
  const [first] = engine.checkpoint();
  assert.deepEqual(rebuilt(first!).queries.leaseSecret, secret);
});

test("a purge of a queue that was deleted since is not told", () => {
  const { engine } = openTelling();
  for (let i = 0; i < 2 * ROWS_PER_STEP; i++) engine.add("q", {}, 0);
  engine.purge("q", 0);
  engine.deleteQueue("q", 0);
  assert.deepEqual(each(checkpoint(engine), "fact"), ["ids"]);
});

test("a large checkpoint comes in steps", () => {
  const { engine } = openTelling();
  for (let i = 0; i < 1200; i++) engine.stores.put("s", `${i}`, i, 0);
  const sizes = [...engine.checkpoint()].map((step) => step.length);
  assert.deepEqual(sizes, [2, 500, 500, 200, 1]);
});

test("jobs told again after newer ones stand before them, in the order of their adds", () => {
  const { engine, facts } = openTelling();
  for (let i = 0; i < 4; i++) engine.add("q", {}, 0);
  const opening = checkpoint(engine);
  facts.length = 0;
  for (let i = 0; i < 3; i++) engine.add("q", {}, 0);
  const newer = [...facts];
  const copy = rebuilt([...opening, ...newer, ...moved(engine, 2, 3), ...moved(engine, 1, 4)]);
  assert.deepEqual(order(copy), [1, 2, 3, 4, 5, 6, 7]);
});

test("ended jobs told again are kept in the order of their ends, and the oldest goes first", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("q", { results: { jobs: 3 } }, 0);
  for (let i = 0; i < 5; i++) engine.add("q", {}, 0);
  for (const id of [3, 1, 2]) engine.cancel(id, 0);
  const opening = checkpoint(engine);
  facts.length = 0;
  const again = moved(engine, 1, 2, 3, 4, 5);
  engine.cancel(4, 0);
  const copy = rebuilt([...opening, ...again, ...facts]);
  for (const one of [engine, copy]) {
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((id) => one.queries.job(id)?.state),
      ["cancelled", "cancelled", undefined, "cancelled", "waiting"],
    );
  }
});

test("a kept job told again when others have ended since does not outlive its place", () => {
  const { engine, facts } = openTelling();
  engine.setQueue("q", { results: { jobs: 1 } }, 0);
  engine.add("q", {}, 0);
  engine.cancel(1, 0);
  const opening = checkpoint(engine);
  const late = moved(engine, 1);
  facts.length = 0;
  engine.add("q", {}, 0);
  engine.cancel(2, 0);
  const copy = rebuilt([...opening, ...facts, ...late]);
  assert.equal(copy.queries.job(1), undefined);
  assert.equal(copy.queries.job(2)?.state, "cancelled");
});

test("a job told again to who knows it changes nothing but where its body is", () => {
  const gone = { bodies: [], sizes: [] };
  const { engine, facts } = openTelling();
  engine.add("q", { body: "old", sizeBytes: 3 }, 0);
  const copy = new TestEngine({ gone });
  for (const fact of facts) copy.apply(fact);
  const before = copy.queries.queueStats("q");
  copy.apply({ at: 0, fact: "moved", job: { ...engine.queries.record(1)!, body: "new" } });
  assert.deepEqual(copy.queries.queueStats("q"), before);
  assert.equal(copy.body(1), "new");
  assert.deepEqual(gone, { bodies: ["old"], sizes: [3] });
});

test("facts about jobs that are told later count as they did, and are passed over", () => {
  const { engine, facts } = openTelling();
  engine.add("q", { dedupe: { key: "k", mode: "debounce" }, delayMs: 10 }, 0);
  for (let i = 0; i < 3; i++) engine.add("q", {}, 0);
  const opening = checkpoint(engine);
  facts.length = 0;
  engine.add("q", { dedupe: { key: "k", mode: "debounce" }, delayMs: 10 }, 0);
  const [two, three] = engine.lease("q", 2, 0);
  engine.extend(two!.id, two!.lease, 50_000, 0);
  engine.giveBack(two!.id, two!.lease, 0);
  engine.nack(three!.id, three!.lease, 0, { delayMs: 0 });
  engine.cancel(4, 0);
  engine.tick(10);
  const copy = rebuilt([...opening, ...facts, ...moved(engine, 1, 2, 3, 4), ...checkpoint(engine)]);
  assert.deepEqual(checkpoint(copy), checkpoint(engine));
  assert.deepEqual(order(copy), order(engine));
});

test("a ladder steps down again although the success was told of an unknown job", () => {
  const { engine, facts } = openTelling();
  engine.setGate("g", { ladder: [10, 20] }, 0);
  engine.reportGate("g", false, 0);
  engine.add("q", { gates: ["g"] }, 20);
  const [lease] = engine.lease("q", 1, 20);
  const opening = checkpoint(engine);
  facts.length = 0;
  engine.ack(lease!.id, lease!.lease, 20);
  const copy = rebuilt([...opening, ...facts, ...checkpoint(engine)]);
  assert.equal(copy.queries.gateStats("g", 20).ladderStep, 0);
});
