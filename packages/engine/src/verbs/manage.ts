import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import type { GateConfig } from "../gates/gate-state.ts";
import { ENDED_JOB, LEASED_JOB, WAITING_JOB } from "../jobs/job-fields.ts";
import { forget, setLater, workChanged } from "../jobs/moves.ts";
import { WEIGHT_RULES_MAX } from "../limits.ts";
import { configureAdmission } from "../queues/capacity.ts";
import { isLetter } from "../queues/dead-letters.ts";
import type { QueueConfig } from "../queues/queue-config.ts";
import { allWorkers, forgetIdle, type QueueState } from "../queues/queue-state.ts";
import { ruleOf, weightOf } from "../queues/weights.ts";
import { KIND, LANE, LEVEL, OWN, QUEUE, REFS } from "../ring/node-fields.ts";
import { ROWS_PER_STEP, walk } from "../tables/table-walk.ts";
import type { FairnessKey } from "../types.ts";
import { cancel, endJob, endPurged, forgetKept, isPurged, takeOff } from "./end.ts";
import { redrive } from "./fail.ts";

/** Gates given other limits by one step. */
const GATES_PER_STEP = 200;
/**
 * Letters put back or ended in one call: 16 µs each with 16 gates, so 4 ms. Callers repeat the
 * call until no letter is left.
 */
const REDRIVEN_PER_CALL = 250;
const LOOKED_AT_PER_CALL = 500;

/** Creates a queue, or changes one in place: its jobs stay. */
export function setQueue(core: Core, name: string, config: QueueConfig): void {
  const queue = core.byName.get(name);
  if (queue === undefined) {
    configureAdmission(core.makeQueue(name, config), core.now);
    return;
  }
  if (config.tiers.length < queue.tiers.length) {
    throw new Refusal(
      "INVALID",
      `queue.tiers must be at least ${queue.tiers.length}; a queue cannot lose tiers`,
      {
        field: "queue.tiers",
        value: config.tiers.length,
      },
    );
  }
  const old = queue.config;
  queue.config = config;
  configureAdmission(queue, core.now);
  const isOrdered = JSON.stringify(old.tierOrder) === JSON.stringify(config.tierOrder);
  if (config.tiers.length > queue.tiers.length || !isOrdered) core.makeTiers(queue);
  spread(core, queue, old);
  workChanged(core, queue);
}

/** Lets a changed policy reach what is there already: lanes, kept jobs, waiting jobs. */
function spread(core: Core, queue: QueueState, old: QueueConfig): void {
  const { config } = queue;
  if (config.results.ms < old.results.ms && core.kept.has(queue.index + 1)) {
    core.kept.move(queue.index + 1, core.now);
  }
  if (queue.kept > config.results.jobs) core.chores.push(() => forgetBeyond(core, queue));
  if (JSON.stringify(old.weights) !== JSON.stringify(config.weights)) {
    core.chores.push(walk(core, core.rings.nodes, (node) => reweigh(core, node, queue)));
  }
  if (config.retentionMs !== old.retentionMs) {
    core.chores.push(walk(core, core.jobs, (row) => applyRetention(core, row, queue)));
  }
  if (config.promoteAfterMs !== undefined && config.promoteAfterMs !== old.promoteAfterMs) {
    core.chores.push(
      walk(core, core.jobs, (row) => {
        if (core.jobs.state(row) === WAITING_JOB && core.queueOf(row) === queue) {
          setLater(core, row, queue);
        }
      }),
    );
  }
}

/** A letter that is there already ends as long after its death as the queue says now. */
function applyRetention(core: Core, row: number, queue: QueueState): void {
  const state = core.jobs.state(row);
  if (state === 0 || state === ENDED_JOB || core.queueOf(row) !== queue) return;
  const extra = core.jobs.extra(row);
  if (extra?.origin === undefined) return;
  const { retentionMs = Number.POSITIVE_INFINITY } = queue.config;
  extra.deadline = extra.origin.at + retentionMs;
  if (state !== LEASED_JOB) setLater(core, row, queue);
}

/** Forgets the oldest kept jobs that a lowered limit has no place for. */
function forgetBeyond(core: Core, queue: QueueState): boolean {
  for (let i = 0; i < ROWS_PER_STEP && queue.kept > queue.config.results.jobs; i++) {
    core.rings.steps++;
    forgetKept(core, queue.keptHead, queue);
  }
  return queue.kept <= queue.config.results.jobs;
}

