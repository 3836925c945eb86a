import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts/facts.ts";
import { type QueueChange, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { Dependency, JobSpec, Lease } from "../types.ts";
import { byHand } from "./by-hand.ts";
import { Drive } from "./drive.ts";

const QUEUES = ["a", "b"];
/** More than a world makes: one call adds at most a flow and three jobs, or a follow-up. */
const JOBS_MAX = 620;
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
    ordered: fc.boolean(),
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

/** Jobs are named by how long before the latest they were added. */
const edge = fc.record({
  back: fc.nat(8),
  on: fc.constantFrom("fail" as const, "run" as const, "wait" as const),
});
type Edge = { back: number; on: "fail" | "run" | "wait" };

function edgesOf(engine: TestEngine, edges: readonly Edge[]): Dependency[] {
  const { last } = engine.snapshot().next().value as { last: number };
  return edges.map(({ back, on }) => ({ id: last - back, on }));
}

const addAfter = ([name, job, edges]: [string, JobSpec, Edge[]]): Call =>
  control(`add ${name} after ${JSON.stringify(edges)}`, job, (engine, now) => {
    engine.add(name, { ...job, dependencies: edgesOf(engine, edges) }, now);
  });

/** A fan-out and fan-in over both queues that is sealed, cancelled or left open. */
const addFlow = ([n, edges]: [number, Edge[]]): Call =>
  control(`flow ${n}`, edges, (engine, now) => {
    const after = edgesOf(engine, edges);
    const flow = engine.flows.open(now);
    const ids: number[] = [];
    const jobs = [
      { queue: "a", spec: { dependencies: after, delayMs: 20 * n } },
      { queue: "b", spec: { dependencies: [{ id: 0, on: "run" as const }] } },
      { queue: "a", spec: { dependencies: [{ id: -0 }, { id: -1, on: "wait" as const }] } },
    ];
    engine.flows.add(flow, jobs, ids, now);
    engine.flows.link(flow, ids[2]!, after, now);
    if (n === 1) engine.flows.cancel(flow, now);
    else if (n !== 2) engine.flows.seal(flow, now);
  });

const jobCall: fc.Arbitrary<Call> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(queue, spec).map(add) },
  fc.tuple(queue, spec, dedupe).map(([name, job, { key, mode }]) => {
    const delayMs = mode === "debounce" ? { delayMs: 100 } : {};
    const windowMs = mode === "window" ? { windowMs: 300 } : {};
    return add([name, { ...job, ...delayMs, dedupe: { key, mode, ...windowMs } }]);
  }),
  fc.nat(200).map((id) => control("cancel", id, (engine, now) => void engine.cancel(id, now))),
  fc.nat(200).map((id) => control("retry", id, (engine, now) => engine.retry(id, now))),
  fc.tuple(fc.nat(200), fc.nat(4), queue).map((of) => control("by hand", of, byHand(of))),
);

const flowCall: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.tuple(queue, spec, fc.array(edge, { minLength: 1, maxLength: 3 })).map(addAfter),
  },
  fc.tuple(fc.nat(3), fc.array(edge, { maxLength: 3 })).map(addFlow),
  fc.nat(20).map((id) => control("cancel", id, (engine, now) => void engine.cancel(id, now))),
  fc.nat(20).map((id) => control("retry", id, (engine, now) => engine.retry(id, now))),
);

