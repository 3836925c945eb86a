import assert from "node:assert/strict";
import { test } from "node:test";
import {
  openEngine,
  openTelling,
  type QueueChange,
  rebuilt,
  TestEngine,
} from "../testing/test-engine.ts";
import type { DedupeMode } from "../types.ts";
import type { Fact } from "./facts.ts";

function open(options: QueueChange = {}): TestEngine {
  const engine = openEngine(options, { seed: 4 });
  // As a broker sets it: older levels leave out who held a job.
  engine.setLevel(2, "0.1.0", 0);
  return engine;
}

/** By copies, as through a log: what does not survive that is not remembered. */
function restored(engine: TestEngine): TestEngine {
  const copy = new TestEngine({ seed: 4 });
  for (const fact of structuredClone([...engine.snapshot()])) copy.apply(fact);
  return copy;
}

/** What anybody can see of an engine. */
function seen(engine: TestEngine, now: number): unknown {
  const queues = engine.queries.queueNames();
  const gates = engine.gateKeys().filter((key) => !key.endsWith("*"));
  const jobs = Array.from({ length: 60 }, (_, i) => i + 1)
    .map((id) => engine.queries.job(id))
    .filter((view) => view !== undefined)
    .map((view) => ({ ...view, gates: view.gates.toSorted() }));
  return structuredClone({
    queues: queues.map((name) => [
      engine.queueConfig(name),
      { ...engine.queries.queueStats(name), freeWorkers: 0 },
    ]),
    jobs,
    why: jobs.map(({ id }) => engine.queries.why(id, now)),
    histories: jobs.map(({ id }) => engine.queries.history(id)),
    gates: gates.map((key) => engine.queries.gateStats(key, now)),
    stores: ["s", "t"].map((store) => engine.stores.scan(store)),
  });
}

/** Rebuilds an engine and finds no difference. */
function same(engine: TestEngine, now: number): TestEngine {
  const copy = restored(engine);
  assert.deepEqual(seen(copy, now), seen(engine, now));
  return copy;
}

test("an empty engine is rebuilt empty", () => {
  const copy = same(new TestEngine(), 0);
  assert.deepEqual(copy.queries.queueNames(), []);
});

test("jobs of every state are rebuilt as they stand", () => {
  const engine = open({
    retry: { attempts: 2, minMs: 100 },
    leaseMs: 500,
    results: { ms: 10_000 },
  });
  engine.setGate("shut", { rate: 0 }, 0);
  engine.addAll(
    "q",
    [
      { body: { a: [1] }, sizeBytes: 7, fairnessKey: ["acme", "u"], weight: 3 },
      { priority: 0, cost: 4, deadline: 5000 },
      { delayMs: 300, maxWaitMs: 50, leaseMs: 9, backoff: { minMs: 5 } },
      { gates: ["shut", "open"], group: "g" },
      {},
      {},
      {},
      {},
    ],
    1,
  );
  engine.want("q", "w", 6, 2);
  const leases = engine.dispatch(2);
  const byId = new Map(leases.map(({ id, lease }) => [id, lease]));
  engine.nack(5, byId.get(5)!, 3, { error: "once" });
  engine.ack(6, byId.get(6)!, 3, { result: true });
  engine.nack(7, byId.get(7)!, 3, { unrecoverable: true, error: "dead" });
  engine.cancel(8, 4);
  engine.giveBack(2, byId.get(2)!, 4);
  const copy = same(engine, 4);
  assert.equal(copy.redrive("q.dlq", {}, 5), 1);
  copy.ack(1, byId.get(1)!, 5);
  assert.equal(
    copy.queries.job(1)?.state,
    "finished",
    "a lease given before can be acknowledged after",
  );
  assert.equal(copy.add("q", {}, 5).id, 9, "no id is issued twice");
});

