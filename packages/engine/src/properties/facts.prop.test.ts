import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import type { QueueChange, TestEngine } from "../testing/test-engine.ts";
import { rebuilt } from "../testing/test-engine.ts";
import type { JobSpec, Lease } from "../types.ts";
import { Drive } from "./drive.ts";

const QUEUES = ["a", "b"];
/** More than a world makes: one call adds one job, and a job at most one follow-up. */
const JOBS_MAX = 220;
const GATES = ["rate", "window", "spaced", "places", "ladder", "g:1"];

const small: QueueChange = {
  tiers: 3,
  leaseMs: 300,
  promoteAfterMs: 400,
  onFull: "spill",
  capacity: { jobs: 40, delayed: 10, perLane: 15 },
  retry: { attempts: 3, minMs: 20, maxMs: 100 },
  results: { jobs: 5, ms: 2000 },
};

const spec: fc.Arbitrary<JobSpec> = fc.record(
  {
    fairnessKey: fc.constantFrom("x", "y", ["x", "1"], ["x", "2"], ["z", "1", "2"]),
    weight: fc.integer({ min: 1, max: 4 }),
    priority: fc.nat(2),
    gates: fc.subarray(GATES, { maxLength: 3 }),
    cost: fc.integer({ min: 1, max: 2 }),
    delayMs: fc.nat(300),
    ttlMs: fc.integer({ min: 1, max: 2000 }),
    maxWaitMs: fc.nat(500),
    group: fc.constantFrom("g1", "g2"),
    attempts: fc.integer({ min: 1, max: 4 }),
    leaseMs: fc.integer({ min: 50, max: 500 }),
    sizeBytes: fc.nat(100),
    body: fc.nat(9),
  },
  { requiredKeys: [] },
);

const dedupe = fc.record({
  key: fc.constantFrom("k1", "k2"),
  mode: fc.constantFrom("pending" as const, "window", "debounce", "replace", "keepLast"),
});

interface Call {
  (engine: TestEngine, held: Lease[], now: number): void;
  /** What it asks for is done step by step after it, and no fact tells of the steps. */
  isSpread?: boolean;
}

/** A call that a failure shows as it was made. */
const say = (text: string, values: unknown, call: Call): Call =>
  Object.assign(call, { [fc.toStringMethod]: () => `${text} ${JSON.stringify(values)}` });

const control = (text: string, values: unknown, call: (engine: TestEngine, now: number) => void) =>
  say(text, values, (engine, _held, now) => call(engine, now));

const spread = (call: Call): Call => Object.assign(call, { isSpread: true });

/** A call about one of the leases, which it ends. */
const end = (
  text: string,
  n: number,
  call: (engine: TestEngine, lease: Lease, now: number) => void,
): Call =>
  say(text, n, (engine, held, now) => {
    const [lease] = held.splice(n % Math.max(1, held.length), 1);
    if (lease !== undefined) call(engine, lease, now);
  });

const queue = fc.constantFrom(...QUEUES);
const gate = fc.constantFrom(...GATES);
const nacks = [
  { error: "boom" },
  { cooldown: { gate: "rate", ms: 200 } },
  { unrecoverable: true },
  { delayMs: 0, blame: ["ladder"] },
];

const add = ([name, job]: [string, JobSpec]): Call =>
  control(`add ${name}`, job, (engine, now) => void engine.add(name, job, now));

const jobCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(queue, spec).map(add) },
  fc.tuple(queue, spec, dedupe).map(([name, job, { key, mode }]) => {
    const delayMs = mode === "debounce" ? { delayMs: 100 } : {};
    const windowMs = mode === "window" ? { windowMs: 300 } : {};
    return add([name, { ...job, ...delayMs, dedupe: { key, mode, ...windowMs } }]);
  }),
  fc.nat(200).map((id) => control("cancel", id, (engine, now) => void engine.cancel(id, now))),
  fc.nat(200).map((id) => control("retry", id, (engine, now) => engine.retry(id, now))),
);

const leaseCall: fc.Arbitrary<Call> = fc.oneof(
  fc.nat(9).map((n) =>
    end("ack", n, (engine, { id, lease }, now) => {
      engine.ack(id, lease, now, n % 2 === 1 ? { n } : undefined);
    }),
  ),
  fc.tuple(fc.nat(9), fc.constantFrom(...nacks)).map(([n, options]) =>
    end(`nack ${JSON.stringify(options)}`, n, (engine, { id, lease }, now) => {
      engine.nack(id, lease, now, options);
    }),
  ),
  fc
    .nat(9)
    .map((n) =>
      end("give back", n, (engine, { id, lease }, now) => engine.giveBack(id, lease, now)),
    ),
  fc.nat(9).map((n) =>
    say("extend", n, (engine, held, now) => {
      const { id, lease } = held[n % Math.max(1, held.length)] ?? { id: 0, lease: 0 };
      engine.extend(id, lease, 400, now);
    }),
  ),
);

