import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";
import type { GateConfig } from "./gate-state.ts";

/**
 * One lane whose jobs name a timed gate alone ("one"), or a place beside it ("both"). Each job
 * ends at once; `run` answers what began until a time, in order.
 */
function lane(timed: GateConfig, place: GateConfig = { concurrency: 1 }) {
  const engine = openEngine({ leaseMs: 3_600_000 });
  engine.setGate("timed", timed, 0);
  engine.setGate("place", place, 0);
  engine.want("q", "w", 100, 0);
  const both = (count: number, now = 0, key = "lane") => {
    for (let i = 0; i < count; i++) {
      engine.add("q", { gates: ["timed", "place"], fairnessKey: key, body: "both" }, now);
    }
  };
  const one = (count: number, now = 0) => {
    for (let i = 0; i < count; i++) {
      engine.add("q", { gates: ["timed"], fairnessKey: "lane", body: "one" }, now);
    }
  };
  const take = (now: number) => engine.dispatch(now);
  const end = (leases: readonly Lease[], now: number) => {
    for (const { id, lease } of leases) engine.ack(id, lease, now);
  };
  const run = (from: number, until: number) => {
    const began: unknown[] = [];
    for (let now = from; now < until; now = Math.max(now, engine.nextWake(now))) {
      const leases = take(now);
      began.push(...leases.map(({ body }) => body));
      end(leases, now);
    }
    return began;
  };
  return { engine, both, one, take, end, run };
}

const count = (began: readonly unknown[], body: string): number =>
  began.filter((each) => each === body).length;

/** A rival holds the only place, so that the job with two gates cannot take its turn yet. */
function occupied(timed: GateConfig) {
  const world = lane(timed);
  world.engine.add("q", { gates: ["place"], fairnessKey: "rival" }, 0);
  const rival = world.take(0);
  return { ...world, rival };
}

const timed: readonly [string, GateConfig][] = [
  ["a rate", { rate: 0.05, burst: 1 }],
  ["a window", { windows: [{ limit: 3, perMs: 60_000 }] }],
  ["an interval", { interval: { ms: 20_000, from: "start" } }],
];

for (const [name, config] of timed) {
  test(`jobs with two gates get a third beside their own lane: ${name}`, () => {
    const { both, one, run } = lane(config);
    one(60);
    both(30);
    const began = run(0, 600_000);
    assert.ok(began.length >= 25, `${began.length} began`);
    assert.ok(count(began, "both") >= Math.floor((began.length - 4) / 3), `${began}`);
  });

  test(`what is owed to a job that waits for a place is kept, then forgiven: ${name}`, () => {
    const { both, one, run, end, rival } = occupied(config);
    both(5);
    one(40);
    const before = run(0, 400_000);
    assert.equal(count(before, "both"), 0, "its place is taken");
    assert.ok(count(before, "one") >= 5, `${before.length} of the lane went meanwhile`);
    end(rival, 400_000);
    assert.ok(count(run(400_000, 600_000), "both") >= 2, "its turn after the place is free");
  });
}

test("jobs with one gate go on while the other gate of the job beside them is shut", () => {
  const { engine, both, one, run } = lane({ rate: 0.05, burst: 1 });
  engine.cooldown("place", 3_600_000, "down", 0);
  both(5);
  one(100);
  assert.equal(count(run(0, 600_000), "one"), 30);
});

test("jobs with one gate go on while the queue of the job beside them is paused", () => {
  const { engine, both, one, run } = occupied({ windows: [{ limit: 3, perMs: 60_000 }] });
  both(2);
  one(20);
  run(0, 60_000);
  engine.pause("q", 60_000);
  assert.deepEqual(run(60_000, 120_000), []);
  engine.resume("q", 120_000);
  assert.ok(run(120_000, 240_000).length >= 3);
});

test("nothing is kept back where the gate has a permit for each that waits", () => {
  const { both, one, take } = occupied({ rate: 0.05, burst: 50 });
  both(3);
  one(20);
  assert.equal(
    count(
      take(0).map(({ body }) => body),
      "one",
    ),
    20,
  );
});

test("nothing is kept back at a gate of places: they are never left idle", () => {
  const { both, one, run } = occupied({ concurrency: 1 });
  both(3);
  one(20);
  assert.equal(count(run(0, 1000), "one"), 20);
});

test("other limits end what is kept back", () => {
  const { engine, both, one, run, take } = occupied({ rate: 0.01, burst: 1 });
  both(3);
  one(40);
  run(0, 350_000);
  engine.setGate("timed", { rate: 0.01, burst: 60 }, 350_000);
  engine.tick(350_000);
  engine.setGate("timed", { rate: 100, burst: 60 }, 351_000);
  engine.tick(351_000);
  assert.ok(take(352_000).length >= 30, "those that stayed out of the line are back");
});

test("those that stayed out of the line return when the job with two gates is cancelled", () => {
  const { engine, both, one, run } = occupied({ rate: 0.05, burst: 1 });
  both(2);
  both(1, 0, "another lane");
  one(40);
  const ids = [2, 3, 4];
  run(0, 70_000);
  for (const id of ids) engine.cancel(id, 70_000);
  const began = run(70_000, 270_000);
  assert.ok(began.length >= 9, `${began.length} of 10 permits were used`);
  assert.equal(count(began, "both"), 0);
});