test("the rebuilt engine gives out as many, and every strand in the same order", () => {
  const engine = open({ tiers: 2, leaseMs: 50_000 });
  engine.setGate("g", { rate: 10, burst: 2 }, 0);
  for (let i = 0; i < 40; i++) {
    const strand = { fairnessKey: `k${i % 5}`, priority: i % 2, gates: i % 3 === 0 ? ["g"] : [] };
    engine.add("q", { ...strand, delayMs: i % 7, body: JSON.stringify(strand) }, 0);
  }
  for (const { id, lease } of engine.lease("q", 9, 3)) engine.giveBack(id, lease, 3);
  const copy = restored(engine);
  const orders = [engine, copy].map((one) => {
    const strands: Record<string, number[]> = {};
    const counts: number[] = [];
    for (let now = 3; now < 3000; now += 37) {
      const leases = one.lease("q", 3, now);
      counts.push(leases.length);
      for (const { id, body } of leases) {
        const strand = String(body);
        strands[strand] = [...(strands[strand] ?? []), id];
      }
    }
    return { strands, counts };
  });
  assert.deepEqual(orders[1], orders[0]);
});

test("dedupe keys are held as before, of every mode, waiting, delayed, leased and ended", () => {
  const modes: DedupeMode[] = ["pending", "window", "debounce", "replace", "keepLast"];
  for (const mode of modes) {
    for (const phase of ["waiting", "leased", "ended"]) {
      const engine = open();
      const dedupe = { key: "k", mode, ...(mode === "window" ? { windowMs: 900 } : {}) };
      const spec = { dedupe, ...(mode === "debounce" ? { delayMs: 10 } : {}) };
      engine.add("q", { ...spec, body: 1 }, 0);
      if (phase !== "waiting") {
        const [lease] = engine.lease("q", 1, 10);
        if (phase === "ended") engine.ack(1, lease!.lease, 10);
      }
      const copy = same(engine, 10);
      const next = { ...spec, body: 2 };
      assert.deepEqual(copy.add("q", next, 20), engine.add("q", next, 20), `${mode} ${phase}`);
      assert.deepEqual(seen(copy, 20), seen(engine, 20));
    }
  }
});

test("a follow-up that waits for its turn is remembered", () => {
  const engine = open();
  const dedupe = { key: "k", mode: "keepLast" } as const;
  engine.add("q", { dedupe, body: 1 }, 0);
  const [lease] = engine.lease("q", 1, 0);
  engine.add("q", { dedupe, body: 2 }, 0);
  const copy = same(engine, 0);
  copy.ack(1, lease!.lease, 1);
  assert.equal(copy.lease("q", 1, 1)[0]?.body, 2);
});

test("a key that another job has taken over stays with that job", () => {
  const engine = open();
  const spec = { dedupe: { key: "k", mode: "debounce" }, delayMs: 10 } as const;
  engine.add("q", spec, 0);
  const [first] = engine.lease("q", 1, 10);
  engine.add("q", spec, 20);
  engine.nack(1, first!.lease, 25, { delayMs: 1000 });
  assert.equal(engine.add("q", spec, 26).id, 2);
  const copy = restored(engine);
  assert.equal(copy.add("q", spec, 27).id, 2);
});

test("gates keep their level, takes, ladder, cooldown and spacing", () => {
  const engine = open();
  const windows = [{ limit: 5, perMs: 60_000 }];
  engine.setGate("lim:*", { rate: 1, burst: 3, windows, ladder: [100, 900] }, 0);
  engine.setGate("gap", { interval: { ms: 500, from: "start" } }, 0);
  for (let i = 0; i < 3; i++) engine.add("q", { gates: ["lim:a", "gap"] }, i);
  engine.lease("q", 3, 10);
  engine.reportGate("lim:a", false, 20);
  engine.reportGate("lim:a", false, 20);
  engine.cooldown("other", 5000, "429", 20);
  const copy = same(engine, 25);
  assert.equal(copy.queries.gateStats("lim:a", 25).ladderStep, 2);
  assert.equal(copy.queries.gateStats("lim:a", 25).windows[0]?.used, 1);
  assert.equal(copy.queries.gateStats("lim:a", 25).inFlight, 1);
});