const gateCall: fc.Arbitrary<Call> = fc.oneof(
  fc
    .tuple(gate, fc.nat(500))
    .map(([key, ms]) =>
      control("cooldown", [key, ms], (engine, now) => engine.cooldown(key, ms, "slow down", now)),
    ),
  gate.map((key) => control("clear", key, (engine, now) => engine.clearCooldown(key, now))),
  fc
    .boolean()
    .map((ok) => control("report", ok, (engine, now) => engine.reportGate("ladder", ok, now))),
  fc
    .nat(3)
    .map((n) =>
      control("places", n, (engine, now) => engine.setGate("places", { concurrency: 1 + n }, now)),
    ),
  fc.nat(3).map((n) =>
    spread(
      control("g:*", n, (engine, now) => {
        if (n === 0) engine.deleteGate("g:*", now);
        else engine.setGate("g:*", { rate: n, burst: 2 }, now);
      }),
    ),
  ),
);

const queueCall: fc.Arbitrary<Call> = fc.oneof(
  queue.map((name) => control("purge", name, (engine, now) => engine.purge(name, now))),
  fc
    .boolean()
    .map((paused) =>
      control("paused", paused, (engine, now) => engine.setQueue("b", { paused }, now)),
    ),
  fc.integer({ min: 1, max: 5 }).map((weight) =>
    control("weight", weight, (engine, now) => {
      engine.setLaneWeight("a", ["x", "1"], weight, now);
    }),
  ),
  fc.constant(
    spread(
      say("delete", "b", (engine, held, now) => {
        engine.deleteQueue("b", now);
        held.splice(0, held.length, ...held.filter((lease) => lease.queue !== "b"));
      }),
    ),
  ),
  fc.constant(
    control("make", "b", (engine, now) => {
      engine.setQueue("b", { ...small, results: { jobs: 1000 } }, now);
      engine.want("b", "w", 1000, now);
    }),
  ),
  fc.constant(control("redrive", "a.dlq", (engine, now) => void engine.redrive("a.dlq", {}, now))),
  fc.nat(5).map((n) =>
    control("store", n, (engine, now) => {
      if (n === 0) engine.stores.delete("s", "1", now);
      else engine.stores.put("s", `${n}`, { n }, now);
    }),
  ),
);

const anyCall = fc.oneof(
  { weight: 6, arbitrary: jobCall },
  { weight: 4, arbitrary: leaseCall },
  { weight: 1, arbitrary: gateCall },
  { weight: 1, arbitrary: queueCall },
);
const moves = fc.array(
  fc.record({ call: anyCall, wait: fc.oneof(fc.constant(0), fc.nat(150)), max: fc.nat(4) }),
  { minLength: 5, maxLength: 100, size: "max" },
);

/** Makes calls as a broker would; a refusal changes nothing. */
class World {
  readonly drive = new Drive({ tells: true });
  readonly #held: Lease[] = [];
  readonly #endsSpreadWork: boolean;

  constructor(endsSpreadWork: boolean, options: QueueChange = {}) {
    this.#endsSpreadWork = endsSpreadWork;
    const { engine, now } = this.drive;
    for (const name of QUEUES) {
      engine.setQueue(name, { ...small, ...options }, now);
      engine.want(name, "w", 1000, now);
    }
    engine.setGate("rate", { rate: 9, burst: 4 }, now);
    engine.setGate("window", { windows: [{ limit: 3, perMs: 400 }] }, now);
    engine.setGate("spaced", { interval: { ms: 40, from: "end" } }, now);
    engine.setGate("places", { concurrency: 2 }, now);
    engine.setGate("ladder", { ladder: [50, 200], concurrency: 5 }, now);
    engine.setGate("g:*", { rate: 5, burst: 2 }, now);
  }

