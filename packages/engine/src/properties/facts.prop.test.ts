import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Engine } from "../engine.ts";
import { Refusal } from "../errors.ts";
import type { Fact } from "../facts.ts";
import type { JobSpec, Lease, QueueOptions } from "../types.ts";
import { Drive } from "./drive.ts";
import { Lead, Shares } from "./shares.ts";

const QUEUES = ["a", "b"];
const GATES = ["rate", "window", "spaced", "places", "ladder", "g:1"];

const small: QueueOptions = {
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

type Call = (engine: Engine, held: Lease[], now: number) => void;

function withHeld(which: number, use: (lease: Lease) => void, held: Lease[]): void {
  const [lease] = held.splice(which % Math.max(1, held.length), 1);
  if (lease !== undefined) use(lease);
}

const queue = fc.constantFrom(...QUEUES);
const gate = fc.constantFrom(...GATES);

const jobCall: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(queue, spec).map(([q, s]): Call => (engine, _, now) => {
      engine.add(q, s, now);
    }),
  },
  fc.tuple(queue, spec, dedupe).map(([q, s, d]): Call => (engine, _, now) => {
    const windowMs = d.mode === "window" ? { windowMs: 300 } : {};
    const delayMs = d.mode === "debounce" ? { delayMs: 100 } : {};
    engine.add(q, { ...s, ...delayMs, dedupe: { ...d, ...windowMs } }, now);
  }),
  fc.nat(200).map((id): Call => (engine, _, now) => {
    engine.cancel(id, now);
  }),
  fc.nat(200).map((id): Call => (engine, _, now) => engine.retry(id, now)),
);

const leaseCall: fc.Arbitrary<Call> = fc.oneof(
  fc.nat(9).map((n): Call => (engine, held, now) => {
    withHeld(n, ({ id, lease }) => engine.ack(id, lease, now, n % 2 ? { n } : undefined), held);
  }),
  fc.tuple(fc.nat(9), fc.nat(3)).map(([n, kind]): Call => (engine, held, now) => {
    const options = [
      { error: "boom" },
      { cooldown: { gate: "rate", ms: 200 } },
      { unrecoverable: true },
      { delayMs: 0, blame: ["ladder"] },
    ][kind]!;
    withHeld(n, ({ id, lease }) => engine.nack(id, lease, now, options), held);
  }),
  fc.nat(9).map((n): Call => (engine, held, now) => {
    withHeld(n, ({ id, lease }) => engine.giveBack(id, lease, now), held);
  }),
  fc.nat(9).map((n): Call => (engine, held, now) => {
    const { id, lease } = held[n % Math.max(1, held.length)] ?? { id: 0, lease: 0 };
    engine.extend(id, lease, 400, now);
  }),
);

const controlCall: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(gate, fc.nat(500)).map(([key, ms]): Call => (engine, _, now) => {
    engine.cooldown(key, ms, "slow down", now);
  }),
  gate.map((key): Call => (engine, _, now) => engine.clearCooldown(key, now)),
  fc.boolean().map((ok): Call => (engine, _, now) => engine.reportGate("ladder", ok, now)),
  fc.nat(3).map((n): Call => (engine, _, now) => {
    engine.setGate("places", { concurrency: 1 + n }, now);
  }),
  fc.nat(3).map((n): Call => (engine, _, now) => {
    if (n === 0) engine.deleteGate("g:*", now);
    else engine.setGate("g:*", { rate: n, burst: 2 }, now);
  }),
  queue.map((q): Call => (engine, _, now) => engine.purge(q, now)),
  fc.boolean().map((paused): Call => (engine, _, now) => engine.setQueue("b", { paused }, now)),
  fc.integer({ min: 1, max: 5 }).map((weight): Call => (engine, _, now) => {
    engine.setLaneWeight("a", ["x", "1"], weight, now);
  }),
  fc.constant<Call>((engine, held, now) => {
    engine.deleteQueue("b", now);
    engine.setQueue("b", small, now);
    engine.want("b", "w", 1000, now);
    held.splice(0, held.length, ...held.filter(({ queue: of }) => of !== "b"));
  }),
  fc.constant<Call>((engine, _, now) => void engine.redrive("a.dlq", {}, now)),
  fc.nat(5).map((n): Call => (engine, _, now) => {
    if (n === 0) engine.storeDelete("s", "1", now);
    else engine.storePut("s", `${n}`, { n }, now);
  }),
);