test("a lane that leads, and a level, do not win by a restart", () => {
  const engine = open({ weights: { acme: 2 } });
  for (const key of ["a", "b", ["acme", "u"], ["acme", "v"]]) {
    for (let i = 0; i < 20; i++) engine.add("q", { fairnessKey: key, cost: 5, body: key }, 0);
  }
  for (const { id, lease } of engine.lease("q", 6, 0)) engine.ack(id, lease, 0);
  const positions = (facts: Iterable<Fact>): Fact[] =>
    [...facts].filter((fact) => fact.fact === "position");
  const copy = restored(engine);
  assert.deepEqual(positions(copy.snapshot()), positions(engine.snapshot()));
  const order = (one: TestEngine): unknown[] =>
    one.lease("q", 12, 1).map(({ body }) => String(body));
  const [a, b] = [order(engine), order(copy)];
  for (const lane of ["a", "b", "acme,u", "acme,v"]) {
    const count = (list: unknown[]): number => list.filter((one) => one === lane).length;
    assert.ok(Math.abs(count(a) - count(b)) <= 1, `${lane}: ${a} and ${b}`);
  }
});

test("a lane without jobs that leads is remembered too", () => {
  const engine = open();
  engine.add("q", { fairnessKey: "a", cost: 50 }, 0);
  for (let i = 0; i < 30; i++) engine.add("q", { fairnessKey: "b", body: "b" }, 0);
  engine.ack(1, engine.lease("q", 1, 0)[0]!.lease, 0);
  engine.setQueue("q", { results: { jobs: 0 } }, 0);
  const copy = restored(engine);
  for (let i = 0; i < 5; i++) copy.add("q", { fairnessKey: "a", body: "a" }, 1);
  const bodies = copy.lease("q", 20, 1).map(({ body }) => body);
  assert.deepEqual(new Set(bodies), new Set(["b"]));
});

test("a path without jobs that leads is remembered too, one of a deleted queue is not", () => {
  const engine = open();
  engine.setQueue("gone", {}, 0);
  for (const queue of ["q", "gone"]) {
    engine.add(queue, { fairnessKey: ["a", "u"], cost: 50 }, 0);
    for (let i = 0; i < 30; i++) engine.add(queue, { fairnessKey: "b", body: "b" }, 0);
    const [lease] = engine.lease(queue, 1, 0);
    engine.ack(lease!.id, lease!.lease, 0);
  }
  engine.setQueue("q", { results: { jobs: 0 } }, 0);
  engine.deleteQueue("gone", 0);
  const copy = restored(engine);
  assert.deepEqual(copy.queries.queueNames(), ["q"]);
  for (let i = 0; i < 5; i++) copy.add("q", { fairnessKey: ["a", "u"], body: "a" }, 1);
  const bodies = copy.lease("q", 20, 1).map(({ body }) => body);
  assert.deepEqual(new Set(bodies), new Set(["b"]));
});

test("groups keep their members, those that have ended with how they did", () => {
  const engine = open();
  engine.addAll("q", [{ group: "g" }, { group: "g" }, { group: "done" }], 0);
  const leases = engine.lease("q", 3, 0);
  engine.ack(1, leases[0]!.lease, 0);
  engine.ack(3, leases[2]!.lease, 0);
  const copy = restored(engine);
  assert.deepEqual(copy.queries.group("g"), engine.queries.group("g"));
  assert.deepEqual(copy.queries.group("done"), engine.queries.group("done"));
  copy.ack(2, leases[1]!.lease, 1);
  assert.equal(copy.queries.group("g")?.ended, true);
});

test("stores, counters and queues are rebuilt, deleted queues are not", () => {
  const engine = open({ tiers: ["x"], weights: { a: 3 } });
  engine.setQueue("gone", {}, 0);
  engine.add("gone", { dedupe: { key: "k", mode: "window", windowMs: 50 }, cost: 9 }, 0);
  engine.lease("gone", 1, 0);
  engine.deleteQueue("gone", 0);
  engine.stores.put("s", "k", { deep: [1, null] }, 0);
  engine.stores.put("t", "k", 0, 0);
  engine.setLaneWeight("q", ["a", "b"], 5, 0);
  engine.add("q", {}, 0);
  engine.cancel(2, 0);
  const copy = same(engine, 0);
  assert.deepEqual(copy.queries.queueNames(), ["q"]);
  assert.deepEqual(copy.stores.get("s", "k"), { deep: [1, null] });
});

