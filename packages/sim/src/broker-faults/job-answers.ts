// What an answer says for certain of the jobs that a call was about.

import type { Added, Nack } from "@sluice/protocol";
import { demand } from "../demand.ts";
import {
  isHeld,
  type KnownJob,
  type KnownJobs,
  mayBeDead,
  mayBeOver,
  type OpenCall,
  redriven,
} from "./known-job.ts";
import type { ItemAnswer } from "./record.ts";

export function applyAnswer(
  book: KnownJobs,
  open: OpenCall,
  about: readonly KnownJob[],
  items: readonly ItemAnswer[],
  at: number,
): void {
  const { call } = open;
  const [first] = items;
  const isRefused = first !== undefined && "error" in first && items.length < about.length;
  switch (call.call) {
    case "add":
      about.forEach((job, i) => {
        added(book, job, isRefused ? first : items[i]!);
      });
      return;
    case "ack":
    case "giveBack":
    case "nack":
    case "extend":
      if (isRefused) return;
      about.forEach((job, i) => {
        held(book, job, open, i, items[i]!, at);
      });
      return;
    case "cancel":
    case "retry":
      if (isRefused) return;
      about.forEach((job, i) => {
        onJob(book, job, open, items[i]!);
      });
      return;
    default:
      if (first !== undefined && "ok" in first) onQueue(book, open, about, items, at);
  }
}

function added(book: KnownJobs, job: KnownJob, item: ItemAnswer): void {
  job.isAnswered = true;
  if ("error" in item) return book.end(job, "refused");
  const { id, duplicate, dropped } = item.ok as Added;
  if (dropped === true) return book.end(job, "dropped");
  if (duplicate !== true) {
    book.name(job, id);
    job.isCertain = true;
    return;
  }
  const { key, mode } = job.note.dedupe!;
  // It was taken for the job whose body it has replaced.
  if (job.id === id) return;
  const holder = book.byId(id) ?? unnamedHolder(book, job);
  demand(holder?.note.dedupe?.key === key, "dedupe", () => {
    return `number ${job.number} with key ${key} is reported to be a duplicate of ${id}`;
  });
  book.name(holder!, id);
  if (mode === "keepLast") job.isFollowUp = true;
  else book.end(job, "duplicate");
}

// The holder may be a follow-up that was not seen yet, or its own add may not be answered yet.
function unnamedHolder(book: KnownJobs, { number, home, note }: KnownJob): KnownJob | undefined {
  const others = book.byKey(home, note.dedupe!.key).filter((other) => other.number !== number);
  const unnamed = others.filter(({ id, ended }) => id === undefined && ended === undefined);
  return unnamed.findLast(({ isFollowUp }) => isFollowUp) ?? unnamed[0];
}

function held(
  book: KnownJobs,
  job: KnownJob,
  { n, call, at: calledAt }: OpenCall,
  index: number,
  item: ItemAnswer,
  at: number,
): void {
  const token = tokenOf(call as Parameters<typeof tokenOf>[0], index);
  const { lease } = job;
  if (lease?.token !== token) {
    // The next delivery may have come before the answer.
    const isNews = lease !== undefined && n <= lease.afterCall;
    demand(isNews || "error" in item, "old leases are refused", () => {
      return `${call.call} of ${token} is accepted`;
    });
    return;
  }
  if ("error" in item) {
    const isLost = item.error === "LEASE_LOST" || item.error === "ALREADY_FINISHED";
    demand(!isLost || job.ended !== undefined || !isHeld(job, at), "live leases hold", () => {
      return `${call.call} of ${token} is refused with ${item.error} before ${lease.until}`;
    });
    return;
  }
  demand(!lease.isOver, "old leases are refused", () => {
    return `${call.call} of ${token} is accepted, the job is ${job.ended ?? "not held"}`;
  });
  if (call.call === "extend") {
    lease.until = item.ok as number;
    return;
  }
  lease.isOver = true;
  if (call.call === "ack") book.end(job, "finished");
  if (call.call !== "nack") return;
  nacked(job, call.items[index]!, calledAt);
  book.mayStillBeReplaced(job);
}

type LeaseCall = Extract<OpenCall["call"], { call: "ack" | "giveBack" | "nack" | "extend" }>;

function tokenOf(call: LeaseCall, index: number): string {
  return "leases" in call ? call.leases[index]! : call.items[index]!.lease;
}

function nacked(job: KnownJob, { cooldown, delayMs, unrecoverable }: Nack, at: number): void {
  job.notBefore = new Set([() => at + (delayMs ?? 0)]);
  if (unrecoverable === true) job.attemptMax = Number.POSITIVE_INFINITY;
  if (cooldown !== undefined) return;
  job.attemptMin += 1;
  job.attemptMax += 1;
}

function onJob(book: KnownJobs, job: KnownJob, { n, at, call }: OpenCall, item: ItemAnswer): void {
  if ("error" in item) return;
  if (call.call === "retry") {
    job.mayBePurged ||= book.isClearedSince(job.home, n);
    // Its delivery may have come before the answer.
    return job.lease !== undefined && job.lease.afterCall >= n ? undefined : book.revive(job);
  }
  if (item.ok === true) {
    const how = job.ended;
    demand(how === undefined || how === "cancelled", "no job after its end", () => {
      return `job ${job.id} was ${how} and could be cancelled`;
    });
    return isBack(job, n) ? undefined : book.end(job, "cancelled");
  }
  // What had ended it may have been forgotten since, when a retry brought it back.
  demand(book.mayHaveBeenOver(n, job) || mayBeOver(job, at), "nothing ends by itself", () => {
    return `job ${job.id} had ended when it was cancelled`;
  });
}

// Whether a retry that was called later has brought the job back: its delivery may come before the
// answers to both.
function isBack({ lease, open }: KnownJob, n: number): boolean {
  for (const { n: later, call } of open.values()) {
    if (call.call === "retry" && later > n && lease !== undefined && lease.afterCall >= later) {
      return true;
    }
  }
  return false;
}

function onQueue(
  book: KnownJobs,
  { n, call, at }: OpenCall,
  about: readonly KnownJob[],
  items: readonly ItemAnswer[],
  answeredAt: number,
): void {
  for (const job of about) {
    if (call.call === "cancelByKey") {
      cancelledByKey(job, n, items);
    }
    if (call.call === "purge" && job.purging === job.lease) job.purgedAt = at;
    if (call.call === "deleteQueue") deleted(book, job, at);
    if (call.call === "redrive") redriven(job, answeredAt);
  }
}

// The answer does not say which job of the key it was. News of an end is of no use for a job that
// was run again, so its lease may be over, if it was there before the call.
function cancelledByKey(job: KnownJob, n: number, items: readonly ItemAnswer[]): void {
  const { lease } = job;
  const mayBeIt = items.some((item) => "ok" in item && item.ok === true);
  job.mayBePurged ||= mayBeIt;
  job.hasLostKey = true;
  if (mayBeIt && job.isSecondLife && lease !== undefined && lease.afterCall < n) {
    lease.mayBeOver = true;
  }
}

// Dead letters stay where they are; an add without an answer may have come later.
function deleted(book: KnownJobs, job: KnownJob, at: number): void {
  const mayBeElsewhere = job.isSecondLife || mayBeDead(job, at) || !job.isSure;
  if (!mayBeElsewhere) book.end(job, "deleted");
  else if (job.lease !== undefined) job.lease.mayBeOver = true;
}
