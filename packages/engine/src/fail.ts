import { addFollowUp, start, watchWaits } from "./add.ts";
import { backoffMs } from "./backoff.ts";
import type { Core } from "./core.ts";
import { endJob, releaseNames } from "./end.ts";
import { ATTEMPTS, COST, ID, IN_FLOW, LEASE, TIME, WORKER } from "./job-fields.ts";
import { changeFlow, delay, enterFlow, note, unhold } from "./moves.ts";
import { feedLadder, tellCooldown } from "./news.ts";
import { GATES, OWN } from "./nodes.ts";
import { parseQueueConfig } from "./parse-queue.ts";
import type { Queue } from "./queue.ts";
import { gateKeys } from "./record.ts";
import type { JobSpec, NackOptions } from "./types.ts";

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
  // The cooldown says all there is to say, unless somebody is blamed besides.
  const blame = options.blame === undefined ? [] : blamed(core, row, options);
  for (const blamedKey of blame) report(core, blamedKey, false, now);
  const isOwn = gateKeys(core, row).includes(key);
  const delayMs = options.delayMs ?? (isOwn ? 0 : ms);
  const attempt = core.jobs.int(row, ATTEMPTS) & 0xffff;
  if (isPastDeadline(core, row, now)) return expire(core, row, options.error, blame, now);
  retry(core, row, "retried", attempt, now + delayMs, options.error, blame, now);
}

/** The job waits again at the front of its flow or, past its deadline, expires. */
export function giveBack(core: Core, row: number, now: number): void {
  if (isPastDeadline(core, row, now)) return expire(core, row, undefined, [], now);
  core.tell({ at: now, fact: "returned", id: core.jobs.num(row, ID) });
  note(core, row, "returned", now);
  unhold(core, row, now);
  enterFlow(core, row, now, true);
  watchWaits(core, row);
}

/** The lease has run out; whoever decides on failures may want to be asked before it counts. */
export function leaseOver(core: Core, row: number, now: number): void {
  const { jobs, onLeaseOver } = core;
  const lease = jobs.int(row, LEASE);
  const ms = onLeaseOver?.(jobs.num(row, ID), lease, core.queueOf(row).name, now) ?? 0;
  if (ms > 0) extendLease(core, row, now + ms, now);
  else expireLease(core, row, {}, now);
}

/** The worker is taken to be dead, and the attempt counts. */
export function expireLease(core: Core, row: number, options: NackOptions, now: number): void {
  const isGone = core.workers[core.jobs.int(row, WORKER)]?.isGone === true;
  const error = isGone ? "the process of the worker ended" : "the lease expired";
  fail(core, row, "expired", { ...options, error }, [], now);
}

export function extendLease(core: Core, row: number, until: number, now: number): void {
  core.jobs.setNum(row, TIME, until);
  core.timers.move(row, until);
  core.tell({ at: now, fact: "extended", id: core.jobs.num(row, ID), until });
}

function fail(
  core: Core,
  row: number,
  event: "failed" | "expired",
  options: NackOptions,
  blame: readonly string[],
  now: number,
): void {
  const attempts = core.jobs.int(row, ATTEMPTS);
  const attempt = (attempts & 0xffff) + 1;
  if (isPastDeadline(core, row, now)) return expire(core, row, options.error, blame, now);
  if (options.unrecoverable === true || attempt >= attempts >>> 16) {
    const reason = options.unrecoverable === true ? "unrecoverable" : "attempts used up";
    return die(core, row, reason, options.error, blame, now);
  }
  const policy = { ...core.queueOf(row).config.retry, ...core.jobs.extra(row)?.backoff };
  const delayMs = options.delayMs ?? backoffMs(policy, core.seed, core.jobs.num(row, ID), attempt);
  retry(core, row, event, attempt, now + delayMs, options.error, blame, now);
}

function isPastDeadline(core: Core, row: number, now: number): boolean {
  return (core.jobs.extra(row)?.deadline ?? Number.POSITIVE_INFINITY) <= now;
}

function expire(
  core: Core,
  row: number,
  error: string | undefined,
  blame: readonly string[],
  now: number,
): void {
  unhold(core, row, now);
  endJob(core, row, "expired", now, { error, blame });
}

function retry(
  core: Core,
  row: number,
  event: "failed" | "expired" | "retried",
  attempt: number,
  until: number,
  error: string | undefined,
  blame: readonly string[],
  now: number,
): void {
  if (core.tells) {
    const fact = { at: now, fact: "retried" as const, id: core.jobs.num(row, ID), attempt, until };
    core.tell(error === undefined ? { ...fact, event, blame } : { ...fact, event, blame, error });
  }
  applyRetry(core, row, event, attempt, until, error, now);
}

