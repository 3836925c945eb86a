import assert from "node:assert/strict";
import { test } from "node:test";
import { TestEngine } from "../testing/test-engine.ts";
import type { GateConfig } from "./gate-state.ts";

// What one claim does, step by step, is in several-gates.test.ts. Here many claims meet.

interface Running {
  readonly id: number;
  readonly lease: number;
  readonly endsAt: number;
}

/** A queue with free workers whose jobs run for times that a seed draws. */
class World {
  readonly engine = new TestEngine();
  readonly places = new Map<string, number>();
  running: Running[] = [];
  now = 0;
  #state: number;

  constructor(seed: number, gates: Readonly<Record<string, GateConfig>>) {
    this.#state = seed;
    this.engine.setQueue("q", { leaseMs: 86_400_000 }, 0);
    this.engine.want("q", "w", 1000, 0);
    for (const [key, config] of Object.entries(gates)) {
      this.engine.setGate(key, config, 0);
      if (config.concurrency !== undefined) this.places.set(key, config.concurrency);
    }
  }

  draw(below: number): number {
    this.#state = (Math.imul(this.#state, 1103515245) + 12345) >>> 0;
    return (this.#state >>> 8) % below;
  }

  add(gates: readonly string[], key: string, priority = 3): void {
    this.engine.add("q", { gates: [...gates], fairnessKey: key, priority }, this.now);
  }

  cancel(id: number): void {
    if (this.engine.queries.job(id)?.state === "waiting") this.engine.cancel(id, this.now);
  }

  /** Sends what can go out, asks about what cannot, and goes to the next time of interest. */
  step(runMs: number): void {
    const { engine } = this;
    for (let calls = 0; engine.nextWake(this.now) <= this.now; calls++) {
      assert.ok(calls < 1000, "dispatch has no end");
      for (const { id, lease } of engine.dispatch(this.now)) {
        this.running.push({ id, lease, endsAt: this.now + 1 + this.draw(runMs) });
      }
    }
    for (const [gate, most] of this.places) {
      const { inFlight } = engine.queries.gateStats(gate, this.now);
      assert.ok(inFlight <= most, `${gate} runs ${inFlight} of ${most}`);
    }
    const ends = this.running.map(({ endsAt }) => endsAt);
    this.now = Math.min(engine.nextWake(this.now), ...ends, this.now + 500);
    for (const { id, lease } of this.running.filter(({ endsAt }) => endsAt <= this.now)) {
      engine.ack(id, lease, this.now);
    }
    this.running = this.running.filter(({ endsAt }) => endsAt > this.now);
  }

  /** A job that waits because a permit is kept names another job that waits. */
  checkKept(id: number): void {
    const why = this.engine.queries.why(id, this.now);
    if (why.state !== "waiting" || why.reason !== "gated" || why.keptFor === undefined) return;
    assert.notEqual(why.keptFor.id, id);
    assert.equal(this.engine.queries.job(why.keptFor.id)?.state, "waiting");
  }

  /** Runs until nothing waits; answers how long that took. */
  drain(runMs: number): number {
    const from = this.now;
    while (this.engine.queries.queueStats("q").waiting > 0 || this.running.length > 0) {
      assert.ok(this.now - from < 3_600_000, "jobs are stuck");
      this.step(runMs);
    }
    return this.now - from;
  }
}

const KINDS: Readonly<Record<string, GateConfig>> = {
  place: { concurrency: 1 },
  places: { concurrency: 2 },
  rate: { rate: 5, burst: 2 },
  window: { windows: [{ limit: 3, perMs: 2000 }] },
  start: { interval: { ms: 300, from: "start" } },
  end: { interval: { ms: 200, from: "end" } },
  mixed: { concurrency: 1, rate: 2, burst: 1 },
};

test("claims of all kinds of gates all go out, and no gate runs more than it may", () => {
  const keys = Object.keys(KINDS);
  for (let seed = 1; seed <= 24; seed++) {
    const world = new World(seed, KINDS);
    const runMs = [3, 400, 3000][seed % 3]!;
    for (let i = 0; i < 60; i++) {
      const first = world.draw(keys.length);
      const more = world.draw(3);
      const gates = [keys[first]!];
      for (let j = 1; j <= more; j++) gates.push(keys[(first + j) % keys.length]!);
      world.add(gates, `k${world.draw(4)}`, world.draw(4));
      if (world.draw(2) === 0) world.step(runMs);
      if (world.draw(12) === 0) world.engine.cooldown(gates[0]!, 700, "busy", world.now);
      if (world.draw(15) === 0) world.cancel(1 + world.draw(i + 1));
      for (let id = 1; id <= i; id += 7) world.checkKept(id);
    }
    world.drain(runMs);
  }
});

test("a job with several places goes out before all others that want one of them", () => {
  for (const runMs of [5, 800, 2500]) {
    const world = new World(runMs, { a: { concurrency: 1 }, b: { concurrency: 1 } });
    for (let i = 0; i < 40; i++) {
      world.add(["a"], "only a");
      world.add(["b"], "only b");
    }
    world.step(runMs);
    world.add(["a", "b"], "both");
    while (world.engine.queries.job(81)?.state === "waiting") world.step(runMs);
    assert.ok(world.engine.queries.queueStats("q").waiting > 0, "some of the others wait");
    world.drain(runMs);
  }
});

test("a claim outlives a change of its gates from places to times and back", () => {
  const world = new World(7, { a: { concurrency: 1 }, b: { concurrency: 1 } });
  for (let i = 0; i < 30; i++) {
    world.add(i % 3 === 0 ? ["a", "b"] : [i % 3 === 1 ? "a" : "b"], `k${i % 5}`, i % 4);
  }
  const limits: GateConfig[] = [{ rate: 20, burst: 1 }, { concurrency: 1 }, { concurrency: 3 }];
  world.places.clear();
  for (let i = 0; i < 12; i++) {
    for (let steps = 0; steps < 3; steps++) world.step(600);
    world.engine.setGate(i % 2 === 0 ? "a" : "b", limits[i % limits.length]!, world.now);
  }
  world.drain(600);
  assert.equal(world.engine.queries.queueStats("q").waiting, 0);
});
