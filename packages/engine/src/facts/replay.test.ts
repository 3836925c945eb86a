import assert from "node:assert/strict";
import { test } from "node:test";
import { each, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import type { Fact } from "./facts.ts";

/** An engine that emits facts, and a follower that applies them. */
class Pair {
  readonly facts: Fact[] = [];
  readonly engine = new TestEngine({ seed: 9, facts: this.facts });
  follower = new TestEngine({ seed: 9 });
  #followed = 0;

  constructor() {
    this.engine.setQueue("q", { retry: { attempts: 3, minMs: 10, jitter: 0 }, leaseMs: 1000 }, 0);
  }

  add(spec: JobSpec = {}, now = 0): number {
    return this.engine.add("q", spec, now).id;
  }

  take(now = 0, queue = "q"): Lease {
    return this.engine.lease(queue, 1, now)[0]!;
  }

  /** Applies what was written since, and finds no difference. */
  same(now: number): void {
    for (const fact of this.facts.slice(this.#followed)) this.follower.apply(structuredClone(fact));
    this.#followed = this.facts.length;
    assert.deepEqual(seen(this.follower, now), seen(this.engine, now));
  }

  told(): string[] {
    return this.facts.slice(this.#followed).map((fact) => fact.fact);
  }
}

function seen(engine: TestEngine, now: number): unknown {
  const names = engine.queries.queueNames();
  const gates = engine.gateKeys().filter((key) => !key.endsWith("*"));
  const ids = Array.from({ length: 30 }, (_, i) => i + 1).filter((id) => engine.queries.job(id));
  return structuredClone({
    queues: names.map((name) => [engine.queueConfig(name), queueOf(engine, name)]),
    jobs: ids.map((id) => ({
      ...engine.queries.job(id),
      gates: engine.queries.job(id)?.gates.toSorted(),
    })),
    histories: ids.map((id) => engine.queries.history(id)),
    gates: gates.map((key) => ({ ...engine.queries.gateStats(key, now), waitingLanes: 0 })),
    groups: engine.queries.group("g"),
    store: engine.stores.scan("s"),
  });
}

/** Leaves out what no fact contains: free workers, refused adds, places in lines. */
function queueOf(engine: TestEngine, name: string): unknown {
  const { freeWorkers: _, rejected: __, dropped: ___, ...stats } = engine.queries.queueStats(name);
  return stats;
}

test("queues, weights, gates and stores follow", () => {
  const pair = new Pair();
  const { engine } = pair;
  engine.setQueue("r", { tiers: ["a"] }, 1);
  engine.setQueue("r", { tiers: ["a", "b"], paused: true }, 2);
  engine.setLaneWeight("q", ["acme", "u"], 4, 3);
  engine.setGate("g*", { concurrency: 3 }, 4);
  engine.setGate("h", { rate: 2 }, 4);
  engine.stores.put("s", "a", 1, 5);
  engine.stores.put("s", "b", [2], 5);
  engine.stores.delete("s", "a", 6);
  pair.same(6);
  engine.deleteGate("h", 7);
  engine.deleteQueue("r", 7);
  pair.same(7);
});

test("a job's way through waiting, lease, failure, delay and end follows", () => {
  const pair = new Pair();
  const { engine } = pair;
  const id = pair.add({ fairnessKey: ["a", "b"], body: { n: 1 }, sizeBytes: 4, group: "g" });
  pair.same(0);
  const first = pair.take(1);
  pair.same(1);
  engine.extend(id, first.lease, 5000, 2);
  pair.same(2);
  engine.nack(id, first.lease, 3, { error: "bad" });
  pair.same(3);
  engine.tick(13);
  pair.same(13);
  engine.ack(id, pair.take(16).lease, 17, { sum: 1 });
  pair.same(17);
  engine.retry(id, 18);
  pair.same(18);
  engine.cancel(id, 19);
  pair.same(19);
});

test("a job that is given back follows, and its history does", () => {
  const pair = new Pair();
  for (let i = 0; i < 3; i++) pair.add();
  for (const { id, lease } of pair.engine.lease("q", 2, 1)) pair.engine.giveBack(id, lease, 2);
  pair.same(2);
  assert.deepEqual(each(pair.follower.lease("q", 3, 3), "id"), [1, 2, 3]);
});

test("leases that run out, deadlines and promotions follow", () => {
  const pair = new Pair();
  const { engine } = pair;
  engine.setQueue("q", { promoteAfterMs: 100 }, 0);
  pair.add({ leaseMs: 50 });
  pair.take(0);
  pair.add({ ttlMs: 70, delayMs: 60_000 });
  pair.add({ priority: 2 });
  for (const now of [50, 70, 100, 200, 300]) {
    engine.tick(now);
    pair.same(now);
  }
});

test("a delayed job put off by a full queue follows", () => {
  const pair = new Pair();
  pair.engine.setQueue("q", { capacity: { jobs: 1 }, fullRetryMs: 50 }, 0);
  pair.add({ delayMs: 10 });
  pair.add();
  pair.engine.tick(10);
  assert.ok(pair.told().includes("due"));
  pair.same(10);
  assert.equal(pair.follower.queries.job(1)?.at, 60);
});

test("death, redrive and a dead letter queue's work follow", () => {
  const pair = new Pair();
  const { engine } = pair;
  engine.setGate("y", { ladder: [1, 1, 1] }, 0);
  for (let i = 0; i < 3; i++) {
    const id = pair.add({ gates: ["x", "y"], weight: 2, fairnessKey: "k", maxWaitMs: 900 }, 9 * i);
    engine.nack(id, pair.take(9 * i + 1).lease, 9 * i + 2, { unrecoverable: true, error: "e" });
    pair.same(9 * i + 2);
  }
  engine.redrive("q.dlq", { count: 1 }, 30);
  pair.same(30);
  const lease = pair.take(31, "q.dlq");
  engine.nack(lease.id, lease.lease, 32);
  pair.same(32);
  assert.equal(pair.follower.redrive("q.dlq", {}, 33), engine.redrive("q.dlq", {}, 33));
});

test("dedupe follows: replaced payloads, new delays, follow-ups, windows", () => {
  const pair = new Pair();
  const { engine } = pair;
  const spec = (key: string, mode: "debounce" | "replace" | "keepLast", body: number): JobSpec => ({
    dedupe: { key, mode },
    body,
    sizeBytes: body,
    ...(mode === "debounce" ? { delayMs: 10 } : {}),
  });
  for (const [i, mode] of (["debounce", "replace", "keepLast"] as const).entries()) {
    pair.add(spec(mode, mode, 1), i);
    pair.add(spec(mode, mode, 2), i);
    pair.same(i);
  }
  const lease = engine.lease("q", 2, 3).find(({ id }) => id === 3)!;
  pair.add(spec("keepLast", "keepLast", 3), 4);
  pair.add(spec("keepLast", "keepLast", 4), 4);
  pair.same(4);
  engine.ack(3, lease.lease, 5);
  pair.same(5);
  pair.add({ dedupe: { key: "w", mode: "window", windowMs: 100 } }, 6);
  pair.same(6);
  const again = { dedupe: { key: "w", mode: "window", windowMs: 100 } } as const;
  assert.deepEqual(pair.follower.add("q", again, 7), engine.add("q", again, 7));
});

test("permits, cooldowns and ladders follow", () => {
  const pair = new Pair();
  const { engine } = pair;
  engine.setGate("g", { rate: 1, burst: 3, ladder: [10, 20], concurrency: 2 }, 0);
  engine.setGate("h", { windows: [{ limit: 5, perMs: 1000 }] }, 0);
  pair.add({ gates: ["g", "h"] });
  pair.add({ gates: ["g"] });
  for (const { id, lease } of engine.lease("q", 2, 1)) {
    pair.same(1);
    engine.nack(id, lease, 2);
    pair.same(2);
  }
  engine.cooldown("h", 5, "429", 3);
  pair.same(3);
  engine.clearCooldown("h", 4);
  engine.reportGate("g", true, 4);
  pair.same(4);
  const lease = engine.lease("q", 1, 500)[0]!;
  engine.nack(lease.id, lease.lease, 501, { cooldown: { gate: "h", ms: 100, reason: "later" } });
  pair.same(501);
  const last = engine.lease("q", 1, 2000)[0]!;
  engine.ack(last.id, last.lease, 2001);
  pair.same(2001);
});

test("a failure past the deadline is reported to the ladders there as here", () => {
  const pair = new Pair();
  pair.engine.setGate("g", { ladder: [1000] }, 0);
  const id = pair.add({ gates: ["g"], ttlMs: 10 });
  pair.engine.nack(id, pair.take().lease, 20);
  assert.equal(pair.engine.queries.job(id)?.state, "expired");
  pair.same(20);
});

test("a job that would not wait so long ends there as here", () => {
  const pair = new Pair();
  const id = pair.add({ gates: ["g"], maxWaitMs: 50 });
  pair.engine.cooldown("g", 500, "", 1);
  pair.same(1);
  assert.equal(pair.follower.queries.job(id)?.waited?.gate, "g");
});

test("final failures without a dead letter queue follow, with their blame", () => {
  const pair = new Pair();
  pair.engine.setQueue("q", { dlq: false }, 0);
  pair.engine.setGate("g", { ladder: [1000] }, 0);
  const id = pair.add({ gates: ["g"], attempts: 1 });
  pair.engine.nack(id, pair.take().lease, 5);
  pair.same(5);
  assert.equal(pair.follower.queries.gateStats("g", 5).ladderStep, 1);
});

test("a purge and a deletion follow, late facts of their jobs mean nothing", () => {
  const pair = new Pair();
  const { engine } = pair;
  for (let i = 0; i < 5; i++) pair.add({ delayMs: i % 2 });
  const held = pair.take();
  engine.purge("q", 1);
  pair.add({}, 1);
  for (let i = 0; i < 5; i++) engine.dispatch(1);
  pair.same(1);
  engine.ack(held.id, held.lease, 3);
  pair.same(3);
  const gone: Fact = { at: 4, fact: "extended", id: 999, until: 50 };
  pair.follower.apply(gone);
  pair.same(4);
});

test("a purged job ended when the queue was purged, however late it is reached", () => {
  const pair = new Pair();
  pair.add();
  pair.engine.purge("q", 10);
  pair.engine.tick(20);
  pair.same(20);
});

test("applying decides nothing and tells nothing", () => {
  const pair = new Pair();
  pair.add({ delayMs: 5 });
  const told: Fact[] = [];
  const follower = new TestEngine({ facts: told });
  for (const fact of pair.facts) follower.apply(fact);
  follower.apply({ at: 1000, fact: "stored", store: "s", key: "k", value: 1 });
  assert.equal(told.length, 0);
  assert.equal(follower.queries.job(1)?.state, "delayed", "its time has come, but no one said so");
  follower.tick(1000);
  assert.deepEqual(each(told, "fact"), ["due"]);
});

test("an engine that refuses a fact tells its own facts again afterwards", () => {
  const told: Fact[] = [];
  const engine = new TestEngine({ facts: told });
  assert.throws(() => engine.apply({ at: 0, fact: "purged", name: "x", upTo: 1 }), {
    code: "QUEUE_NOT_FOUND",
  });
  engine.setQueue("q", {}, 0);
  assert.equal(told.length, 1);
});

test("progress is followed", () => {
  const pair = new Pair();
  const id = pair.add();
  pair.take();
  pair.engine.progress(id, { done: 3 }, 5);
  assert.deepEqual(pair.told().at(-1), "progress");
  pair.same(5);
  assert.deepEqual(pair.follower.queries.job(id)?.progress, { done: 3 });
});