export function applyRetry(
  core: Core,
  row: number,
  event: "failed" | "expired" | "retried",
  attempt: number,
  until: number,
  error: string | undefined,
  now: number,
): void {
  const attempts = core.jobs.int(row, ATTEMPTS);
  core.jobs.setInt(row, ATTEMPTS, (attempts & ~0xffff) | attempt);
  core.queueOf(row).counters.retried++;
  note(core, row, event, now, error);
  if (error !== undefined) core.jobs.needExtra(row).error = error;
  unhold(core, row, now);
  if (until > now) delay(core, row, until);
  else start(core, row, now);
}

/** Reports to the ladders of a job's gates: those blamed, or all that have one. */
function blamed(core: Core, row: number, { blame, spare = [] }: NackOptions): readonly string[] {
  if (blame === false) return [];
  if (blame !== undefined) return blame;
  const set = core.gates.set(core.lanes.get(core.jobs.int(row, IN_FLOW), GATES));
  const withLadder = set.gates.filter((gate) => gate.config?.ladder !== undefined);
  return withLadder.map((gate) => gate.key).filter((key) => !spare.includes(key));
}

export function report(core: Core, key: string, ok: boolean, now: number): void {
  const gate = core.gates.gateOf(key, now);
  feedLadder(core, gate, ok, now);
  core.lines.changed(gate);
}

/** No more attempts: to the dead letter queue, or ended when there is none. */
function die(
  core: Core,
  row: number,
  reason: string,
  error: string | undefined,
  blame: readonly string[],
  now: number,
): void {
  if (core.queueOf(row).config.dlq === false) {
    unhold(core, row, now);
    endJob(core, row, "failed", now, { error: error ?? reason, blame });
    return;
  }
  const queue = core.queueOf(row);
  const followUp = core.jobs.extra(row)?.followUp;
  dlqOf(core, queue, now);
  if (core.tells) {
    const fact = { at: now, fact: "dead" as const, id: core.jobs.num(row, ID), reason, blame };
    core.tell(error === undefined ? fact : { ...fact, error });
  }
  applyDeath(core, row, reason, error, now);
  if (followUp !== undefined) addFollowUp(core, queue, followUp, now);
}

/** The dead letter queue of a queue, made on first use. */
function dlqOf(core: Core, queue: Queue, now: number): Queue {
  const name = queue.config.dlq as string;
  const known = core.byName.get(name);
  if (known !== undefined) return known;
  const config = parseQueueConfig(name, {});
  core.tell({ at: now, fact: "queue", name, config });
  return core.makeQueue(name, config);
}

export function applyDeath(
  core: Core,
  row: number,
  reason: string,
  error: string | undefined,
  now: number,
): void {
  const { jobs } = core;
  const queue = core.queueOf(row);
  const target = dlqOf(core, queue, now);
  queue.counters.dead++;
  note(core, row, "dead", now, error ?? reason);
  const extra = jobs.needExtra(row);
  const attempt = (jobs.int(row, ATTEMPTS) & 0xffff) + 1;
  extra.error = error ?? extra.error;
  extra.origin = { queue: queue.name, spec: specOf(core, row), attempts: attempt, reason };
  jobs.setInt(row, ATTEMPTS, (jobs.int(row, ATTEMPTS) & ~0xffff) | attempt);
  unhold(core, row, now);
  releaseNames(core, row, "dead");
  extra.deadline = extra.wallDeadline = Number.POSITIVE_INFINITY;
  extra.maxWaitMs = Number.POSITIVE_INFINITY;
  const key = target.config.fairness ? core.lanes.keyOf(core.laneOf(row)) : "";
  const lane = core.lanes.laneOf(target.tiers[0]!, key);
  changeFlow(core, row, core.lines.claims.flowOfSet(lane, core.gates.set(0)));
  target.isDlq = true;
  enterFlow(core, row, now);
}

/** What a job needs to go back to where it came from. */
function specOf(core: Core, row: number): JobSpec {
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

/** Puts a dead job back into the queue it came from, with all its attempts. */
export function applyRedrive(core: Core, row: number, queue: Queue, now: number): void {
  const { jobs, lanes } = core;
  const extra = jobs.needExtra(row);
  const { spec } = extra.origin!;
  const tier = Math.min(spec.priority as number, queue.tiers.length - 1);
  const key = queue.config.fairness ? (spec.fairnessKey ?? "") : "";
  const lane = lanes.laneOf(queue.tiers[tier]!, key);
  if (spec.weight !== undefined) lanes.setWeight(lane, spec.weight);
  const set = core.gates.setOf(spec.gates, now);
  changeFlow(core, row, core.lines.claims.flowOfSet(lane, set));
  jobs.setInt(row, ATTEMPTS, jobs.int(row, ATTEMPTS) & ~0xffff);
  jobs.setInt(row, COST, spec.cost!);
  extra.maxWaitMs = spec.maxWaitMs ?? Number.POSITIVE_INFINITY;
  extra.origin = undefined;
  note(core, row, "redriven", now);
  queue.counters.redriven++;
  start(core, row, now);
}
