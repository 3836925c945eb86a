import type { Core } from "../core.ts";
import { linkMore } from "../flows/blocked.ts";
import { applyCancelFlow, applyRelease, applySeal } from "../flows/go-on.ts";
import { restoreEdges } from "../flows/records.ts";
import { endNode } from "../flows/settle.ts";
import {
  ADDED,
  ATTEMPTS,
  COST,
  DISPATCHED,
  ENDED_JOB,
  ID,
  IN_STRAND,
  LEASE,
  LEASED_JOB,
  SEQ,
  SIZE,
  TIME,
  WORKER,
} from "../jobs/job-fields.ts";
import { applyLog } from "../jobs/job-log.ts";
import type { Extra } from "../jobs/job-table.ts";
import { delay, enterStrand, hold, keep, note, unhold, unlink } from "../jobs/moves.ts";
import { becomeFirst, holdBack } from "../jobs/ordered.ts";
import { noteWall, retime, setWallAhead } from "../jobs/wall.ts";
import { applyLending } from "../lending/lender.ts";
import { enterDead } from "../queues/dead-letters.ts";
import { type QueueState, workerOf } from "../queues/queue-state.ts";
import { GATES, KIND, LEVEL, REFS } from "../ring/node-fields.ts";
import { applyTicked } from "../schedules/fire.ts";
import { applyStep } from "../steps/record-step.ts";
import { applySignal } from "../steps/signal.ts";
import { partKey, restoreSteps } from "../steps/steps-record.ts";
import { applySuspend } from "../steps/suspend.ts";
import { applyReplace } from "../verbs/add.ts";
import { watchWaits } from "../verbs/begin.ts";
import { applyTransfer } from "../verbs/by-hand.ts";
import { charge } from "../verbs/charge.ts";
import { markLeased } from "../verbs/dispatch.ts";
import { applyRevive, endJob, forgetKept, reportSuccess, takeOff, trimKept } from "../verbs/end.ts";
import { applyDeath, applyRedrive, applyRetry, report } from "../verbs/fail.ts";
import { deleteQueue, endPurge, purge, setGate, setLaneWeight, setQueue } from "../verbs/manage.ts";
import { applyDue, promote } from "../verbs/tick.ts";
import type { ExtraRecord, Fact, JobRecord, SignalledFact, StepFact } from "./facts.ts";

/** Puts a fact into effect. All decisions were made when the fact was emitted. */
export function apply(core: Core, fact: Fact): void {
  const now = core.clock(fact.at);
  core.isReplaying = true;
  try {
    switchFact(core, fact, now);
    while (core.chores.length > 0) if (core.chores[0]!(now)) core.chores.shift();
    core.lines.settle(now);
  } finally {
    core.isReplaying = false;
  }
}

function switchFact(core: Core, fact: Fact, now: number): void {
  switch (fact.fact) {
    case "queue":
      return setQueue(core, fact.name, fact.config);
    case "queue-deleted":
      return deleteQueue(core, core.queue(fact.name));
    case "purged":
      return purge(core, core.queue(fact.name), fact.upTo, fact.at);
    case "purge-ended":
      return endPurge(core, core.queue(fact.name));
    case "weight":
      return setLaneWeight(core, core.queue(fact.queue), fact.key, fact.weight);
    case "stored":
      if (fact.value === undefined) core.stores.delete(fact.store, fact.key, fact.at);
      else core.stores.put(fact.store, fact.key, fact.value, fact.at);
      return;
    case "schedule":
    case "schedule-deleted":
    case "ticked":
      return applySchedule(core, fact);
    case "job":
      return restoreJob(core, fact.job, now, true);
    case "moved":
      return applyMove(core, fact.job, now);
    case "ids":
      core.lastId = Math.max(core.lastId, fact.last);
      core.lastSeq = Math.max(core.lastSeq, fact.seq);
      return;
    case "wall":
      return setWallAhead(core, fact.aheadMs);
    case "level":
      core.level = { level: fact.level, needs: fact.needs };
      return;
    case "lease-secret":
      core.leaseSecret = fact.secret;
      return;
    case "life":
    case "borrower":
    case "lent":
    case "lots":
    case "lot-expired":
      return applyLending(core, fact, now);
    case "counters":
      return applyCounters(core.queue(fact.queue), fact);
    case "group":
    case "group-ended":
    case "group-held":
    case "group-released":
      return applyGroup(core, fact);
    case "answered":
      return core.operations.remember(fact.operation, fact.call, fact.answers, now, fact.since);
    case "flow":
    case "released":
      return applyFlow(core, fact);
    case "position":
      return restorePosition(core, fact);
    case "key-held":
      core.dedupes.hold(core.queue(fact.queue).serial, fact.key, fact.id, fact.until);
      return;
    case "gate":
    case "charged":
    case "gate-state":
    case "cooled":
    case "cleared":
    case "reported":
      return applyGateFact(core, fact, now);
    default:
      return applyJobFact(core, fact, core.ids.find(fact.id), now);
  }
}

