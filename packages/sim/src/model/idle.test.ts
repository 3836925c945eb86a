import assert from "node:assert/strict";
import { test } from "node:test";
import { Broken } from "../demand.ts";
import { makeRealEngine } from "../worlds/port.ts";
import { EngineWorld } from "../worlds/world.ts";

/** A world with a place that is free and a job that waits for it; the engine never hands it out. */
function stuck(): EngineWorld {
  const world = new EngineWorld(makeRealEngine({ seed: 0 }), { isExact: false, isOneGate: false });
  world.apply({ at: 0, op: "setQueue", queue: "q", options: { tiers: 1 } });
  world.apply({ at: 0, op: "setGate", gate: "g", config: { concurrency: 1 } });
  const spec = { body: 1, gates: ["g"], priority: 0 };
  world.apply({ at: 0, op: "add", queue: "q", spec });
  world.apply({ at: 0, op: "want", queue: "q", worker: "w", slots: 1 });
  return world;
}

/** The place idles for this long, and is in use for a moment after it. */
function idle(world: EngineWorld, from: number, ms: number): void {
  world.model.idle.look(world.model, from + 1e6);
  world.model.idle.pass(from, from + ms);
  world.model.idle.served({ ...[...world.model.jobs.values()][0]!, gates: ["g"] });
}

const isIdle = (error: unknown): boolean =>
  error instanceof Broken && error.rule === "i: places do not idle";

test("a place may idle for a second at a time", () => {
  idle(stuck(), 0, 1000);
  assert.throws(() => idle(stuck(), 0, 1001), isIdle);
});

test("a place may idle for a second per job with several gates, and one more", () => {
  const world = stuck();
  idle(world, 0, 600);
  assert.throws(() => idle(world, 1000, 401), isIdle);
  const other = stuck();
  idle(other, 0, 600);
  const [job] = other.model.jobs.values();
  other.model.idle.served({ ...job!, gates: ["g", "h"] });
  idle(other, 1000, 1000);
  assert.throws(() => idle(other, 3000, 401), isIdle);
});

test("time after the engine's own wake-up is not counted", () => {
  const world = stuck();
  world.model.idle.look(world.model, 500);
  world.model.idle.pass(0, 5000);
  assert.deepEqual(world.model.idle.totals, { longestMs: 500, sumMs: 500 });
});
