import type { Core } from "../core.ts";
import type { GateLine } from "../gates/gate-line.ts";
import * as jobFields from "../jobs/job-fields.ts";
import { isHeld } from "../jobs/ordered.ts";
import { hasRoom } from "../queues/capacity.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { GATES, HEAD, ORDER_FIRST, ORDER_HEAD } from "../ring/node-fields.ts";
import { stepKey } from "../steps/step-names.ts";
import { whyBlocked } from "./dependencies.ts";
import { firstInLine } from "./line-view.ts";
import { endStateOf } from "./view.ts";
import type {
  Dead,
  Why,
  WhyDelayed,
  WhyEnded,
  WhyGated,
  WhyOrdered,
  WhySuspended,
  WhyWaiting,
} from "./why-types.ts";

const { ATTEMPTS, BLOCKED_JOB, COST, DELAYED_JOB, ENDED_JOB, ID, IN_STRAND, JOB_PREV, LEASE } =
  jobFields;
const { LEASED_JOB, TIME, WORKER } = jobFields;

/** Jobs counted to tell a job's place in its strand; further back it is only "at least". */
const PLACES_COUNTED = 1000;
/** Jobs looked at for one that holds a place, when the last that took one has ended. */
const HOLDERS_LOOKED_AT = 5000;

/**
 * Why a job is not running, as data. The words are made from it where jobs have their names.
 * Whatever the job waits for, the answer costs a bounded number of steps.
 */
export function why(core: Core, row: number, now: number): Why {
  const state = core.jobs.state(row);
  const at = core.jobs.num(row, TIME);
  if (state === DELAYED_JOB) return whyDelayed(core, row, at);
  if (state === BLOCKED_JOB) return whyBlocked(core, row);
  if (state === LEASED_JOB) {
    return { state: "running", worker: workerOf(core, row), until: at };
  }
  return state === ENDED_JOB ? whyEnded(core, row, at) : whyWaiting(core, row, now);
}

/** What a job is suspended for; undefined: it is delayed for another reason. */
function whySuspended(core: Core, row: number, until: number): WhySuspended | undefined {
  const book = core.jobs.extra(row)?.steps;
  if (book?.pending === undefined) return undefined;
  const { name: step, kind } = book.pending;
  const cause = kind === "sleep" ? "sleep" : kind === "wait" ? "signal" : "step-failed";
  const queue = core.queueOf(row).name;
  const error = book.steps.get(stepKey(book.pending))?.error;
  return {
    state: "delayed",
    queue,
    cause,
    step,
    ...(until === Number.POSITIVE_INFINITY ? {} : { until }),
    ...(error === undefined ? {} : { error }),
  };
}

function whyDelayed(core: Core, row: number, until: number): WhyDelayed | WhySuspended {
  const { jobs } = core;
  const suspended = whySuspended(core, row, until);
  if (suspended !== undefined) return suspended;
  const queue = core.queueOf(row);
  const why: WhyDelayed = { state: "delayed", queue: queue.name, cause: "delay", until };
  const dead = deadOf(core, row);
  if (dead !== undefined) why.dead = dead;
  if (jobs.int(row, LEASE) === 0) {
    if (hasRoom(core, queue, row)) return why;
    return { ...why, cause: "queue-full", waiting: queue.waiting };
  }
  const extra = jobs.extra(row);
  const event = extra?.history?.at(-1)?.event;
  const attempts = jobs.int(row, ATTEMPTS);
  if (event !== "failed" && event !== "expired" && event !== "retried") return why;
  why.cause = event === "retried" ? "retry-after" : event;
  why.attempt = attempts & 0xffff;
  why.attempts = attempts >>> 16;
  if (event !== "expired" && extra?.error !== undefined) why.error = extra.error;
  return why;
}

function whyEnded(core: Core, row: number, at: number): Why {
  // A dead job has not ended: it is a letter.
  const state = endStateOf(core.jobs.ending(row)!) as WhyEnded["state"];
  const extra = core.jobs.extra(row);
  const deadline = extra?.deadline ?? Number.POSITIVE_INFINITY;
  return {
    state,
    at,
    ...(extra?.error === undefined ? {} : { error: extra.error }),
    ...(state === "expired" && deadline !== Number.POSITIVE_INFINITY ? { deadline } : {}),
  };
}

