// The end of a world: everything in the way is taken out of it, and everything must drain.

import { demand, equal } from "../demand.ts";
import type { EngineWorld } from "./world.ts";

const SLOTS = 10_000;
const ROUNDS_MAX = 400;
// Longer than any window, retention or delay of any world.
const FOREVER_MS = 1e11;

export function healAndDrain(world: EngineWorld): void {
  heal(world);
  for (let round = 0; hasLiveJobs(world); round++) {
    demand(round < ROUNDS_MAX, "drain: everything ends", () => leftOver(world));
    drainOnce(world);
  }
  forgetAll(world);
}

function heal(world: EngineWorld): void {
  const at = world.now;
  const { model } = world;
  model.share = undefined;
  for (const gate of [...model.gates.configs.keys()]) world.apply({ at, op: "deleteGate", gate });
  for (const { key, cooldownUntil } of [...model.gates.all()]) {
    if (cooldownUntil > world.now) world.apply({ at, op: "clearCooldown", gate: key });
  }
  for (const queue of [...model.queues.keys()]) world.apply({ at, op: "resume", queue });
}

// One round: hand out everything that waits, end everything that is leased, wait for the delayed.
function drainOnce(world: EngineWorld): void {
  const { model } = world;
  for (const queue of [...model.queues.keys()]) {
    world.apply({ at: world.now, op: "want", queue, worker: "healer", slots: SLOTS });
  }
  world.apply({ at: world.now, op: "dispatch" });
  for (const queue of [...model.queues.values()]) {
    for (const job of [...queue.leased]) {
      world.apply({ at: world.now, op: "ack", job: world.tagOf(job.id)!, lease: 0 });
    }
  }
  const wake = world.nextWake();
  if (hasLiveJobs(world) && wake !== Infinity) {
    world.apply({ at: Math.max(wake, world.now), op: "dispatch" });
  }
}

// Long after, nothing is remembered, no key is held and nothing is due any more.
function forgetAll(world: EngineWorld): void {
  world.apply({ at: world.now + FOREVER_MS, op: "dispatch" });
  equal("drain: nothing is left", "number of jobs", world.model.jobs.size, 0);
  equal("drain: nothing is due", "nextWake", world.nextWake(), Infinity);
  for (const id of world.model.issued) {
    equal("drain: nothing is left", `job ${id}`, world.engine.job(id), undefined);
  }
  for (const queue of world.model.queues.values()) {
    for (const key of world.keys) {
      world.apply({ at: world.now, op: "cancelByKey", queue: queue.name, key });
    }
  }
}

function hasLiveJobs(world: EngineWorld): boolean {
  for (const { waiting, delayed, leased } of world.model.queues.values()) {
    if (waiting.size + delayed.size + leased.size > 0) return true;
  }
  return false;
}

function leftOver(world: EngineWorld): string {
  const live = [...world.model.jobs.values()].filter((job) => job.state !== "ended");
  return live.map((job) => `job ${job.id} is ${job.state} in ${job.queue}`).join(", ");
}
