import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { gateKeys } from "../facts/record.ts";
import { endNode } from "../flows/settle.ts";
import { backoffMs } from "../jobs/backoff.ts";
import {
  ATTEMPTS,
  COST,
  ID,
  IN_STRAND,
  LEASE,
  LEASED_JOB,
  TIME,
  WORKER,
} from "../jobs/job-fields.ts";
import { changeStrand, delay, enterStrand, note, putBackInPlace, unhold } from "../jobs/moves.ts";
import { deadlineOf } from "../jobs/wall.ts";
import { feedLadder, tellCooldown } from "../lending/news.ts";
import { enterDead, isLetter, leaveDead, letterQueueConfig } from "../queues/dead-letters.ts";
import type { QueueState } from "../queues/queue-state.ts";
import { GATES, OWN } from "../ring/node-fields.ts";
import { forgetFailures } from "../steps/notebook.ts";
import type { JobSpec, NackOptions } from "../types.ts";
import { addFollowUp, start, watchWaits } from "./begin.ts";
import {
  endJob,
  isBusy,
  keepError,
  leaveEnded,
  refuseForgotten,
  releaseNames,
  takeOff,
} from "./end.ts";
import { leaveOrder, startInOrder } from "./order.ts";

const DELIVERIES_USED_UP = "deliveries used up";

/** A leased job failed: it is retried, dead or, past its deadline, expired. */
export function nack(core: Core, row: number, options: NackOptions, now: number): void {
  if (options.cooldown !== undefined) return coolDown(core, row, options, now);
  const blame = blamed(core, row, options);
  for (const key of blame) report(core, key, false, now);
  fail(core, row, "failed", options, blame, now);
}

/** The provider asked for time: its gate cools down, and the job has lost no attempt. */
function coolDown(core: Core, row: number, options: NackOptions, now: number): void {
  const { gate: key, ms, reason } = options.cooldown!;
  const gate = core.gates.gateOf(key, now);
  const until = now + ms;
  gate.cool(until, reason ?? "retry after", now);
  core.tell({ at: now, fact: "cooled", key, until, reason: reason ?? "retry after" });
  tellCooldown(core, gate, now);
  core.lines.changed(gate);
  // The cooldown is enough, unless the call also blames gates.
  const blame = options.blame === undefined ? [] : blamed(core, row, options);
  for (const blamedKey of blame) report(core, blamedKey, false, now);
  const isOwn = gateKeys(core, row).includes(key);
  const delayMs = options.delayMs ?? (isOwn ? 0 : ms);
  const attempt = core.jobs.int(row, ATTEMPTS) & 0xffff;
  if (isPastDeadline(core, row, now)) return expire(core, row, options, blame, now);
  const { error, stack } = options;
  const failure = { event: "retried" as const, attempt, error, stack, blame };
  if (!isLetter(core, row) && isOverDelivered(core, row)) {
    return die(core, row, DELIVERIES_USED_UP, failure, now);
  }
  retry(core, row, failure, now + delayMs, now);
}

/** Ends a leased job whose deadline has passed; false: it may go on. */
export function expireIfLate(core: Core, row: number, now: number): boolean {
  if (!isPastDeadline(core, row, now)) return false;
  expire(core, row, {}, [], now);
  return true;
}

/** The job waits again at the front of its strand or, past its deadline, expires. */
export function giveBack(core: Core, row: number, now: number): void {
  if (expireIfLate(core, row, now)) return;
  const queue = core.queueOf(row).name;
  core.tell({ at: now, fact: "returned", id: core.jobs.num(row, ID), queue });
  note(core, row, "returned", now);
  unhold(core, row, now);
  enterStrand(core, row, now, true);
  watchWaits(core, row);
}

/**
 * The lease has run out. In a queue that asks first it lasts on for a moment, and the caller says
 * how it failed; without another attempt there is nothing to decide.
 */
