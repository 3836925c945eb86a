// A job as those outside know it: what was answered is certain, what was called and not answered
// may have happened.

import type { JobNote, PortCall } from "./record.ts";
import type { WallBook } from "./wall-book.ts";

export interface KnownLease {
  // Counts the deliveries of the job.
  readonly count: number;
  // Empty when the delivery was not seen.
  readonly token: string;
  readonly queue: string;
  readonly grantedAt: number;
  // The lease lasts at least until then, unless a call has ended it.
  until: number;
  // It has been ended by an answered call, and the attempts are counted.
  isOver: boolean;
  // The last call that was made before it was delivered.
  readonly afterCall: number;
  // The broker has closed since, or its queue was deleted.
  mayBeOver: boolean;
  // Its worker lives in the process of the broker.
  readonly inProcess: boolean;
  // That process has crashed.
  hasDied: boolean;
}

export interface OpenCall {
  readonly n: number;
  readonly at: number;
  readonly wall: WallBook;
  readonly call: PortCall;
}

export interface KnownJob {
  // Of the add that made it.
  readonly number: number;
  readonly note: JobNote;
  readonly home: string;
  readonly calledAt: number;
  // The last id that was known then: its own comes later.
  readonly idAfter: string;
  // The earliest time at which it may be overdue.
  deadline: () => number;
  id: string | undefined;
  // It is there, or was: an answer, a delivery or a look has shown it.
  isCertain: boolean;
  // That was known before any call with a higher number was made.
  knownSince: number;
  // Numbers of all bodies that it may have.
  readonly bodies: Set<number>;
  lease: KnownLease | undefined;
  // What the attempt of its next delivery may be.
  attemptMin: number;
  attemptMax: number;
  // How it ended, when that is certain.
  ended: string | undefined;
  // Calls that may change it and have no answer, by the number of the call.
  readonly open: Map<number, OpenCall>;
  // Not to be delivered before.
  notBefore: Set<() => number>;
  // Restarts since its last delivery. Each may have lost a delivery that was not seen.
  restarts: number;
  // When an event reported a lease that no delivery has shown yet: a lease that expires before it
  // is durable is never delivered, and its attempt is lost all the same.
  unseenSince: number | undefined;
  // It was dead, run again or redriven: its place, key and deadline are no longer those it had.
  isSecondLife: boolean;
  // It was last seen in a dead letter queue: no failure ends it there.
  isLetter: boolean;
  // Another job may have its key, or no job has it.
  hasLostKey: boolean;
  // A purge or cancel by key has been called for its queue: what waits may go at any time.
  mayBePurged: boolean;
  // An answered purge found it waiting: it does not go out after this time.
  purgedAt: number;
  // A purge is open that was called while the job waited, after this lease; null: none is.
  purging: KnownLease | undefined | null;
  // Its add was answered, in whatever way.
  isAnswered: boolean;
  // It was certainly there when the last purge or deletion of its queue was called.
  isSure: boolean;
  // The body of a `keepLast` that waits for another job to end.
  isFollowUp: boolean;
}

export function makeJob(
  note: JobNote,
  home: string,
  { at: calledAt, wall }: OpenCall,
  idAfter: string,
): KnownJob {
  const { number, delayMs = 0, runAt, ttlMs = Number.POSITIVE_INFINITY, deadline } = note;
  const isOnWall = (wallAt: number) => () => wall.firstAt(wallAt, calledAt);
  return {
    number,
    note,
    home,
    calledAt,
    idAfter,
    deadline: deadline === undefined ? () => calledAt + ttlMs : isOnWall(deadline),
    id: undefined,
    isCertain: false,
    knownSince: Number.POSITIVE_INFINITY,
    bodies: new Set([number]),
    lease: undefined,
    attemptMin: 0,
    attemptMax: 0,
    ended: undefined,
    open: new Map(),
    notBefore: new Set([runAt === undefined ? () => calledAt + delayMs : isOnWall(runAt)]),
    restarts: 0,
    unseenSince: undefined,
    isSecondLife: false,
    isLetter: false,
    hasLostKey: false,
    mayBePurged: false,
    purgedAt: Number.POSITIVE_INFINITY,
    purging: null,
    isAnswered: false,
    isSure: false,
    isFollowUp: false,
  };
}