/** A dead letter: where it came from and what became of it there; undefined for other jobs. */
function deadOf(core: Core, row: number): Dead | undefined {
  const extra = core.jobs.extra(row);
  if (extra?.origin === undefined) return undefined;
  const { queue: origin, attempts, reason } = extra.origin;
  const dead: Dead = { origin, attempts, reason };
  if (extra.error !== undefined) dead.error = extra.error;
  if (!core.byName.has(origin)) dead.isOriginGone = true;
  return dead;
}

function whyWaiting(core: Core, row: number, now: number): Why {
  const queue = core.queueOf(row);
  const dead = deadOf(core, row);
  if (dead !== undefined) return { state: "dead", queue: queue.name, dead };
  const waiting: WhyWaiting = {
    state: "waiting",
    reason: "ready",
    queue: queue.name,
    place: placeOf(core, row),
    urgent: urgentBefore(queue, core.tierOf(row)),
    workers: queue.workers.size + queue.workersInProcess.size,
    running: queue.leased,
  };
  if (queue.config.paused) return { ...waiting, reason: "paused" };
  if (isHeld(core, row)) return whyOrdered(core, row, waiting);
  const shut = shutGate(core, row, now);
  if (shut !== undefined) return whyGated(core, row, shut, waiting, now);
  if (queue.demand > 0 && !queue.canWork()) return { ...waiting, reason: "capacity" };
  if (!queue.canWork()) return { ...waiting, reason: "no-worker" };
  const lined = gatesOf(core, row).find((gate) => gate.inLine > 0 && gate.config !== undefined);
  if (lined !== undefined) return whyGated(core, row, lined, waiting, now);
  return waiting.place > 0 ? { ...waiting, reason: "behind" } : waiting;
}

function whyOrdered(core: Core, row: number, waiting: WhyWaiting): WhyOrdered {
  const first = core.lanes.get(core.laneOf(row), ORDER_FIRST);
  return { ...waiting, reason: "ordered", ahead: core.jobs.num(first, ID) };
}

/** Jobs that wait in more urgent tiers; 0 where tiers take turns by weight. */
function urgentBefore(queue: QueueState, tier: number): number {
  if (queue.config.tierOrder !== "strict") return 0;
  let before = 0;
  for (let i = 0; i < tier; i++) before += queue.waitingAt[i]!;
  return before;
}

function gatesOf(core: Core, row: number): readonly GateLine[] {
  return core.gates.set(core.lanes.get(core.jobs.int(row, IN_STRAND), GATES)).gates;
}

/**
 * The gate that a job waits for: one that is shut by its configuration, else one that opens when
 * another job ends, else the one that opens last, else one that keeps its permit for another job.
 */
function shutGate(core: Core, row: number, now: number): GateLine | undefined {
  const cost = core.jobs.int(row, COST);
  const tier = core.tierOf(row);
  let last: GateLine | undefined;
  let lastAt = now;
  for (const gate of gatesOf(core, row)) {
    if (isShutForGood(gate)) return gate;
    const at = gate.opensAt(cost, tier, now);
    if (at <= lastAt) continue;
    last = gate;
    lastAt = at;
  }
  return last ?? gatesOf(core, row).find((gate) => keeperOf(core, row, gate, now) !== 0);
}

function isShutForGood(gate: GateLine): boolean {
  return gate.config?.rate === 0;
}

/** The job for which a gate keeps its next permit, 0: this one could have it. */
function keeperOf(core: Core, row: number, gate: GateLine, now: number): number {
  if (gate.keeper === undefined) return 0;
  const { kept } = core.lines.claims;
  if (kept.leavesRoom(gate, core.jobs.int(row, COST), core.tierOf(row), now)) return 0;
  const keeper = core.lanes.get(gate.keeper.strand, HEAD);
  return keeper === row ? 0 : keeper;
}