/** Gives a lane or level the weight that the policy sets now, unless a job has set one. */
function reweigh(core: Core, node: number, queue: QueueState): void {
  const { lanes } = core;
  const kind = lanes.get(node, KIND);
  if ((kind !== LANE && kind !== LEVEL) || lanes.get(node, QUEUE) !== queue.index) return;
  if (kind === LANE && lanes.get(node, OWN) !== 0) return;
  const key = lanes.keyOf(node);
  const path = typeof key === "string" ? [key] : key;
  core.rings.setWeight(node, weightOf(queue.config.weights, path));
}

/** Deletes a queue and all that is in it; its name is free at once, its rows go step by step. */
export function deleteQueue(core: Core, queue: QueueState): void {
  queue.deleted = true;
  queue.demand = 0;
  core.byName.delete(queue.name);
  workChanged(core, queue);
  const { nodes } = core.rings;
  core.chores.push(
    walk(core, core.jobs, (row, now) => dropJob(core, row, queue, now)),
    walk(core, nodes, (node) => dropLane(core, node, queue)),
    () => dropQueue(core, queue),
  );
}

function dropJob(core: Core, row: number, queue: QueueState, now: number): void {
  if (core.jobs.state(row) === 0 || core.queueOf(row) !== queue) return;
  if (takeOff(core, row, now)) endJob(core, row, "cancelled", now, { isSilent: true });
  else if (core.jobs.isNeeded(row)) forget(core, row);
  else forgetKept(core, row, queue);
}

function dropLane(core: Core, node: number, queue: QueueState): void {
  const { lanes } = core;
  const kind = lanes.get(node, KIND);
  // A level goes with the last of its children, unless that went before.
  const isLoose = kind === LANE || (kind === LEVEL && lanes.get(node, REFS) === 0);
  if (isLoose && lanes.get(node, QUEUE) === queue.index) lanes.drop(node);
}

/** Frees what a deleted queue leaves behind once its jobs and lanes are gone. */
function dropQueue(core: Core, queue: QueueState): boolean {
  for (const tier of queue.tiers) core.rings.nodes.free(tier);
  for (const ring of queue.tierRings) core.rings.drop(ring);
  if (queue.tierRing !== 0) core.rings.drop(queue.tierRing);
  if (core.kept.has(queue.index + 1)) core.kept.remove(queue.index + 1);
  for (const worker of allWorkers(queue)) {
    worker.slots = 0;
    forgetIdle(core, queue, worker);
  }
  core.queues[queue.index] = undefined;
  return true;
}

/** Removes what waits or is delayed in a queue now, step by step; what comes later stays. */
export function purge(core: Core, queue: QueueState, upTo: number, at: number): void {
  if (queue.purgeUpTo === 0) core.purging.push(queue);
  queue.purgeUpTo = upTo;
  queue.purgeAt = at;
  queue.purgeRow = 1;
}

/** Does one step of the oldest purge. */
export function stepPurge(core: Core, now: number): void {
  const queue = core.purging[0]!;
  const end = queue.deleted ? 0 : Math.min(queue.purgeRow + ROWS_PER_STEP, core.jobs.end);
  for (; queue.purgeRow < end; queue.purgeRow++) {
    core.rings.steps++;
    const row = queue.purgeRow;
    if (core.jobs.state(row) !== 0 && core.queueOf(row) === queue && isPurged(core, row)) {
      endPurged(core, row, now);
    }
  }
  if (queue.purgeRow < core.jobs.end && !queue.deleted) return;
  if (!queue.deleted) core.tell({ at: now, fact: "purge-ended", name: queue.name });
  endPurge(core, queue);
}

export function endPurge(core: Core, queue: QueueState): void {
  queue.purgeUpTo = 0;
  core.purging.splice(core.purging.indexOf(queue), 1);
}