function applyCounters(queue: QueueState, fact: Extract<Fact, { fact: "counters" }>): void {
  Object.assign(queue.counters, fact.counters);
  queue.isDlq = fact.isDlq;
}

type GroupFact = Extract<Fact, { fact: "group" | "group-ended" | "group-held" | "group-released" }>;

function applyGroup({ groups }: Core, fact: GroupFact): void {
  const { name } = fact;
  if (fact.fact === "group") groups.restore(name, fact.members, fact.ended, fact.held);
  else if (fact.fact === "group-ended") groups.endAllAwaited(name);
  else if (fact.fact === "group-held") groups.hold(name);
  else groups.release(name);
}

type ScheduleFact = Extract<Fact, { fact: "schedule" | "schedule-deleted" | "ticked" }>;

function applySchedule(core: Core, fact: ScheduleFact): void {
  if (fact.fact === "schedule") return void core.schedules.put(fact.key, fact.schedule);
  if (fact.fact === "schedule-deleted") return void core.schedules.delete(fact.key);
  const schedule = core.schedules.byKey.get(fact.key);
  // The fact of an unknown schedule comes later, with its state at that point.
  if (schedule === undefined) return;
  applyTicked(schedule, fact);
  core.schedules.retime(schedule);
}

function applyFlow(core: Core, fact: Extract<Fact, { fact: "flow" | "released" }>): void {
  if (fact.fact === "released") return applyReleased(core, fact.ids);
  core.lastId = Math.max(core.lastId, fact.flow);
  const flow = core.flows.needFlow(fact.flow);
  flow.until = fact.until;
  if (fact.state === "sealed") applySeal(core, flow);
  if (fact.state === "cancelled") applyCancelFlow(core, flow);
}

/** A job that is not known has also taken its place in the order. */
function applyReleased(core: Core, ids: readonly number[]): void {
  for (const id of ids) {
    const row = core.ids.find(id);
    if (row !== 0 && core.jobs.isNeeded(row)) applyRelease(core, row);
    else core.lastSeq++;
  }
}

type GateFact = Extract<
  Fact,
  { fact: "gate" | "charged" | "gate-state" | "cooled" | "cleared" | "reported" }
>;
type JobFact = Extract<Fact, { id: number }>;

function applyGateFact(core: Core, fact: GateFact, now: number): void {
  if (fact.fact === "charged") return charge(core, fact.key, fact.cost, now);
  if (fact.fact === "gate") return setGate(core, fact.key, fact.config, now);
  if (fact.fact === "reported") return report(core, fact.key, fact.ok, now);
  const gate = core.gates.gateOf(fact.key, now);
  if (fact.fact === "gate-state") {
    gate.load(fact.save, now);
    if (gate.lending !== undefined) core.gates.lenders.add(gate);
  } else if (fact.fact === "cooled") gate.cool(fact.until, fact.reason, now);
  else gate.clearCooldown();
  core.lines.changed(gate);
}

