import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../errors.ts";
import { rebuilt } from "../testing/test-engine.ts";
import type { Lease } from "../types.ts";
import { Drive } from "./drive.ts";

/** A handler: its steps one after the other, as the library would do them. */
type Step =
  | { do: "run"; gates: readonly string[]; cost: number; fails: number }
  | { do: "sleep"; ms: number }
  | { do: "wait"; timeoutMs: number };

const GATES = ["rate", "places", "window"];

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("run" as const),
    gates: fc.subarray(GATES),
    cost: fc.integer({ min: 1, max: 2 }),
    fails: fc.nat(2),
  }),
  fc.record({ do: fc.constant("sleep" as const), ms: fc.nat(200) }),
  fc.record({ do: fc.constant("wait" as const), timeoutMs: fc.nat(300) }),
);

interface World {
  drive: Drive;
  /** How often the function of each step ran to its end, by job and step. */
  ran: Map<string, number>;
  /** The times at which a step with a rate took a permit. */
  jobs: Map<number, readonly Step[]>;
}

/** What happens to a delivery: its steps go on until one suspends the job, or it is cut off. */
function deliver(world: World, lease: Lease, stopAfter: number): void {
  const { drive, ran, jobs } = world;
  const { engine } = drive;
  const steps = jobs.get(lease.id)!;
  let left = stopAfter;
  for (const [i, one] of steps.entries()) {
    const { steps: known, pending } = engine.queries.stepsOf(lease.id);
    const name = `s${i}`;
    const entry = known.find((of) => of.name === name);
    if (entry?.isDone === true) continue;
    const of = { name, occurrence: 0 };
    if (one.do !== "run") {
      const kind = one.do;
      const until = drive.now + (one.do === "sleep" ? one.ms : one.timeoutMs);
      if (engine.steps.suspend(lease.id, lease.lease, { ...of, kind, until }, drive.now)) return;
      continue;
    }
    const { gates, cost, fails } = one;
    if (gates.length > 0 && pending?.name !== name) {
      const suspension = { ...of, kind: "run" as const, until: drive.now, gates, cost };
      engine.steps.suspend(lease.id, lease.lease, suspension, drive.now);
      return;
    }
    const failures = (entry?.failures ?? 0) + 1;
    if (failures <= fails) {
      const error = { failures, error: "no" };
      const until = drive.now + 10;
      const suspension = { ...of, kind: "run" as const, until, gates, cost, ...error };
      engine.steps.suspend(lease.id, lease.lease, suspension, drive.now);
      return;
    }
    if (left-- === 0) return engine.nack(lease.id, lease.lease, drive.now);
    const key = `${lease.id} ${name}`;
    ran.set(key, (ran.get(key) ?? 0) + 1);
    engine.steps.record(
      lease.id,
      lease.lease,
      { ...of, kind: "run", sizeBytes: 1, body: key },
      drive.now,
    );
  }
  engine.ack(lease.id, lease.lease, drive.now);
}

/** Permits are held by jobs that run, and by no other. */
function assertPermits({ drive, jobs }: World): void {
  const { engine, now } = drive;
  const held = new Map<string, number>(GATES.map((key) => [key, 0]));
  for (const id of jobs.keys()) {
    const job = engine.queries.job(id);
    if (job?.state !== "running") continue;
    for (const key of job.gates) held.set(key, (held.get(key) ?? 0) + 1);
  }
  for (const [key, count] of held) {
    assert.equal(engine.queries.gateStats(key, now).inFlight, count, `in flight at ${key}`);
  }
  assert.ok(engine.queries.gateStats("places", now).inFlight <= 2);
}

function open(): World {
  const drive = new Drive({ tells: true });
  const retry = { attempts: 1000, minMs: 5, maxMs: 20 };
  drive.open("q", { retry, results: { jobs: 1000, ms: 1e9 } });
  drive.engine.setGate("rate", { rate: 50, burst: 3 }, drive.now);
  drive.engine.setGate("places", { concurrency: 2 }, drive.now);
  drive.engine.setGate("window", { windows: [{ limit: 5, perMs: 100 }] }, drive.now);
  return { drive, ran: new Map(), jobs: new Map() };
}

test("a recorded step never runs again, suspended jobs hold no permit, and all end", () => {
  const job = fc.record({
    steps: fc.array(step, { maxLength: 5 }),
    gates: fc.subarray(GATES, { maxLength: 1 }),
    ordered: fc.boolean(),
    fairnessKey: fc.constantFrom("x", "y"),
  });
  const jobs = fc.array(job, { minLength: 1, maxLength: 8 });
  const cuts = fc.array(fc.nat(3), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(jobs, cuts, fc.nat(60), (list, stops, restartAt) => {
      const world = open();
      for (const { steps, ...spec } of list) {
        const { id } = world.drive.engine.add("q", spec, world.drive.now);
        world.jobs.set(id, steps);
      }
      const { facts } = world.drive;
      let turns = 0;
      for (; turns < 3000; turns++) {
        const { drive } = world;
        if (turns === restartAt) {
          const { now } = drive;
          world.drive = new Drive({ engine: rebuilt(facts) });
          world.drive.now = now;
          world.drive.engine.want("q", "w", 1000, now);
          assertPermits(world);
          continue;
        }
        const lease = drive.next();
        assertPermits(world);
        if (lease !== undefined)
          deliver(world, lease, turns < 300 ? stops[turns % stops.length]! : 100);
        else {
          if (turns % 3 === 0) signalAll(world);
          const { waiting, delayed } = drive.engine.queries.queueStats("q");
          if (waiting + delayed === 0) break;
          drive.now = Math.max(drive.engine.nextWake(drive.now), drive.now);
        }
        assertPermits(world);
      }
      for (const [id] of world.jobs) {
        assert.equal(world.drive.engine.queries.job(id)!.state, "finished");
      }
      for (const [key, count] of world.ran) assert.equal(count, 1, `step ${key} ran twice`);
    }),
    { numRuns: 150, interruptAfterTimeLimit: 10_000 },
  );
});

function signalAll({ drive, jobs }: World): void {
  for (const [id, steps] of jobs) {
    const at = steps.findIndex((one) => one.do === "wait");
    if (at === -1) continue;
    try {
      drive.engine.steps.signal(id, { name: `s${at}`, sizeBytes: 1, body: at }, drive.now);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }
}
