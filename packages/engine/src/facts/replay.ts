import type { Core } from "../core.ts";
import {
  ADDED,
  ATTEMPTS,
  COST,
  DISPATCHED,
  ID,
  IN_STRAND,
  LEASE,
  LEASED_JOB,
  SEQ,
  SIZE,
  TIME,
  WORKER,
} from "../jobs/job-fields.ts";
import type { Extra } from "../jobs/job-table.ts";
import { delay, enterStrand, hold, keep, note, unhold, unlink } from "../jobs/moves.ts";
import { noteWall, retime, setWallAhead } from "../jobs/wall.ts";
import { applyLending } from "../lending/lender.ts";
import { enterDead } from "../queues/dead-letters.ts";
import { workerOf } from "../queues/queue-state.ts";
import { GATES, KIND, LEVEL, REFS } from "../ring/node-fields.ts";
import { applyReplace } from "../verbs/add.ts";
import { watchWaits } from "../verbs/begin.ts";
import { markLeased } from "../verbs/dispatch.ts";
import { applyRevive, endJob, forgetKept, reportSuccess, takeOff } from "../verbs/end.ts";
import { applyDeath, applyRedrive, applyRetry, report } from "../verbs/fail.ts";
import { deleteQueue, endPurge, purge, setGate, setLaneWeight, setQueue } from "../verbs/manage.ts";
import { applyDue, promote } from "../verbs/tick.ts";
import type { ExtraRecord, Fact, JobRecord } from "./facts.ts";

/** Puts a fact into effect. It was decided when it was told; here it only happens. */
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
      Object.assign(core.queue(fact.queue).counters, fact.counters);
      core.queue(fact.queue).isDlq = fact.isDlq;
      return;
    case "group-ended":
      return core.groups.endAllAwaited(fact.name);
    case "group":
      return core.groups.restore(fact.name, fact.members, fact.ended, fact.held);
    case "answered":
      return core.operations.remember(fact.operation, fact.call, fact.answers, now, fact.since);
    case "group-held":
      core.groups.hold(fact.name);
      return;
    case "group-released":
      core.groups.release(fact.name);
      return;
    case "position":
      return restorePosition(core, fact);
    case "key-held":
      core.dedupes.hold(core.queue(fact.queue).serial, fact.key, fact.id, fact.until);
      return;
    case "gate":
    case "gate-state":
    case "cooled":
    case "cleared":
    case "reported":
      return applyGateFact(core, fact, now);
    default:
      return applyJobFact(core, fact, core.ids.find(fact.id), now);
  }
}

type GateFact = Extract<Fact, { fact: "gate" | "gate-state" | "cooled" | "cleared" | "reported" }>;
type JobFact = Extract<Fact, { id: number }>;

function applyGateFact(core: Core, fact: GateFact, now: number): void {
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
    case "redriven":
      return applyRedrive(core, row, now);
    case "revived":
      return applyRevive(core, row, now);
    case "replaced":
      return applyReplace(core, row, fact.sizeBytes, fact.body, fact.until, now);
    case "follow-up":
      core.jobs.needExtra(row).followUp = fact.spec;
      return;
    case "promoted":
      return promote(core, row, fact.tier, now);
  }
}

/**
 * The job is not known: its queue was deleted before its last fact was told, or it is told again
 * further on, as it stood there. The count of entries goes on as it did when the fact was told.
 */
function passOver(core: Core, fact: JobFact): void {
  if (fact.fact === "ended") core.groups.endAwaited(fact.id, fact.ending);
  if (fact.fact === "dead") core.groups.endAwaited(fact.id, "dead");
  if (NO_ENTRY.has(fact.fact)) return;
  if (fact.fact !== "replaced" || fact.until !== undefined) core.lastSeq++;
}

/** Facts by which no job takes a place in an order. */
const NO_ENTRY: ReadonlySet<Fact["fact"]> = new Set([
  "leased",
  "extended",
  "follow-up",
  "progress",
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
  core.ids.insert(row);
  if (record.extra !== undefined) restoreExtra(core, row, record.extra, queue.serial);
  core.lastId = Math.max(core.lastId, record.id);
  if (isNew) queue.counters.added++;
  if (record.extra?.origin !== undefined && record.state !== "ended") enterDead(core, queue, row);
  placeJob(core, row, record, strand);
  // It may have been told while a walk was on its way to it.
  retime(core, row);
  core.lastSeq = Math.max(core.lastSeq, record.seq);
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
  } else {
    core.jobs.setEnding(row, record.ending);
    keep(core, row, queue, record.time, record.seq);
    // Those that ended while it was unknown may have taken its place.
    if (queue.kept > queue.config.results.jobs) forgetKept(core, queue.keptHead, queue);
  }
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
  extra.stack = record.stack;
  extra.progress = record.progress;
  extra.leasesBefore = record.leasesBefore ?? 0;
  extra.result = record.result;
  extra.waited = record.waited;
  extra.history = record.history === undefined ? undefined : [...record.history];
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
 * The process that told the facts has ended, and its own workers with it: their leases run out now.
 * Those of workers elsewhere last as long as they were given, because they may still be acked.
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
