// What a delivery must not be: early, too late, a second one, or one too many.

import { demand } from "../demand.ts";
import {
  earliestOf,
  isHeld,
  isOpen,
  type KnownJob,
  type KnownJobs,
  type KnownLease,
} from "./known-job.ts";
import type { Delivered } from "./record.ts";

export function leaseOf(
  delivered: Delivered,
  at: number,
  afterCall: number,
  inProcess: boolean,
): KnownLease {
  const { lease, queue, expiresAt } = delivered;
  return {
    count: countOf(lease),
    token: lease,
    queue,
    grantedAt: at,
    until: expiresAt,
    isOver: false,
    afterCall,
    mayBeOver: false,
    inProcess,
    hasDied: false,
  };
}

function countOf(lease: string): number {
  return Number.parseInt(lease.slice(lease.indexOf(".") + 1), 36);
}

export function judgeDelivery(
  book: KnownJobs,
  job: KnownJob,
  { id, lease, queue, attempt }: Delivered,
  at: number,
): void {
  const isReopened = isOpen(job, "retry");
  demand(job.ended === undefined || isReopened, "no job after its end", () => {
    return `job ${id} is ${job.ended} and delivered again`;
  });
  if (isReopened) book.revive(job);
  const count = countOf(lease);
  judgeLease(job, lease, count, at);
  if (queue !== job.home) book.die(job);
  else if (!job.isSecondLife) judgeTimes(job, at);
  job.isLetter = queue !== job.home;
  judgeAttempt(job, attempt, count);
}

function judgeLease(job: KnownJob, token: string, count: number, at: number): void {
  const { id, lease: had } = job;
  // A purge does not remove a job that was being delivered, even if the delivery was never seen.
  const hasUnseen = count > (had?.count ?? 0) + 1;
  demand(at <= job.purgedAt || hasUnseen, "no job after its end", () => {
    return `job ${id} goes out after a purge`;
  });
  demand(had === undefined || count > had.count, "tokens rise", () => {
    return `lease ${token} of job ${id} follows ${had?.token}`;
  });
  demand(!isHeld(job, at), "one live lease", () => {
    return `job ${id} is held until ${had?.until} and leased again at ${at}`;
  });
}

function judgeTimes(job: KnownJob, at: number): void {
  demand(at >= earliestOf(job), "never early", () => {
    return `job ${job.id} may go out at ${earliestOf(job)}, and goes at ${at}`;
  });
}

// A lease that no call ended has expired, and each lease that was not seen may have expired.
function judgeAttempt(job: KnownJob, attempt: number, count: number): void {
  const { lease, open } = job;
  const unseen = count - (lease?.count ?? 0) - 1;
  const isReset = isOpen(job, "retry") || isOpen(job, "redrive");
  let least = isReset ? 0 : job.attemptMin;
  let most = job.attemptMax + unseen;
  if (lease !== undefined && !lease.isOver) {
    most += 1;
    if (open.size === 0 && lease.token !== "" && !lease.mayBeOver && !isReset) least += 1;
  }
  demand(attempt >= least && attempt <= most, "attempts", () => {
    return `delivery ${count} of job ${job.id} is attempt ${attempt}, not ${least} to ${most}`;
  });
  const allowed = job.note.attempts;
  demand(job.isSecondLife || allowed === undefined || attempt < allowed, "attempts", () => {
    return `job ${job.id} has ${allowed} attempts and this is number ${attempt + 1}`;
  });
}