/** Sets or removes the limits of a gate or a pattern; gates that exist get them step by step. */
export function setGate(
  core: Core,
  pattern: string,
  config: GateConfig | undefined,
  now: number,
): void {
  core.gates.setConfig(pattern, config);
  if (!pattern.endsWith("*")) {
    const gate = core.gates.gateOf(pattern, now);
    core.gates.configure(gate, now);
    core.lines.changed(gate);
    return;
  }
  const prefix = pattern.slice(0, -1);
  let row = 1;
  // Limits come first: shutting a gate must not wait until a queue is deleted.
  core.chores.unshift((at) => {
    const end = Math.min(row + GATES_PER_STEP, core.gates.rowEnd);
    for (; row < end; row++) {
      const gate = core.gates.atOrNone(row);
      if (gate === undefined || !gate.key.startsWith(prefix)) continue;
      core.gates.configure(gate, at);
      core.lines.changed(gate);
    }
    return row >= core.gates.rowEnd;
  });
}

/** Sets the weight of a lane or a level, for those that are there and those to come. */
export function setLaneWeight(
  core: Core,
  queue: QueueState,
  key: FairnessKey,
  weight: number,
): void {
  const path = typeof key === "string" ? [key] : key;
  const rule = ruleOf(path);
  const rules = Object.keys(queue.config.weights);
  if (rules.length >= WEIGHT_RULES_MAX && !rules.includes(rule)) {
    throw new Refusal(
      "INVALID",
      `queue ${queue.name} has ${rules.length} weights, the maximum; remove some`,
      {
        field: "key",
        value: key,
      },
    );
  }
  queue.config = {
    ...queue.config,
    weights: { ...queue.config.weights, [rule]: weight },
  };
  for (const tier of queue.tiers) {
    const node = core.lanes.findNode(tier, path);
    if (node === 0) continue;
    core.rings.setWeight(node, weightOf(queue.config.weights, path));
    if (core.lanes.get(node, KIND) === LANE) core.lanes.set(node, OWN, 0);
  }
}

/**
 * Puts dead jobs back where they came from, those of one queue in the order in which they died;
 * answers how many. 0: none is left that could go back.
 */
export function redriveOldest(core: Core, queue: QueueState, count: number, now: number): number {
  refuseOrdinary(core, queue);
  const most = Math.min(count, REDRIVEN_PER_CALL);
  let moved = 0;
  let looked = 0;
  for (const [origin, list] of queue.dead) {
    if (!core.byName.has(origin)) continue;
    for (let row = list.head; row !== 0 && moved < most && looked < LOOKED_AT_PER_CALL; ) {
      const next = core.jobs.extra(row)!.deadNext;
      // One that is leased stays; so does the place that it has in the list.
      if (core.jobs.state(row) !== LEASED_JOB) {
        looked++;
        if (redriveJob(core, row, now)) moved++;
      }
      row = next;
    }
  }
  return moved;
}

/** Puts back those of the named jobs that are letters of this queue; answers how many. */
export function redriveByIds(
  core: Core,
  queue: QueueState,
  ids: readonly number[],
  now: number,
): number {
  refuseOrdinary(core, queue);
  let moved = 0;
  for (const id of ids) {
    const row = core.ids.find(id);
    if (row === 0 || core.queueOf(row) !== queue || !isLetter(core, row)) continue;
    const state = core.jobs.state(row);
    if (state === LEASED_JOB || state === ENDED_JOB) continue;
    if (!core.byName.has(core.jobs.extra(row)!.origin!.queue)) continue;
    if (redriveJob(core, row, now)) moved++;
  }
  return moved;
}

/** Ends letters that came from one queue, wherever they are; answers how many. 0: none is left. */
export function deleteLetters(core: Core, origin: string, now: number): number {
  let ended = 0;
  for (const queue of core.byName.values()) {
    for (; ended < REDRIVEN_PER_CALL; ended++) {
      const list = queue.dead.get(origin);
      if (list === undefined) break;
      cancel(core, list.head, now);
    }
  }
  return ended;
}

function refuseOrdinary(core: Core, queue: QueueState): void {
  const isNamed = [...core.byName.values()].some((other) => other.config.dlq === queue.name);
  if (!queue.isDlq && !isNamed) {
    throw new Refusal("NOT_A_DLQ", `queue ${queue.name} is not a dead letter queue`, {
      field: "queue",
      value: queue.name,
    });
  }
}

/** Answers false for a letter that a purge under way has ended already. */
function redriveJob(core: Core, row: number, now: number): boolean {
  if (isPurged(core, row)) {
    endPurged(core, row, now);
    return false;
  }
  redrive(core, row, now);
  return true;
}