function applyJobFact(core: Core, fact: JobFact, row: number, now: number): void {
  if (row === 0) return passOver(core, fact);
  switch (fact.fact) {
    case "due":
      return applyDue(core, row, now, fact.until);
    case "leased":
      return applyLease(core, row, fact, now);
    case "extended":
      core.jobs.setNum(row, TIME, fact.until);
      return core.timers.move(row, fact.until);
    case "returned":
      note(core, row, "returned", now);
      unhold(core, row, now);
      enterStrand(core, row, now, true);
      return watchWaits(core, row);
    case "retried":
      for (const key of fact.blame) report(core, key, false, now);
      return applyRetry(core, row, fact, fact.until, now);
    case "ended":
      return applyEnd(core, row, fact, now);
    case "dead":
      for (const key of fact.blame) report(core, key, false, now);
      return applyDeath(core, row, fact, now);
    case "progress":
      core.jobs.needExtra(row).progress = fact.progress;
      return;
    case "logged":
      return applyLog(core, row, fact.lines, now);
    case "redriven":
      return applyRedrive(core, row, now);
    case "forgotten":
      if (core.jobs.state(row) === ENDED_JOB) forgetKept(core, row, core.queueOf(row));
      return;
    case "transferred":
      return applyTransfer(core, row, core.queue(fact.to), now);
    case "revived":
      return applyRevive(core, row, now);
    case "replaced":
      return applyReplace(core, row, fact.sizeBytes, fact.body, fact.until, now);
    case "follow-up":
      core.jobs.needExtra(row).followUp = fact.spec;
      return;
    case "promoted":
      return promote(core, row, fact.tier, now);
    case "linked":
      return linkMore(core, row, fact.after);
    case "step":
      return applyStep(core, row, { ...fact, body: fact.body }, now);
    case "suspended":
      return applySuspend(core, row, fact, now);
    case "signalled":
      return applySignal(core, row, fact, now);
  }
}

/**
 * The job is not known: its queue was deleted before its last fact was emitted, or its record comes
 * later, with its state at that point. The entry is counted as it was when the fact was emitted.
 */
function passOver(core: Core, fact: JobFact): void {
  if (fact.fact === "ended") core.groups.endAwaited(fact.id, fact.ending);
  if (fact.fact === "dead") core.groups.endAwaited(fact.id, "dead");
  const node = core.flows.unknownNode(fact.id);
  if (node !== 0 && fact.fact === "ended") endNode(core, node, fact.ending);
  if (node !== 0 && fact.fact === "dead") endNode(core, node, "dead");
  if (fact.fact === "step" || fact.fact === "signalled") keepPart(core, fact);
  if (fact.fact === "ended") dropParts(core, core.orphans.takeSteps(fact.id));
  if (NO_ENTRY.has(fact.fact)) return;
  if (fact.fact !== "replaced" || fact.until !== undefined) core.lastSeq++;
}

/** Keeps the part until the record of its job comes. */
function keepPart(core: Core, fact: StepFact | SignalledFact): void {
  if (fact.body === undefined) return;
  const { body, sizeBytes } = fact;
  const before = core.orphans.put(fact.id, partKey(fact), { body, sizeBytes });
  if (before !== undefined) dropParts(core, [before]);
}

/** Results and values that belong to no job. */
export function dropParts(
  core: Core,
  parts: readonly { body: unknown; sizeBytes: number }[],
): void {
  for (const { body, sizeBytes } of parts) core.gone(body, sizeBytes);
}

/** Facts by which no job takes a place in an order. */
const NO_ENTRY: ReadonlySet<Fact["fact"]> = new Set([
  "leased",
  "extended",
  "follow-up",
  "progress",
  "logged",
  "linked",
  "forgotten",
  "step",
  "signalled",
]);

function applyEnd(
  core: Core,
  row: number,
  fact: Extract<Fact, { fact: "ended" }>,
  now: number,
): void {
  if (fact.ending === "finished") reportSuccess(core, row, now);
  for (const key of fact.blame) report(core, key, false, now);
  takeOff(core, row, now);
  endJob(core, row, fact.ending, now, {
    error: fact.error,
    stack: fact.stack,
    result: fact.result,
    isNeeded: fact.needed === true,
    ...(fact.waited === undefined ? {} : { waited: fact.waited }),
  });
}