const anyCall = fc.oneof(
  { weight: 6, arbitrary: jobCall },
  { weight: 4, arbitrary: leaseCall },
  { weight: 1, arbitrary: controlCall },
);
const moves = fc.array(
  fc.record({ call: anyCall, wait: fc.oneof(fc.constant(0), fc.nat(150)), max: fc.nat(4) }),
  { minLength: 5, maxLength: 100, size: "max" },
);

/** Makes calls as a broker would; a refusal changes nothing. */
class World {
  readonly drive = new Drive({ tells: true });
  readonly #held: Lease[] = [];

  constructor() {
    const { engine, now } = this.drive;
    for (const name of QUEUES) {
      engine.setQueue(name, small, now);
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

  /** Lets spread work come to its end: what is left of a purge is not in the facts. */
  quiesce(): void {
    this.#held.push(...this.drive.dispatchNow());
  }
}

/** What a user sees of an engine, workers aside: they come back by themselves. */
function seen(engine: Engine, now: number): unknown {
  const jobs = [];
  for (let id = 1; id <= 220; id++) jobs.push(engine.job(id));
  const stats = engine.queueNames().map((name) => {
    const { freeWorkers: _, ...rest } = engine.queueStats(name);
    return { ...rest, config: engine.queueConfig(name) };
  });
  const gates = GATES.map((key) => {
    const { waitingLanes: _, ...rest } = engine.gateStats(key, now);
    return rest;
  });
  return { jobs, stats, gates, groups: [engine.group("g1"), engine.group("g2")] };
}

function rebuilt(facts: Iterable<Fact>): Engine {
  const engine = new Engine();
  for (const fact of facts) engine.apply(structuredClone(fact));
  return engine;
}

for (const [what, factsOf] of [
  ["the facts it told", (drive: Drive) => drive.facts],
  ["a snapshot", (drive: Drive) => drive.engine.snapshot()],
] as const) {
  test(`an engine rebuilt from ${what} has the same jobs, stats and gate levels`, () => {
    fc.assert(
      fc.property(moves, (list) => {
        const world = new World();
        for (const move of list) world.play(move);
        world.quiesce();
        const { drive } = world;
        const again = rebuilt(factsOf(drive));
        assert.deepEqual(seen(again, drive.now), seen(drive.engine, drive.now));
      }),
      { numRuns: 120 },
    );
  });
}

const lanes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 2, maxLength: 6 });

for (const where of ["in the ring", "behind a gate"]) {
  for (const what of ["its facts", "a snapshot"]) {
    test(`leads of lanes survive a rebuild from ${what}, ${where}: two turns at most`, () => {
      fc.assert(
        fc.property(lanes, fc.nat(80), fc.boolean(), (weights, before, hasPaths) => {
          const first = new Drive({ tells: true });
          first.open("q");
          first.engine.setGate("g", { rate: 100, burst: 1 }, first.now);
          const gates = where === "behind a gate" ? ["g"] : [];
          const shares = new Shares();
          weights.forEach((weight, i) => {
            const fairnessKey = hasPaths ? ["tenant", `${i}`] : `${i}`;
            first.addMany("q", `${i}`, 300, { weight, fairnessKey, gates });
            shares.watch(`${i}`, weight);
          });
          first.run(before, ({ mark }) => shares.serve(mark.lane));
          assert.ok(shares.excess() <= 0);
          const facts = what === "its facts" ? first.facts : first.engine.snapshot();
          const second = new Drive({ engine: rebuilt(facts) });
          second.now = first.now;
          second.engine.want("q", "w", 1_000_000, second.now);
          second.run(150, ({ mark }) => {
            shares.serve(mark.lane);
            assert.ok(shares.excess(2) <= 0);
          });
        }),
        { numRuns: 25 },
      );
    });
  }
}

test("a restart after every few jobs lets no lane gain more than two turns", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 4 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 5, maxLength: 25, size: "max" }),
      (weights, runs) => {
        let drive = new Drive();
        drive.open("q");
        weights.forEach((weight, i) => void drive.addMany("q", `${i}`, 150, { weight }));
        const leads = weights.map(() => new Lead());
        for (const count of runs) {
          drive.run(count, ({ mark }) => {
            const share = 1 / mark.weight;
            leads.forEach((lead, i) => {
              if (mark.lane === "0") lead.gainSince(i === 0 ? 0 : share);
              else if (mark.lane === String(i)) lead.gainSince(-share);
              assert.ok(lead.most <= 2, "the first lane, counted from the start");
            });
          });
          const engine = rebuilt(drive.engine.snapshot());
          const again = new Drive({ engine });
          again.now = drive.now;
          engine.want("q", "w", 1_000_000, again.now);
          drive = again;
        }
      },
    ),
    { numRuns: 30 },
  );
});