const leaseCall: fc.Arbitrary<Call> = fc.oneof(
  fc.nat(9).map((n) =>
    end("ack", n, (engine, { id, lease }, now) => {
      engine.ack(id, lease, now, n % 2 === 1 ? { n } : undefined, { sizeBytes: n, body: n });
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

const KINDS = ["run", "sleep", "wait"] as const;
/** One name has one kind in most worlds. */
const stepName = fc.nat(3).map((n) => ({
  name: n === 1 ? "" : `s${n}`,
  occurrence: 0,
  kind: KINDS[n % 3]!,
}));

/** A call about one of the leases, which lasts. */
const during = (
  text: string,
  n: number,
  call: (engine: TestEngine, lease: Lease, now: number) => void,
): Call =>
  say(text, n, (engine, held, now) => {
    const lease = held[n % Math.max(1, held.length)];
    if (lease !== undefined) call(engine, lease, now);
  });

const stepCall: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(fc.nat(9), stepName).map(([n, name]) =>
    during(`record ${JSON.stringify(name)}`, n, (engine, { id, lease }, now) => {
      if (name.kind === "run")
        engine.steps.record(id, lease, { ...name, sizeBytes: n, body: n }, now);
    }),
  ),
  fc
    .tuple(fc.nat(9), stepName, fc.nat(300), fc.subarray(GATES, { maxLength: 2 }), fc.nat(2))
    .map(([n, name, ms, gates, failures]) =>
      during(`suspend ${JSON.stringify([name, ms, gates])}`, n, (engine, { id, lease }, now) => {
        const isRun = name.kind === "run";
        const until = name.kind === "wait" && ms > 250 ? Number.POSITIVE_INFINITY : now + ms;
        const more = isRun ? { gates, cost: 1 + (n % 2), failures, error: "no" } : {};
        engine.steps.suspend(
          id,
          lease,
          { ...name, until: isRun && failures === 0 ? now : until, ...more },
          now,
        );
      }),
    ),
  fc.tuple(fc.nat(200), fc.constantFrom("s2", "other")).map(([id, name]) =>
    control("signal", [id, name], (engine, now) => {
      engine.steps.signal(id, { name, sizeBytes: 5, body: id }, now);
    }),
  ),
  fc
    .tuple(gate, fc.integer({ min: -3, max: 3 }))
    .map(([key, cost]) =>
      control("charge", [key, cost], (engine, now) => engine.charge(key, cost, now)),
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

const anyCall = (flows: number) =>
  fc.oneof(
    { weight: flows, arbitrary: flowCall },
    { weight: 6, arbitrary: jobCall },
    { weight: 4, arbitrary: leaseCall },
    { weight: 3, arbitrary: stepCall },
    { weight: 1, arbitrary: gateCall },
    { weight: 1, arbitrary: queueCall },
  );
const movesWith = (flows: number) =>
  fc.array(
    fc.record({
      call: anyCall(flows),
      wait: fc.oneof(fc.constant(0), fc.nat(150)),
      max: fc.nat(4),
    }),
    { minLength: 5, maxLength: 100, size: "max" },
  );

/**
 * A job that was held for others is kept behind those that ended later, so which of a short list of
 * kept jobs goes first may differ after a restart: worlds with flows forget none.
 */
const WORLDS = [
  { moves: movesWith(0), of: "plain jobs", results: small.results! },
  { moves: movesWith(5), of: "flows", results: { jobs: 1000, ms: 600_000 } },
];

/** Single runs that failed before. */
const SAVED = [
  [8, 14],
  [13, 16],
  [34, 28],
  [37, 45],
  [60, 27],
  [205, 15],
].map(([seed, run]) => ({ seed: seed!, path: String(run), numRuns: 1 }));

/** Makes calls as a broker would; a refusal changes nothing. */
class World {
  readonly drive = new Drive({ tells: true });
  readonly #held: Lease[] = [];
  readonly #endsSpreadWork: boolean;
  #isSpreading = false;

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
    // A gate keeps its old rate until new limits reach it, and a lease of a deleted queue lasts
    // until its row is reached. A snapshot tells of both as done: no time passes in between.
    this.#isSpreading ||= move.call.isSpread === true;
    if (this.#isSpreading && (this.#endsSpreadWork || move.wait > 0)) {
      stepOn(drive.engine, drive.now);
      this.#isSpreading = false;
    }
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
function jobOf(engine: TestEngine, id: number, { isExact, hadEnded }: Compared): unknown {
  const view = engine.queries.job(id);
  if (view === undefined) return undefined;
  const edges = ofJob(engine, id);
  const same = { ...view, edges, weight: isExact ? view.weight : undefined };
  // A job that several gates hold up too long names the one that is looked at first.
  const isNamed = view.waited === undefined || hadEnded.has(id);
  return isNamed ? same : { ...same, error: undefined, waited: undefined };
}

interface Compared {
  /** Down to the weights of lanes. */
  isExact: boolean;
  hadEnded: ReadonlySet<number>;
}

/** Before what has fallen due happens. */
function endedIn(engine: TestEngine): Set<number> {
  const ids = Array.from({ length: JOBS_MAX }, (_, i) => i + 1);
  return new Set(ids.filter((id) => engine.queries.record(id)?.ending !== undefined));
}

function ofJob(engine: TestEngine, id: number): unknown {
  const { after, flow, needed } = engine.queries.record(id)!;
  return { after, flow, needed };
}

/** What it remembers of its steps. */
function stepsOf(engine: TestEngine, id: number): unknown {
  return engine.queries.job(id) && structuredClone(engine.queries.stepsOf(id));
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
function assertSame(again: TestEngine, engine: TestEngine, now: number, how: Compared): void {
  assert.deepEqual(again.snapshot().next().value, engine.snapshot().next().value, "ids");
  assert.deepEqual(again.queries.queueNames().sort(), engine.queries.queueNames().sort());
  for (let id = 1; id <= JOBS_MAX; id++) {
    assert.deepEqual(jobOf(again, id, how), jobOf(engine, id, how));
    assert.deepEqual(stepsOf(again, id), stepsOf(engine, id));
  }
  for (const name of engine.queries.queueNames()) {
    assert.deepEqual(queueOf(again, name), queueOf(engine, name));
  }
  for (const key of GATES) assert.deepEqual(gateOf(again, key, now), gateOf(engine, key, now));
  for (const name of ["g1", "g2"]) assert.deepEqual(groupOf(again, name), groupOf(engine, name));
  assert.deepEqual(again.stores.scan("s"), engine.stores.scan("s"));
}

// A snapshot contains everything, also work in progress. A replay of all facts differs in two ways.
// It does at once what a deletion or a pattern does step by step, so here that work ends within the
// millisecond, as a broker would let it. And there is no guarantee when an empty lane is forgotten,
// with the weight that a job gave it.
for (const { what, factsOf, isExact, moves, of, results } of [
  { what: "the facts it told", factsOf: (drive: Drive) => drive.facts, isExact: false },
  { what: "a snapshot", factsOf: (drive: Drive) => drive.engine.snapshot(), isExact: true },
].flatMap((from) => WORLDS.map((world) => ({ ...from, ...world })))) {
  test(`an engine of ${of} rebuilt from ${what} has the same jobs, stats and levels`, () => {
    const property = fc.property(moves, (list) => {
      const world = new World(!isExact, { results });
      for (const move of list) world.play(move);
      const { drive } = world;
      const again = rebuilt(factsOf(drive));
      const hadEnded = endedIn(drive.engine);
      // Both engines continue the work in progress, and do what has fallen due.
      for (const engine of [again, drive.engine]) stepOn(engine, drive.now);
      assertSame(again, drive.engine, drive.now, { isExact, hadEnded });
    });
    fc.assert(property, { numRuns: 60, interruptAfterTimeLimit: 10_000 });
    for (const saved of SAVED) fc.assert(property, saved);
  });
}

/**
 * Emits everything again while the engine works: the checkpoint a step at a time, then each job,
 * then another checkpoint, which repairs what facts about still unknown jobs could not say.
 */
function* toldAgain({ engine, facts }: Drive): Generator<void> {
  const tell = (fact: Fact): void => void facts.push(fact);
  facts.length = 0;
  for (const step of engine.checkpoint()) yield step.forEach(tell);
  for (let id = 1; id <= JOBS_MAX; id++) {
    const job = engine.queries.record(id);
    if (job !== undefined) yield tell({ at: facts.at(-1)!.at, fact: "moved", job });
    for (const fact of engine.parts(id, facts.at(-1)!.at)) yield tell(fact);
  }
  for (const step of engine.checkpoint()) yield step.forEach(tell);
}

test("facts before a checkpoint can be forgotten once the jobs are emitted again", () => {
  const property = fc.property(movesWith(3), movesWith(3), (before, after) => {
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
    const hadEnded = endedIn(drive.engine);
    for (const engine of [copy, drive.engine]) stepOn(engine, drive.now);
    assertSame(copy, drive.engine, drive.now, { isExact: false, hadEnded });
  });
  fc.assert(property, { numRuns: 60, interruptAfterTimeLimit: 10_000 });
  for (const saved of SAVED) fc.assert(property, saved);
});

/** Lets what is done step by step come to its end within the millisecond. */
function stepOn(engine: TestEngine, now: number): void {
  for (let i = 0; i < 20; i++) engine.tick(now);
}