// Whether a call of this kind is about the job and has no answer.
export function isOpen({ open }: KnownJob, kind: PortCall["call"]): boolean {
  for (const { call } of open.values()) if (call.call === kind) return true;
  return false;
}

// Calls that give a lease up.
const LEASE_ENDS = new Set<PortCall["call"]>(["ack", "nack", "giveBack", "cancel", "cancelByKey"]);

// Whether the job is held at this time, whatever the open calls have done.
export function isHeld({ lease, open }: KnownJob, at: number): boolean {
  if (lease === undefined || lease.isOver || lease.mayBeOver) return false;
  if (at >= lease.until) return false;
  for (const { call, at: calledAt } of open.values()) {
    if (LEASE_ENDS.has(call.call) || call.call === "deleteQueue") return false;
    if (call.call !== "extend") continue;
    const item = call.items.find(({ lease: token }) => token === lease.token);
    if (item !== undefined && at >= calledAt + item.leaseMs) return false;
  }
  return true;
}

// Whether the job has ended by this time, or may have.
export function mayBeOver(job: KnownJob, at: number): boolean {
  return job.ended !== undefined || causeOf(job, at) !== undefined;
}

// What may have ended the job by this time; undefined: nothing can have.
export function causeOf(job: KnownJob, at: number): string | undefined {
  for (const { call } of job.open.values()) {
    if (call.call !== "extend" && call.call !== "giveBack" && call.call !== "retry") {
      return call.call;
    }
  }
  if (job.mayBePurged) return "purge";
  if (at >= job.deadline()) return "deadline";
  if (job.note.maxWaitMs !== undefined && job.note.gates !== undefined) return "maxWait";
  if (job.isLetter && !isOpen(job, "retry")) return undefined;
  return mayBeDead(job, at) ? "attempts" : undefined;
}

// Assumes that the job has lost every attempt that it can have lost: those of an expired lease and
// of leases that were not seen.
export function mayBeDead(job: KnownJob, at: number): boolean {
  const { lease, attemptMax, restarts } = job;
  const runsOut = lease !== undefined && !lease.isOver && !isHeld(job, at) ? 1 : 0;
  const unseen = job.unseenSince !== undefined && job.unseenSince < at ? 1 : 0;
  if (attemptMax + runsOut + restarts + unseen >= (job.note.attempts ?? 1)) return true;
  return lease !== undefined && mayBeGivenUp(job, lease.token);
}

// A call that fails the job for good has no answer yet.
function mayBeGivenUp({ open }: KnownJob, token: string): boolean {
  for (const { call } of open.values()) {
    if (call.call !== "nack") continue;
    if (call.items.some(({ lease, unrecoverable }) => unrecoverable && lease === token))
      return true;
  }
  return false;
}

// Dead letters run again. A lease may have expired with the last attempt before any event reported
// the job as dead.
export function redriven(job: KnownJob, at: number): void {
  job.attemptMin = 0;
  job.isLetter = false;
  if (!mayBeDead(job, at)) return;
  if (job.lease !== undefined) job.lease.mayBeOver = true;
  job.isSecondLife = true;
  job.hasLostKey = true;
}

// The earliest time at which it may go out.
export function earliestOf({ notBefore }: KnownJob): number {
  return Math.min(...[...notBefore].map((time) => time()));
}

// All that are known, as those see them who judge one of them.
export interface KnownJobs {
  byId(id: string): KnownJob | undefined;
  byKey(queue: string, key: string): readonly KnownJob[];
  mayHaveBeenOver(call: number, job: KnownJob): boolean;
  mayStillBeReplaced(job: KnownJob): void;
  isClearedSince(queue: string, call: number): boolean;
  name(job: KnownJob, id: string): void;
  end(job: KnownJob, how: string): void;
  revive(job: KnownJob): void;
  die(job: KnownJob): void;
}
