// What a look after a restart must not show: a job that has ended, one without its lease, and none
// at all where there was one.

import { hasEnded } from "@sluice/protocol";
import { demand } from "../demand.ts";
import { causeOf, isHeld, isOpen, type KnownJob, type KnownJobs, redriven } from "./known-job.ts";
import type { SeenJob } from "./record.ts";

export function judgeSeen(book: KnownJobs, job: KnownJob, seen: SeenJob, at: number): void {
  if (hasEnded(seen.state)) judgeEnded(book, job, seen, at);
  else judgeLive(book, job, seen, at);
}

function judgeLive(
  book: KnownJobs,
  job: KnownJob,
  { id, queue, state, attempt, at: until }: SeenJob,
  at: number,
): void {
  if (job.ended !== undefined) {
    demand(
      isOpen(job, "retry"),
      "no job after its end",
      () => `job ${id} is ${job.ended} and ${state}`,
    );
    book.revive(job);
  }
  if (queue !== job.home) book.die(job);
  job.isLetter = queue !== job.home;
  demand(!isHeld(job, at) || state === "running", "live leases survive", () => {
    return `job ${id} is held until ${job.lease?.until} and ${state} at ${at}`;
  });
  const isKept = state === "running" && until === job.lease?.until && until! > at;
  demand(!(job.lease?.hasDied === true && isKept), "own leases end with the process", () => {
    return `job ${id} runs until ${until} by a worker whose process ended before ${at}`;
  });
  // A retry that was not answered may have ended its delay.
  if (state !== "delayed" && isOpen(job, "retry")) job.notBefore = new Set([() => 0]);
  if (isOpen(job, "redrive")) redriven(job, at);
  settle(job, state, attempt);
  if (state !== "running") return;
  const { lease } = job;
  const isOut = lease !== undefined && !lease.isOver;
  if (isOut && until === lease.until) return;
  // A lease that is over is not extended: another one has begun, and its delivery was not seen.
  if (isOpen(job, "extend") && isOut) lease.until = until!;
  else {
    const { count, afterCall } = lease ?? { count: 0, afterCall: -1 };
    const isOver = false;
    const unseen = { count, token: "", queue, grantedAt: 0, until: until!, afterCall };
    const holder = { inProcess: false, hasDied: false };
    job.lease = { ...unseen, isOver, mayBeOver: false, ...holder };
  }
}

// A look shows which of the possible attempts it is.
function settle(job: KnownJob, state: string, attempt: number): void {
  const { lease, restarts } = job;
  const isOut = lease !== undefined && !lease.isOver;
  const most = job.attemptMax + (isOut ? 1 : 0) + restarts;
  // A retried or redriven job may have started again before the call was answered.
  const isReset = isOpen(job, "retry") || isOpen(job, "redrive");
  const hasFailed = isOut && lease.hasDied && job.open.size === 0 && state !== "running";
  const least = isReset ? 0 : job.attemptMin + (hasFailed ? 1 : 0);
  demand(job.isSecondLife || (attempt >= least && attempt <= most), "attempts", () => {
    return `job ${job.id} has lost ${attempt} attempts, not ${least} to ${most}`;
  });
  job.attemptMin = isOpen(job, "retry") ? 0 : attempt;
  job.attemptMax = attempt;
  if (isOut && state !== "running") lease.isOver = true;
}

function judgeEnded(book: KnownJobs, job: KnownJob, { id, state }: SeenJob, at: number): void {
  if (job.ended === undefined) {
    const cause = causeOf(job, at);
    demand(cause !== undefined, "nothing ends by itself", () => `job ${id} is ${state}`);
    book.end(job, state);
  }
  // A retry that was not answered may have run it again, to another end.
  if (isOpen(job, "retry")) return book.end(job, state);
  const isKnown = job.ended === "finished" || job.ended === "cancelled";
  demand(!isKnown || job.ended === state, "endings", () => {
    return `job ${id} was ${job.ended} and is ${state}`;
  });
}

export function judgeGone(book: KnownJobs, job: KnownJob, at: number): void {
  // It may be stored in the job that it is to follow.
  if (job.note.dedupe?.mode === "keepLast" && !job.isCertain) return;
  if (job.isCertain) {
    const cause = causeOf(job, at);
    demand(cause !== undefined, "no confirmed add lost", () => {
      return `job ${job.id}, number ${job.number} of ${job.home}, is gone`;
    });
  }
  book.end(job, "gone");
}