export function leaseOver(core: Core, row: number, now: number): void {
  const { askMs, name: queue } = core.queueOf(row);
  const attempts = core.jobs.int(row, ATTEMPTS);
  const isAsked = askMs > 0 && (attempts & 0xffff) + 1 < attempts >>> 16;
  if (!isAsked) return expireLease(core, row, {}, now);
  const until = now + askMs;
  const lease = core.jobs.int(row, LEASE);
  core.overdue.push({ id: core.jobs.num(row, ID), lease, queue, until });
  extendLease(core, row, until, now);
}

/** The worker is taken to be dead, and the attempt counts. */
export function expireLease(core: Core, row: number, options: NackOptions, now: number): void {
  const isGone = core.workers[core.jobs.int(row, WORKER)]?.isGone === true;
  const error = isGone ? "the process of the worker ended" : "the lease expired";
  fail(core, row, "expired", { ...options, error, stack: undefined }, [], now);
}

export function extendLease(core: Core, row: number, until: number, now: number): void {
  core.jobs.setNum(row, TIME, until);
  core.timers.move(row, until);
  core.tell({ at: now, fact: "extended", id: core.jobs.num(row, ID), until });
}

function fail(
  core: Core,
  row: number,
  event: Failure["event"],
  options: NackOptions,
  blame: readonly string[],
  now: number,
): void {
  const { error, stack } = options;
  const attempts = core.jobs.int(row, ATTEMPTS);
  const attempt = (attempts & 0xffff) + 1;
  if (isPastDeadline(core, row, now)) return expire(core, row, options, blame, now);
  const failure = { event, attempt: Math.min(attempt, 0xffff), error, stack, blame };
  if (isLetter(core, row)) return retryIn(core, row, failure, options.delayMs, now);
  if (options.unrecoverable === true) return die(core, row, "unrecoverable", failure, now);
  if (attempt >= attempts >>> 16) return die(core, row, "attempts used up", failure, now);
  if (isOverDelivered(core, row)) return die(core, row, DELIVERIES_USED_UP, failure, now);
  retryIn(core, row, failure, options.delayMs, now);
}

/** A letter waits as long as its queue says: its own options were for the queue it left. */
function retryIn(
  core: Core,
  row: number,
  failure: Failure,
  delayMs: number | undefined,
  now: number,
): void {
  const { retry: policy } = core.queueOf(row).config;
  const own = isLetter(core, row) ? undefined : core.jobs.extra(row)?.backoff;
  const id = core.jobs.num(row, ID);
  const ms = delayMs ?? backoffMs({ ...policy, ...own }, core.seed, id, failure.attempt);
  retry(core, row, failure, now + ms, now);
}

function isPastDeadline(core: Core, row: number, now: number): boolean {
  return deadlineOf(core, row) <= now;
}

function isOverDelivered(core: Core, row: number): boolean {
  return core.jobs.deliveries(row) >= core.queueOf(row).config.retry.deliveries;
}

function expire(
  core: Core,
  row: number,
  { error, stack }: NackOptions,
  blame: readonly string[],
  now: number,
): void {
  unhold(core, row, now);
  endJob(core, row, "expired", now, { error, stack, blame });
}

function retry(core: Core, row: number, failure: Failure, until: number, now: number): void {
  if (core.tells) {
    const { error, stack, ...rest } = failure;
    const fact = { at: now, fact: "retried" as const, id: core.jobs.num(row, ID), until, ...rest };
    core.tell({ ...fact, queue: core.queueOf(row).name, ...said(error, stack) });
  }
  applyRetry(core, row, failure, until, now);
}