test("jobs of a strand keep its order, jobs of several strands their ages", () => {
  const engine = open();
  const specs = ["a", "b"].flatMap((key) => [
    { fairnessKey: key, gates: ["g"] },
    { fairnessKey: key },
  ]);
  for (let i = 0; i < 12; i++) engine.add("q", { ...specs[i % 4]!, delayMs: i % 3 }, 0);
  engine.tick(5);
  const held = engine.lease("q", 5, 5);
  for (const { id, lease } of held.slice(1, 4).reverse()) engine.giveBack(id, lease, 6);
  engine.nack(held[4]!.id, held[4]!.lease, 6, { delayMs: 0 });
  const order = (one: TestEngine, key: string): number[] => {
    const jobs = one.lease("q", 12, 7).filter(({ id }) => one.queries.job(id)?.fairnessKey === key);
    return jobs.map(({ id }) => id);
  };
  const copies = [restored(engine), restored(restored(engine))];
  const [a, b] = [order(restored(engine), "a"), order(restored(engine), "b")];
  assert.equal(a.length + b.length, 11);
  for (const copy of copies) assert.deepEqual(order(copy, "a"), a);
  const live = engine.lease("q", 12, 7).map(({ id }) => id);
  assert.deepEqual(
    live.filter((id) => a.includes(id)),
    a,
  );
  assert.deepEqual(
    live.filter((id) => b.includes(id)),
    b,
  );
});

test("a rebuilt engine continues a purge that was in progress", () => {
  const engine = open();
  for (let i = 0; i < 40; i++) engine.add("q", { delayMs: i % 2 }, 0);
  const [lease] = engine.lease("q", 1, 0);
  engine.purge("q", 0);
  engine.add("q", {}, 0);
  const copy = restored(engine);
  copy.tick(0);
  const { waiting, delayed, running, cancelled } = copy.queries.queueStats("q");
  assert.deepEqual([waiting, delayed, running, cancelled], [1, 0, 1, 39]);
  copy.ack(lease!.id, lease!.lease, 1);
});

test("a job that would have waited too long tells after a restart for which gate", () => {
  const engine = open();
  engine.setGate("g", { rate: 1 }, 0);
  const { id } = engine.add("q", { gates: ["g"], maxWaitMs: 500 }, 0);
  engine.cooldown("g", 1000, "busy", 0);
  engine.dispatch(0);
  assert.equal(engine.queries.job(id)?.waited?.gate, "g");
  const copy = restored(engine);
  assert.deepEqual(copy.queries.job(id), engine.queries.job(id));
  assert.deepEqual(seen(copy, 0), seen(engine, 0));
});

test("a member whose queue is being deleted has ended for its group after a restart", () => {
  const engine = open();
  for (let i = 0; i < 3000; i++) engine.add("q", { group: "g" }, 0);
  engine.deleteQueue("q", 0);
  const fact = [...engine.snapshot()].find((one) => one.fact === "group");
  assert.ok(fact?.fact === "group" && fact.members.length === 3000);
  assert.ok(fact.members.every(([, ending]) => ending === "cancelled"));
});

test("a group continues after a restart with jobs added since its queue was deleted", () => {
  const { engine, facts } = openTelling();
  engine.addAll("q", [{ group: "g" }, { group: "g" }], 0, { holdGroups: true });
  engine.deleteQueue("q", 0);
  engine.takeAll();
  engine.setQueue("q", {}, 0);
  const [first, second] = [1, 2].map(() => engine.add("q", { group: "g" }, 0).id);
  facts.push(...[...engine.checkpoint()].flat());
  const copy = rebuilt(facts);
  for (const each of [engine, copy]) {
    each.takeAll();
    each.releaseGroup("g", 0);
    each.cancel(first!, 0);
    assert.equal(each.queries.job(second!)?.group, "g");
    assert.equal(each.queries.group("g")?.ended, false);
    each.cancel(second!, 0);
    assert.equal(each.queries.group("g")?.ended, true);
  }
  assert.deepEqual(copy.queries.group("g"), engine.queries.group("g"));
});