/** The job went out: lane and gates are charged as they were then. */
function applyLease(
  core: Core,
  row: number,
  fact: Extract<Fact, { fact: "leased" }>,
  now: number,
): void {
  const strand = core.jobs.int(row, IN_STRAND);
  const cost = core.jobs.int(row, COST);
  core.rings.charge(core.laneOf(row), cost);
  core.lines.force(strand, cost, now);
  const queue = core.queueOf(row);
  queue.counters.dispatched++;
  if (unlink(core, row)) core.lines.headChanged(strand, now);
  const worker = workerOf(core, queue, fact.worker, fact.inProcess === true);
  markLeased(core, row, worker, fact.lease, fact.until, now);
}

function restoreJob(core: Core, record: JobRecord, now: number, isNew: boolean): void {
  const { jobs, lanes } = core;
  const queue = core.queue(record.queue);
  const lane = lanes.laneOf(
    queue.tiers[record.tier]!,
    record.path.length === 1 ? record.path[0]! : record.path,
  );
  if (record.weight !== 0) lanes.setWeight(lane, record.weight);
  const strand = core.strandOf(lane, core.gates.setOf(record.gates, now));
  lanes.use(strand);
  const row = jobs.alloc();
  jobs.setNum(row, ID, record.id);
  jobs.setNum(row, ADDED, record.addedAt);
  jobs.setPlace(row, strand, queue.index, record.tier);
  jobs.setInt(row, ATTEMPTS, (record.attempts << 16) | record.attempt);
  jobs.setInt(row, COST, record.cost);
  jobs.setInt(row, SIZE, record.sizeBytes);
  jobs.setInt(row, LEASE, record.lease);
  jobs.setInt(row, DISPATCHED, record.dispatchedMs);
  jobs.bodies.set(row, record.body);
  if (record.policyGates === true) jobs.setPolicyGates(row);
  if (record.ordered === true) jobs.setOrdered(row);
  core.ids.insert(row);
  if (record.extra !== undefined) restoreExtra(core, row, record.extra, queue.serial);
  restoreRun(core, row, record, isNew);
  core.lastId = Math.max(core.lastId, record.id);
  if (isNew) queue.counters.added++;
  if (record.extra?.origin !== undefined && record.state !== "ended") enterDead(core, queue, row);
  placeJob(core, row, record, strand);
  restoreEdges(core, row, record);
  // The record may have been emitted before a walk reached the job.
  retime(core, row);
  core.lastSeq = Math.max(core.lastSeq, record.seq);
}

/** The run of a schedule; one that has ended, or died, is known to be over. */
function restoreRun(core: Core, row: number, { extra }: JobRecord, isNew: boolean): void {
  const run = extra?.schedule;
  if (run === undefined) return;
  core.jobs.needExtra(row).schedule = { ...run };
  core.schedules.runBegan(run, isNew);
}

/** Who knows the job already learns nothing, but where its body is now. */
function applyMove(core: Core, record: JobRecord, now: number): void {
  const row = core.ids.find(record.id);
  if (row === 0) return restoreJob(core, record, now, false);
  core.bodyGone(row);
  core.jobs.bodies.set(row, record.body);
}

function placeJob(core: Core, row: number, record: JobRecord, strand: number): void {
  const queue = core.queueOf(row);
  const { state } = record;
  // A blocked job takes its place in the order of its lane when it is unblocked.
  const isOpen = state !== "ended" && state !== "blocked" && record.extra?.origin === undefined;
  if (record.held === true) return holdBack(core, row, record.time, record.seq);
  if (record.ordered === true && isOpen) becomeFirst(core, row);
  if (record.state === "waiting") {
    enterStrand(core, row, record.time, false, record.seq);
    watchWaits(core, row);
  } else if (record.state === "delayed") delay(core, row, record.time, record.seq);
  else if (record.state === "leased") {
    for (const gate of core.gates.set(core.lanes.get(strand, GATES)).gates) gate.hold();
    // The place that it takes when it is given back.
    core.jobs.setNum(row, SEQ, record.seq);
    const worker = workerOf(core, queue, record.worker, record.inProcess === true);
    hold(core, row, worker, record.time);
  } else if (record.state === "ended") {
    core.jobs.setEnding(row, record.ending);
    if (record.needed === true) return placeNeeded(core, row, record);
    keep(core, row, queue, record.time, record.seq);
    // Those that ended while it was unknown may have taken its place.
    trimKept(core, queue);
  }
}