  play(move: { call: Call; wait: number; max: number }): void {
    const { drive } = this;
    try {
      move.call(drive.engine, this.#held, drive.now);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
    if (this.#endsSpreadWork && move.call.isSpread) stepOn(drive.engine, drive.now);
    this.#held.push(...drive.dispatchNow(move.max));
    const end = drive.now + move.wait;
    for (;;) {
      const wake = drive.engine.nextWake(drive.now);
      if (wake > end || (wake <= drive.now && move.max === 0)) break;
      drive.now = wake;
      this.#held.push(...drive.dispatchNow());
    }
    drive.now = end;
  }
}

/** The job as a user sees it. Its gates are a set: their order means nothing. */
function jobOf(engine: TestEngine, id: number, hasWeight: boolean): unknown {
  const view = engine.queries.job(id);
  return view && { ...view, weight: hasWeight ? view.weight : undefined };
}

/** Workers aside: they come back by themselves. */
function queueOf(engine: TestEngine, name: string): unknown {
  const { freeWorkers: _, ...stats } = engine.queries.queueStats(name);
  return structuredClone({ stats, config: engine.queueConfig(name) });
}

/** The lanes in its line aside: who is ready looks at its gate when its turn comes. */
function gateOf(engine: TestEngine, key: string, now: number): unknown {
  const { waitingLanes: _, ...stats } = engine.queries.gateStats(key, now);
  return stats;
}

function groupOf(engine: TestEngine, name: string): unknown {
  const group = engine.queries.group(name);
  return group && { ...group, members: group.members.sort((a, b) => a.id - b.id) };
}

/** Compares piece by piece, so that a failure shows the piece. */
function assertSame(again: TestEngine, engine: TestEngine, now: number, hasWeights: boolean): void {
  assert.deepEqual(again.snapshot().next().value, engine.snapshot().next().value, "ids");
  assert.deepEqual(again.queries.queueNames().sort(), engine.queries.queueNames().sort());
  for (let id = 1; id <= JOBS_MAX; id++) {
    assert.deepEqual(jobOf(again, id, hasWeights), jobOf(engine, id, hasWeights));
  }
  for (const name of engine.queries.queueNames()) {
    assert.deepEqual(queueOf(again, name), queueOf(engine, name));
  }
  for (const key of GATES) assert.deepEqual(gateOf(again, key, now), gateOf(engine, key, now));
  for (const name of ["g1", "g2"]) assert.deepEqual(groupOf(again, name), groupOf(engine, name));
  assert.deepEqual(again.stores.scan("s"), engine.stores.scan("s"));
}

// A snapshot tells of all there is, in the middle of whatever is under way. A replay of all facts
// differs in two ways. It does at once what a deletion or a pattern does step by step, so here that
// comes to its end within the millisecond, as a broker would let it. And when an empty lane is
// forgotten, with the weight that a job gave it, is nobody's promise.
for (const { what, factsOf, isExact } of [
  { what: "the facts it told", factsOf: (drive: Drive) => drive.facts, isExact: false },
  { what: "a snapshot", factsOf: (drive: Drive) => drive.engine.snapshot(), isExact: true },
]) {
  test(`an engine rebuilt from ${what} has the same jobs, stats and gate levels`, () => {
    fc.assert(
      fc.property(moves, (list) => {
        const world = new World(!isExact);
        for (const move of list) world.play(move);
        const { drive } = world;
        const again = rebuilt(factsOf(drive));
        // What is under way goes on in both, and what has fallen due happens in both.
        for (const engine of [again, drive.engine]) stepOn(engine, drive.now);
        assertSame(again, drive.engine, drive.now, isExact);
      }),
      { numRuns: 60, interruptAfterTimeLimit: 10_000 },
    );
  });
}

/**
 * Tells everything again while the engine goes on: the checkpoint a step at a time, then each job,
 * then another checkpoint, which repairs what the facts about jobs unknown as yet could not say.
 */
function* toldAgain({ engine, facts }: Drive): Generator<void> {
  const tell = (fact: Fact): void => void facts.push(fact);
  facts.length = 0;
  for (const step of engine.checkpoint()) yield step.forEach(tell);
  for (let id = 1; id <= JOBS_MAX; id++) {
    const job = engine.queries.record(id);
    if (job !== undefined) yield tell({ at: facts.at(-1)!.at, fact: "moved", job });
  }
  for (const step of engine.checkpoint()) yield step.forEach(tell);
}

test("what was told before a checkpoint can be forgotten once the jobs are told again", () => {
  fc.assert(
    fc.property(moves, moves, (before, after) => {
      // A full list of kept jobs that shrinks again remembers, after a restart, a job more.
      const world = new World(true, { results: { jobs: 1000 } });
      for (const move of before) world.play(move);
      const { drive } = world;
      stepOn(drive.engine, drive.now);
      const again = toldAgain(drive);
      again.next();
      for (const move of after) {
        world.play(move);
        for (let i = 0; i < 3; i++) again.next();
      }
      for (const _ of again);
      const copy = rebuilt(drive.facts);
      for (const engine of [copy, drive.engine]) stepOn(engine, drive.now);
      assertSame(copy, drive.engine, drive.now, false);
    }),
    { numRuns: 60, interruptAfterTimeLimit: 10_000 },
  );
});

/** Lets what is done step by step come to its end within the millisecond. */
function stepOn(engine: TestEngine, now: number): void {
  for (let i = 0; i < 20; i++) engine.tick(now);
}