function whyGated(
  core: Core,
  row: number,
  gate: GateLine,
  waiting: WhyWaiting,
  now: number,
): WhyGated {
  const cost = core.jobs.int(row, COST);
  const tier = core.tierOf(row);
  const part = gate.part(cost, tier, now) ?? "line";
  const at = gate.opensAt(cost, tier, now);
  const why: WhyGated = {
    ...waiting,
    reason: "gated",
    gate: gate.key,
    part: isShutForGood(gate) ? "rate" : part,
    until: at === Number.POSITIVE_INFINITY ? undefined : at,
    lanes: gate.inLine,
  };
  if (isShutForGood(gate)) return { ...why, shutBy: gate.pattern ?? gate.key, until: undefined };
  if (part === "cooldown" && gate.cooldownReason !== "") why.cooldownReason = gate.cooldownReason;
  if (at === Number.POSITIVE_INFINITY) why.holders = holdersOf(core, gate);
  const keeper = part === "line" ? keeperOf(core, row, gate, now) : 0;
  if (keeper !== 0) why.keptFor = keptFor(core, keeper, gate, now);
  const first = firstInLine(core, gate);
  const isOther = first !== 0 && first !== row && keeper === 0;
  // A job with several gates only takes its turn here: the next in line may have the permit.
  if (isOther && gatesOf(core, first).length === 1) {
    why.first = { id: core.jobs.num(first, ID), tier: core.tierOf(first) };
  }
  return why;
}

/** The jobs that hold what a gate has: how many, and one of them. */
function holdersOf(core: Core, gate: GateLine): NonNullable<WhyGated["holders"]> {
  const count = gate.placesTaken;
  const row = holderOf(core, gate);
  if (row === 0) return { count };
  return { count, id: core.jobs.num(row, ID), worker: workerOf(core, row) };
}

/**
 * A job that runs through a gate. While the gate is full that is the last one that took a place,
 * unless the limit was lowered since; then some jobs are looked at.
 */
function holderOf(core: Core, gate: GateLine): number {
  if (gate.inFlight === 0) return 0;
  if (isHolder(core, gate, gate.lastHolder)) return gate.lastHolder;
  const end = Math.min(core.jobs.end, HOLDERS_LOOKED_AT);
  for (let row = 1; row < end; row++) if (isHolder(core, gate, row)) return row;
  return 0;
}

function isHolder(core: Core, gate: GateLine, row: number): boolean {
  return core.jobs.state(row) === LEASED_JOB && gatesOf(core, row).includes(gate);
}

/** The job that a permit is kept for, and the gate that it waits for itself. */
function keptFor(
  core: Core,
  keeper: number,
  kept: GateLine,
  now: number,
): NonNullable<WhyGated["keptFor"]> {
  const id = core.jobs.num(keeper, ID);
  const cost = core.jobs.int(keeper, COST);
  const tier = core.tierOf(keeper);
  let gate: GateLine | undefined;
  let until = now;
  for (const other of gatesOf(core, keeper)) {
    const at = other.opensAt(cost, tier, now);
    if (other === kept || at <= until) continue;
    gate = other;
    until = at;
  }
  if (gate === undefined) return { id };
  const part = gate.part(cost, tier, now) ?? "line";
  const known = until === Number.POSITIVE_INFINITY ? {} : { until };
  return { id, gate: gate.key, part, ...known };
}

function workerOf(core: Core, row: number): string {
  return core.workers[core.jobs.int(row, WORKER)]!.name;
}

/** How many jobs of its strand, or of its order, are before it; counting stops at some point. */
function placeOf(core: Core, row: number): number {
  const isOrdered = isHeld(core, row);
  const head = isOrdered
    ? core.lanes.get(core.laneOf(row), ORDER_HEAD)
    : core.lanes.get(core.jobs.int(row, IN_STRAND), HEAD);
  let place = isOrdered ? 1 : 0;
  for (let at = row; at !== head && place < PLACES_COUNTED; at = core.jobs.int(at, JOB_PREV)) {
    place++;
  }
  return place;
}
