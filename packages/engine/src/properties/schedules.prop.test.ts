import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fact } from "../facts/facts.ts";
import { type Change, rebuiltSchedules, ScheduledEngine } from "../testing/scheduled-engine.ts";

const KEYS = ["q/a", "q/b", "r/c"];

const change = fc.record({
  periodMs: fc.constantFrom(1000, 3000, 7000),
  catchUp: fc.constantFrom(...(["none", "one", "all"] as const)),
  overlap: fc.constantFrom(...(["allow", "skip", "wait"] as const)),
  catchUpWindowMs: fc.constantFrom(5000, 100_000),
  pauseOnFailure: fc.boolean(),
});

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat(4000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("ack" as const), max: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), pick: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("wall" as const),
      ms: fc.integer({ min: -9000, max: 9000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), ms: fc.nat(40_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("set" as const), key: fc.nat(2), change }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("pause" as const), key: fc.nat(2), on: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("run" as const), key: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("full" as const), jobs: fc.constantFrom(1, 1000) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Drives an engine through steps, and remembers what its facts say of ticks. */
class World {
  engine = new ScheduledEngine();
  now = 0;
  /** Jobs that ticks have added, by schedule and tick. */
  readonly added = new Set<string>();
  /** Ticks that are decided, by schedule: what is held is not. */
  readonly decided = new Map<string, Set<number>>();
  #read = 0;

  constructor(changes: readonly Change[]) {
    this.engine.setQueue("q", {}, 0);
    this.engine.setQueue("r", {}, 0);
    for (const [i, key] of KEYS.entries()) this.engine.setSchedule(key, changes[i]!, 0);
  }

  play(step: Step): void {
    const { engine } = this;
    if (step.do === "wait") this.now += step.ms;
    else if (step.do === "restart") this.#restart(step.ms);
    else if (step.do === "set") engine.setSchedule(KEYS[step.key]!, step.change, this.now);
    else if (step.do === "run") {
      try {
        engine.schedules.run(KEYS[step.key]!, this.now + engine.wall.aheadMs, {}, this.now);
      } catch {
        // The queue is full.
      }
    } else if (step.do === "pause") {
      if (step.on) engine.schedules.pause(KEYS[step.key]!, this.now);
      else engine.schedules.resume(KEYS[step.key]!, this.now);
    } else if (step.do === "full")
      engine.setQueue("q", { capacity: { jobs: step.jobs } }, this.now);
    else if (step.do === "wall") {
      engine.setWallAhead(engine.wall.aheadMs + step.ms, this.now);
      engine.lateBefore = this.now + engine.wall.aheadMs;
      engine.tick(this.now);
    } else this.#end(step);
    engine.fireAll(this.now);
    this.#check();
  }

  #end(step: Extract<Step, { do: "ack" | "fail" | "cancel" }>): void {
    const { engine, now } = this;
    for (const queue of ["q", "r"]) {
      const max = step.do === "ack" ? step.max : 1;
      for (const { id, lease } of engine.lease(queue, max, now)) {
        if (step.do === "ack") engine.ack(id, lease, now);
        else if (step.do === "fail") engine.nack(id, lease, now, { unrecoverable: true });
        else engine.cancel(id, now);
      }
    }
  }

  /** Another engine takes up the facts, after a while in which there was none. */
  #restart(ms: number): void {
    this.#check();
    const { facts } = this.engine;
    const state = stateOf(this.engine);
    const again = rebuiltSchedules(facts);
    assert.deepEqual(stateOf(again), state);
    for (const key of KEYS) {
      const running = again.schedules.get(key)?.running;
      assert.equal(running, this.engine.schedules.get(key)?.running, `runs of ${key}`);
    }
    again.facts.push(...facts);
    this.engine = again;
    this.now += ms;
    again.lateBefore = this.now + again.wall.aheadMs;
  }

  #check(): void {
    const { facts } = this.engine;
    for (; this.#read < facts.length; this.#read++) this.#judge(facts[this.#read]!);
  }

  #judge(fact: Fact): void {
    if (fact.fact === "job" && fact.job.extra?.schedule?.byHand === undefined) {
      const run = fact.job.extra?.schedule;
      if (run === undefined) return;
      const name = `${run.key} ${run.tick}`;
      assert.ok(!this.added.has(name), `two jobs for ${name}`);
      this.added.add(name);
    }
    if (fact.fact !== "ticked") return;
    const decided = this.decided.get(fact.key) ?? new Set();
    this.decided.set(fact.key, decided);
    assert.ok(!decided.has(fact.tick), `${fact.key} ${fact.tick} was decided twice`);
    assert.equal(fact.outcome === "added", this.added.has(`${fact.key} ${fact.tick}`));
    if (fact.outcome !== "held") decided.add(fact.tick);
  }
}

function stateOf(engine: ScheduledEngine): unknown {
  const facts = [...engine.checkpoint()].flat();
  const schedules = facts.flatMap((fact) => (fact.fact === "schedule" ? [fact.schedule] : []));
  return JSON.parse(JSON.stringify(schedules));
}

test("no tick makes two jobs, and a restart knows all, through failures, steps and pauses", () => {
  fc.assert(
    fc.property(
      fc.tuple(change, change, change),
      fc.array(step, { minLength: 20, maxLength: 120, size: "max" }),
      (changes, steps) => {
        const world = new World(changes);
        for (const one of steps) world.play(one);
      },
    ),
    { numRuns: 150 },
  );
});

test("every tick of a plan that stays is decided exactly once, in order", () => {
  fc.assert(
    fc.property(
      change,
      fc.array(step, { minLength: 20, maxLength: 120, size: "max" }),
      (first, steps) => {
        const world = new World([first, first, first]);
        for (const one of steps) if (one.do !== "set") world.play(one);
        const { periodMs } = first;
        for (const key of KEYS) {
          const { decidedUntil, held, next } = world.engine.schedules.get(key)!;
          const ranges = world.engine.facts.flatMap((fact) =>
            fact.fact === "ticked" && fact.key === key && fact.after !== undefined
              ? [[fact.after, fact.tick] as const]
              : [],
          );
          const decided = world.decided.get(key) ?? new Set();
          for (let tick = periodMs; tick <= decidedUntil; tick += periodMs) {
            const isInRange = ranges.some(([after, upTo]) => tick > after && tick <= upTo);
            assert.ok(decided.has(tick) || isInRange || held === tick, `${key} ${tick}`);
          }
          assert.ok(next === undefined || next > decidedUntil || decided.size === 0);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test("overlap skip and wait never have two runs of ticks at once", () => {
  fc.assert(
    fc.property(
      change.filter(({ overlap }) => overlap !== "allow"),
      fc.array(step, { minLength: 20, maxLength: 100, size: "max" }),
      (first, steps) => {
        const world = new World([first, first, first]);
        for (const one of steps) {
          if (one.do === "set" || one.do === "run") continue;
          world.play(one);
          for (const key of KEYS) assert.ok(world.engine.schedules.get(key)!.running <= 1);
        }
      },
    ),
    { numRuns: 60 },
  );
});