/** It is in no list: other jobs keep it. */
function placeNeeded(core: Core, row: number, record: JobRecord): void {
  core.jobs.setState(row, ENDED_JOB);
  core.jobs.setNum(row, TIME, record.time);
  core.jobs.setNum(row, SEQ, record.seq);
}

function restoreExtra(core: Core, row: number, record: ExtraRecord, serial: number): void {
  const extra = core.jobs.needExtra(row);
  const id = core.jobs.num(row, ID);
  extra.deadline = record.deadline ?? Number.POSITIVE_INFINITY;
  extra.wallDeadline = record.wallDeadline ?? Number.POSITIVE_INFINITY;
  extra.runAt = record.runAt ?? Number.POSITIVE_INFINITY;
  noteWall(core, extra.wallDeadline);
  noteWall(core, extra.runAt);
  extra.maxWaitMs = record.maxWaitMs ?? Number.POSITIVE_INFINITY;
  extra.followUp = record.followUp;
  extra.leaseMs = record.leaseMs ?? 0;
  extra.backoff = record.backoff;
  extra.error = record.error;
  extra.failure = 0;
  extra.stack = record.stack;
  extra.progress = record.progress;
  extra.log = record.log;
  extra.worker = record.worker;
  extra.leasesBefore = record.leasesBefore ?? 0;
  extra.generation = record.generation ?? 0;
  extra.result = record.result;
  extra.waited = record.waited;
  extra.history = record.history === undefined ? undefined : [...record.history];
  if (record.steps !== undefined) extra.steps = restoreSteps(core, id, record.steps);
  extra.origin = originOf(record, core.jobs.num(row, ADDED));
  if (record.group !== undefined) {
    extra.group = core.groups.join(record.group, id);
    core.groups.close(record.group);
  }
  if (record.dedupe === undefined) return;
  const until = record.dedupe.until ?? Number.POSITIVE_INFINITY;
  extra.dedupe = core.dedupes.hold(serial, record.dedupe.key, id, until);
  extra.dedupeMode = record.dedupe.mode;
}

/** A record of a log that was written before letters had a time has it in the job's history. */
function originOf(record: ExtraRecord, addedAt: number): Extra["origin"] {
  const { origin, diedAt, history } = record;
  if (origin === undefined) return undefined;
  const death = history?.findLast(({ event }) => event === "dead");
  return { ...origin, at: diedAt ?? death?.at ?? addedAt };
}

function restorePosition(core: Core, fact: Extract<Fact, { fact: "position" }>): void {
  const tier = core.queue(fact.queue).tiers[fact.tier]!;
  let node = core.lanes.findNode(tier, fact.path);
  if (node === 0) {
    // A level that is not there yet is a lane at first: it keeps the position when it is raised.
    node = core.lanes.laneOf(tier, fact.path.length === 1 ? fact.path[0]! : fact.path);
    if (core.lanes.get(node, REFS) === 0) core.rings.linkIdle(node);
  } else if ((core.lanes.get(node, KIND) === LEVEL) !== fact.isLevel) return;
  core.rings.restore(node, fact.rounds, fact.rem);
}

/**
 * The process that emitted the facts has ended with its own workers: their leases run out now.
 * Leases of workers elsewhere keep their time, because those workers may still ack them.
 */
export function endInProcess(core: Core, now: number): void {
  const { jobs, timers } = core;
  let isHeld = false;
  for (const queue of core.byName.values()) {
    for (const worker of queue.workersInProcess.values()) {
      worker.isGone = true;
      isHeld = true;
    }
    queue.workersInProcess.clear();
  }
  if (!isHeld) return;
  for (let row = 1; row < jobs.end; row++) {
    if (jobs.state(row) !== LEASED_JOB || jobs.num(row, TIME) <= now) continue;
    if (core.workers[jobs.int(row, WORKER)]?.isGone !== true) continue;
    jobs.setNum(row, TIME, now);
    timers.move(row, now);
  }
}