/** What a fact says of an error; nothing where nothing was said. */
function said(
  error: string | undefined,
  stack: string | undefined,
): { error?: string; stack?: string } {
  return {
    ...(error === undefined ? {} : { error }),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** How a delivery failed, and how many attempts are used up by now. */
export interface Failure {
  event: "failed" | "expired" | "retried";
  attempt: number;
  error?: string | undefined;
  stack?: string | undefined;
  blame: readonly string[];
}

export function applyRetry(
  core: Core,
  row: number,
  { event, attempt, error, stack }: Failure,
  until: number,
  now: number,
): void {
  const attempts = core.jobs.int(row, ATTEMPTS);
  core.jobs.setInt(row, ATTEMPTS, (attempts & ~0xffff) | attempt);
  core.queueOf(row).counters.retried++;
  note(core, row, event, now, error);
  // A letter keeps the error that it died of: that is what its readers look for.
  const isDead = isLetter(core, row);
  if (!isDead) keepError(core.jobs.needExtra(row), error, stack);
  unhold(core, row, now);
  forgetFailures(core, row);
  if (isDead) putBackInPlace(core, row, until, now);
  else if (until > now) delay(core, row, until);
  else start(core, row, now);
}

/** Reports to the ladders of a job's gates: those blamed, or all that have one. */
function blamed(core: Core, row: number, { blame, spare = [] }: NackOptions): readonly string[] {
  if (blame === false) return [];
  if (blame !== undefined) return blame;
  const set = core.gates.set(core.lanes.get(core.jobs.int(row, IN_STRAND), GATES));
  const withLadder = set.gates.filter((gate) => gate.config?.ladder !== undefined);
  return withLadder.map((gate) => gate.key).filter((key) => !spare.includes(key));
}

export function report(core: Core, key: string, ok: boolean, now: number): void {
  const gate = core.gates.gateOf(key, now);
  feedLadder(core, gate, ok, now);
  core.lines.changed(gate);
}

/** No more of it: to the dead letter queue, or ended when there is none. */
function die(core: Core, row: number, reason: string, failure: Failure, now: number): void {
  const queue = core.queueOf(row);
  const { error, stack, blame, attempt: attempts } = failure;
  if (queue.config.dlq === false) {
    unhold(core, row, now);
    endJob(core, row, "failed", now, { error: error ?? reason, stack, blame });
    return;
  }
  const followUp = core.jobs.extra(row)?.followUp;
  dlqOf(core, queue, now);
  if (core.tells) {
    const fact = { at: now, fact: "dead" as const, id: core.jobs.num(row, ID), reason, blame };
    const isUsed = attempts > (core.jobs.int(row, ATTEMPTS) & 0xffff);
    const more = { queue: queue.name, ...said(error, stack), ...(isUsed ? {} : { attempts }) };
    core.tell({ ...fact, ...more });
  }
  applyDeath(core, row, { reason, attempts, error, stack }, now);
  if (followUp !== undefined) addFollowUp(core, queue, followUp, now);
}

/** The dead letter queue of a queue, made on first use. */
function dlqOf(core: Core, queue: QueueState, now: number): QueueState {
  const name = queue.config.dlq as string;
  const known = core.byName.get(name);
  if (known !== undefined) return known;
  const config = letterQueueConfig(core, name);
  core.tell({ at: now, fact: "queue", name, config });
  return core.makeQueue(name, config);
}

export interface Death {
  reason: string;
  attempts?: number | undefined;
  error?: string | undefined;
  stack?: string | undefined;
}

/** The job becomes a letter: it has all its attempts again, and no deadline but the retention. */
export function applyDeath(core: Core, row: number, death: Death, now: number): void {
  const { jobs } = core;
  const { reason, error, stack } = death;
  const queue = core.queueOf(row);
  const target = dlqOf(core, queue, now);
  queue.counters.dead++;
  note(core, row, "dead", now, error ?? reason);
  const extra = jobs.needExtra(row);
  const attempts = death.attempts ?? (jobs.int(row, ATTEMPTS) & 0xffff) + 1;
  keepError(extra, error, stack);
  unhold(core, row, now);
  forgetFailures(core, row);
  const spec = specOf(core, row);
  leaveOrder(core, row, now);
  releaseNames(core, row, "dead", error ?? extra.error ?? reason);
  extra.origin = { queue: queue.name, spec, attempts, reason, at: now };
  jobs.nextGeneration(row);
  jobs.setInt(row, ATTEMPTS, jobs.int(row, ATTEMPTS) & ~0xffff);
  extra.deadline = now + (target.config.retentionMs ?? Number.POSITIVE_INFINITY);
  extra.wallDeadline = Number.POSITIVE_INFINITY;
  extra.maxWaitMs = Number.POSITIVE_INFINITY;
  const key = target.config.fairness ? core.lanes.keyOf(core.laneOf(row)) : "";
  const lane = core.lanes.laneOf(target.tiers[0]!, key);
  changeStrand(core, row, core.strandOf(lane, core.gates.set(0)));
  enterDead(core, target, row);
  enterStrand(core, row, now);
  if (jobs.node(row) !== 0) endNode(core, jobs.node(row), "dead");
}

/** What a job needs to go back to where it came from. */
export function specOf(core: Core, row: number): JobSpec {
  const lane = core.laneOf(row);
  const own = core.lanes.get(lane, OWN);
  const extra = core.jobs.extra(row);
  return {
    fairnessKey: core.lanes.keyOf(lane),
    priority: core.tierOf(row),
    gates: gateKeys(core, row),
    cost: core.jobs.int(row, COST),
    ...(own === 0 ? {} : { weight: own }),
    ...(extra === undefined || extra.maxWaitMs === Number.POSITIVE_INFINITY
      ? {}
      : { maxWaitMs: extra.maxWaitMs }),
  };
}

/** Puts a letter back into the queue it came from, with all its attempts and deliveries. */
export function redrive(core: Core, row: number, now: number): void {
  core.tell({ at: now, fact: "redriven", id: core.jobs.num(row, ID) });
  applyRedrive(core, row, now);
}

/** Does so with one letter that was asked for by its id, also when it has ended and is kept. */
export function retryLetter(core: Core, row: number, now: number): void {
  if (core.jobs.state(row) === LEASED_JOB) throw isBusy(core, row);
  refuseForgotten(core, row);
  const { queue } = core.jobs.extra(row)!.origin!;
  if (!core.byName.has(queue)) {
    const message = `the letter came from queue ${queue}, which does not exist: create it first`;
    throw new Refusal("QUEUE_NOT_FOUND", message, { field: "queue", value: queue });
  }
  redrive(core, row, now);
}

export function applyRedrive(core: Core, row: number, now: number): void {
  const { jobs, lanes } = core;
  const extra = jobs.needExtra(row);
  const { spec, queue: name } = extra.origin!;
  const queue = core.byName.get(name)!;
  const letters = core.queueOf(row);
  if (takeOff(core, row, now)) leaveDead(core, letters, row);
  else {
    leaveEnded(core, row, letters);
    jobs.setEnding(row, undefined);
  }
  const tier = Math.min(spec.priority as number, queue.tiers.length - 1);
  const key = queue.config.fairness ? spec.fairnessKey! : "";
  const lane = lanes.laneOf(queue.tiers[tier]!, key);
  if (spec.weight !== undefined) lanes.setWeight(lane, spec.weight);
  const set = core.gates.setOf(spec.gates, now);
  changeStrand(core, row, core.strandOf(lane, set));
  jobs.setInt(row, ATTEMPTS, jobs.int(row, ATTEMPTS) & ~0xffff);
  jobs.resetDeliveries(row);
  jobs.nextGeneration(row);
  jobs.setInt(row, COST, spec.cost!);
  extra.maxWaitMs = spec.maxWaitMs ?? Number.POSITIVE_INFINITY;
  extra.deadline = Number.POSITIVE_INFINITY;
  extra.origin = undefined;
  note(core, row, "redriven", now);
  queue.counters.redriven++;
  startInOrder(core, row, now);
}
