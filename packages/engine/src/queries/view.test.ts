import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";

test("the history of a job is its life, oldest first", () => {
  const engine = openEngine({ retry: { attempts: 2 }, leaseMs: 50 });
  engine.add("q", {}, 1);
  assert.deepEqual(engine.queries.history(1), [{ at: 1, event: "added" }]);
  const take = (now: number): number => engine.lease("q", 1, now)[0]!.lease;
  engine.giveBack(1, take(5), 6);
  engine.nack(1, take(10), 12, { error: "bad", delayMs: 3 });
  engine.nack(1, take(15), 16, { error: "worse" });
  engine.redrive("q.dlq", {}, 20);
  const cooldown = { gate: "g", ms: 1 };
  engine.nack(1, take(22), 22, { cooldown, error: "wait" });
  engine.ack(1, take(24), 30);
  assert.deepEqual(engine.queries.history(1), [
    { at: 1, event: "added" },
    { at: 5, event: "dispatched", detail: "lease 1 by once" },
    { at: 6, event: "returned" },
    { at: 10, event: "dispatched", detail: "lease 2 by once" },
    { at: 12, event: "failed", detail: "bad" },
    { at: 15, event: "dispatched", detail: "lease 3 by once" },
    { at: 16, event: "dead", detail: "worse" },
    { at: 20, event: "redriven" },
    { at: 22, event: "dispatched", detail: "lease 4 by once" },
    { at: 22, event: "retried", detail: "wait" },
    { at: 24, event: "dispatched", detail: "lease 5 by once" },
    { at: 30, event: "ended", detail: "finished" },
  ]);
});

test("a job that failed and was cancelled before it went out again went out once", () => {
  const engine = openEngine({ retry: { attempts: 5, minMs: 100 } });
  engine.add("q", {}, 0);
  engine.nack(1, engine.lease("q", 1, 1)[0]!.lease, 2, { error: "boom" });
  engine.cancel(1, 9);
  assert.deepEqual(
    engine.queries.history(1).map(({ at, event }) => [at, event]),
    [
      [0, "added"],
      [1, "dispatched"],
      [2, "failed"],
      [9, "ended"],
    ],
  );
});

test("a long history keeps its beginning and its latest events", () => {
  const engine = openEngine({ retry: { minMs: 0, maxMs: 0, attempts: 100 } });
  engine.add("q", {}, 0);
  for (let now = 1; now <= 50; now++) {
    engine.nack(1, engine.lease("q", 1, now)[0]!.lease, now);
  }
  const history = engine.queries.history(1);
  assert.equal(history.length, 32);
  assert.deepEqual(history[0], { at: 0, event: "added" });
  assert.deepEqual(history.at(-1), { at: 50, event: "failed" });
});

test("the counts of a queue are those of its jobs", () => {
  const engine = openEngine({ tiers: ["a", "b"] });
  engine.addAll(
    "q",
    [{ sizeBytes: 3 }, { priority: "a" }, { fairnessKey: "k" }, { delayMs: 9 }],
    0,
  );
  const [lease] = engine.lease("q", 1, 0);
  engine.want("q", "w", 4, 0);
  assert.deepEqual(engine.queries.queueStats("q"), {
    name: "q",
    waiting: 2,
    delayed: 1,
    blocked: 0,
    suspended: 0,
    running: 1,
    kept: 0,
    bytes: 3,
    lanes: 2,
    perTier: [
      { name: "a", waiting: 0, running: 1 },
      { name: "b", waiting: 2, running: 0 },
    ],
    added: 4,
    dispatched: 1,
    finished: 0,
    failed: 0,
    retried: 0,
    expired: 0,
    cancelled: 0,
    redriven: 0,
    dead: 0,
    dropped: 0,
    rejected: 0,
    steps: 0,
    signals: 0,
    freeWorkers: 4,
    paused: false,
  });
  engine.ack(lease!.id, lease!.lease, 0);
  assert.equal(engine.queries.queueStats("q").kept, 1);
});

test("lanes are listed in pages, by a part of their key, with what they have received", () => {
  const engine = openEngine();
  for (let i = 0; i < 30; i++) engine.add("q", { fairnessKey: `lane-${i}`, cost: 2 }, 0);
  engine.add("q", { fairnessKey: ["acme", "user-7"], weight: 3, priority: 0 }, 0);
  engine.add("q", { fairnessKey: ["acme", "user-7"], priority: 0 }, 0);
  engine.setQueue("other", {}, 0);
  engine.add("other", { fairnessKey: "acme" }, 0);
  engine.lease("q", 1, 0);
  const { lanes, cursor } = engine.queries.lanes("q", { search: "acme/user" });
  assert.deepEqual(
    [lanes, cursor],
    [[{ key: ["acme", "user-7"], tier: 0, weight: 3, waiting: 1, running: 1, received: 1 }], 0],
  );
  const seen: unknown[] = [];
  for (let at = 0, first = true; first || at !== 0; first = false) {
    const page = engine.queries.lanes("q", { limit: 4, cursor: at });
    assert.ok(page.lanes.length <= 4);
    seen.push(...page.lanes.map((lane) => lane.key));
    at = page.cursor;
  }
  assert.equal(new Set(seen.map(String)).size, 31);
  assert.equal(seen.length, 31);
});

test("shows the state of a gate, and makes no gate that was not there", () => {
  const engine = openEngine();
  engine.setGate("g", { rate: 2, burst: 4, windows: [{ limit: 9, perMs: 1000 }] }, 0);
  engine.add("q", { gates: ["g"], cost: 3 }, 0);
  engine.lease("q", 1, 0);
  const { tokens, windows, inFlight, opensAt, ladderStep, waitingLanes, cooldown } =
    engine.queries.gateStats("g", 0);
  assert.deepEqual(
    { tokens, windows, inFlight, opensAt, ladderStep, waitingLanes, cooldown },
    {
      tokens: 1,
      windows: [{ limit: 9, perMs: 1000, used: 3 }],
      inFlight: 1,
      opensAt: 0,
      ladderStep: 0,
      waitingLanes: 0,
      cooldown: undefined,
    },
  );
  engine.setGate("shut", { rate: 0 }, 0);
  engine.queries.gateStats("unknown", 0);
  assert.deepEqual(engine.gateKeys(), ["g", "shut"]);
});
