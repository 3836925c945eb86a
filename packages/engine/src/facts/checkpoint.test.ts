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

test("every checkpoint contains the lease secret, so that a trimmed log keeps it", () => {
  const { engine, facts } = openTelling();
  assert.equal(engine.queries.leaseSecret, undefined);
  const secret = Uint8Array.of(1, 2, 3);
  engine.setLeaseSecret(secret, 0);
  assert.deepEqual(facts.at(-1), { at: 0, fact: "lease-secret", secret });
  const [first] = engine.checkpoint();
  assert.deepEqual(rebuilt(first!).queries.leaseSecret, secret);
});

test("a checkpoint leaves out the purge of a queue that was deleted since", () => {
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

test("jobs emitted again after newer ones are placed before them, in order of their adds", () => {
  const { engine, facts } = openTelling();
  for (let i = 0; i < 4; i++) engine.add("q", {}, 0);
  const opening = checkpoint(engine);
  facts.length = 0;
  for (let i = 0; i < 3; i++) engine.add("q", {}, 0);
  const newer = [...facts];
  const copy = rebuilt([...opening, ...newer, ...moved(engine, 2, 3), ...moved(engine, 1, 4)]);
  assert.deepEqual(order(copy), [1, 2, 3, 4, 5, 6, 7]);
});

test("keeps ended jobs that are emitted again in order of their ends, and drops the oldest", () => {
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

test("a kept job emitted again after others have ended does not outlive its place", () => {
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

test("emitting a known job again changes nothing but where its body is", () => {
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

test("skips facts about jobs whose records come later, but counts their entries", () => {
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

test("a ladder steps down in a replay although the success was of an unknown job", () => {
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

test("every checkpoint contains the level of the facts, before the queues", () => {
  const { engine, facts } = openTelling();
  engine.setLevel(2, "1.4.0", 0);
  const level = { at: 0, fact: "level", level: 2, needs: "1.4.0" };
  assert.deepEqual(facts.at(-1), level);
  const [first] = engine.checkpoint();
  assert.deepEqual(each(first!, "fact"), ["ids", "level", "queue"]);
  assert.equal(rebuilt(first!).queries.level, 2);
});

test("of the results of a job that is not known the last is kept, and let go at the end", () => {
  const gone = { bodies: [], sizes: [] };
  const copy = new TestEngine({ gone });
  const step = { at: 0, fact: "step", id: 1, name: "s", occurrence: 0, kind: "run" } as const;
  copy.apply({ ...step, sizeBytes: 0 });
  copy.apply({ ...step, sizeBytes: 3, body: "old" });
  copy.apply({ ...step, sizeBytes: 5, body: "newer" });
  assert.deepEqual(gone, { bodies: ["old"], sizes: [3] });
  copy.endReplay();
  assert.deepEqual(gone, { bodies: ["old", "newer"], sizes: [3, 5] });
});

test("a letter of which nothing says when it died has died when it was added", () => {
  const { engine } = openTelling();
  engine.add("q", {}, 5);
  const [lease] = engine.lease("q", 1, 7);
  engine.nack(1, lease!.lease, 7, { unrecoverable: true });
  const record = engine.queries.record(1)!;
  const { diedAt, history, ...extra } = record.extra!;
  assert.equal(diedAt, 7);
  assert.ok(history!.length > 0);
  const copy = rebuilt([
    ...checkpoint(engine),
    { at: 7, fact: "moved", job: { ...record, extra } },
  ]);
  assert.equal(copy.queries.record(1)?.extra?.diedAt, 5);
});

test("what a charge takes from a gate is taken after a restart too", () => {
  const { engine, facts } = openTelling();
  engine.setGate("g", { rate: 10 }, 0);
  engine.charge("g", 4, 0);
  const saved = checkpoint(engine).filter(({ fact }) => fact === "gate-state");
  assert.equal(saved.length, 1);
  const copy = rebuilt(facts);
  assert.deepEqual(
    checkpoint(copy).filter(({ fact }) => fact === "gate-state"),
    saved,
  );
});

test("the lead of a level that is a lane by now is passed over", () => {
  const { engine } = openTelling();
  engine.add("q", { fairnessKey: "a" }, 0);
  const { tier } = engine.queries.record(1)!;
  const lead = { queue: "q", tier, path: ["a"], rounds: 5, rem: 0 };
  const told = [...checkpoint(engine), ...moved(engine, 1)];
  const after = (isLevel: boolean): Fact[] =>
    checkpoint(rebuilt([...told, { at: 0, fact: "position", ...lead, isLevel }])).filter(
      ({ fact }) => fact === "position",
    );
  assert.deepEqual(after(true), []);
  assert.equal(after(false).length, 1);
});

test("a checkpoint in the middle of a deletion keeps the interval after the leases it ends", () => {
  const engine = new TestEngine();
  engine.setGate("spaced", { interval: { ms: 40, from: "end" } }, 1000);
  for (const queue of ["a", "b"]) {
    engine.setQueue(queue, {}, 1000);
    engine.want(queue, "w", 10, 1000);
  }
  engine.add("b", { gates: ["spaced"] }, 1000);
  engine.dispatch(1000);
  engine.deleteQueue("b", 1001);
  const again = rebuilt(checkpoint(engine));
  again.want("a", "w", 10, 1001);
  again.add("a", { gates: ["spaced"] }, 1001);
  assert.equal(again.dispatch(1040).length, 0);
  assert.equal(again.dispatch(1041).length, 1);
});
