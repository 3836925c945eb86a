// What the answer to a call must be, from what the ledger knew before it.

import type { AddResult, JobSpec } from "@sluice/engine";
import { demand } from "../model/broken.ts";
import { type Ledger, laneOf } from "./ledger.ts";
import type { QueueBook } from "./queue-book.ts";

export type Outcome<T> = { readonly value: T } | { readonly code: string };

const show = (outcome: Outcome<unknown>): string => JSON.stringify(outcome);

function duplicateOf(ledger: Ledger, queue: string, spec: JobSpec): number | undefined {
  if (spec.dedupe === undefined) return undefined;
  const { key, mode } = spec.dedupe;
  const id = ledger.keys.holder(queue, key, ledger.now);
  if (id === undefined || mode === "pending" || mode === "window") return id;
  const job = ledger.jobs.get(id);
  if (job?.state === "waiting" || job?.state === "delayed") return id;
  return mode === "keepLast" && job?.state === "leased" ? id : undefined;
}

function isFull(queue: QueueBook, spec: JobSpec, now: number): boolean {
  if ((spec.delayMs ?? 0) > 0 || (spec.runAt ?? 0) > now) {
    return queue.delayed >= queue.config.capacity.delayed;
  }
  const { tiers, fairness } = queue.config;
  const key = fairness ? (spec.fairnessKey ?? "") : "";
  const lane = laneOf(typeof key === "string" ? [key] : key);
  const tier = typeof spec.priority === "number" ? spec.priority : tiers.length - 1;
  return queue.fullFor(spec.sizeBytes ?? 0, lane, tier) !== undefined;
}

// Whether a waiting job that is to get another payload, or to be put off, finds no room for it.
function isTooLarge(ledger: Ledger, queue: QueueBook, id: number, spec: JobSpec): boolean {
  const job = ledger.jobs.get(id);
  if (job?.state !== "waiting") return false;
  const { bytes, delayed } = queue.config.capacity;
  const mode = spec.dedupe?.mode;
  if (mode === "debounce") return queue.delayed >= delayed;
  const isReplaced = mode === "replace" || (mode === "keepLast" && !job.hasFollowUp);
  const grown = (spec.sizeBytes ?? 0) - job.sizeBytes;
  return isReplaced && grown > 0 && queue.bytes + grown > bytes;
}

// To be called before the add; the answer is judged by what it gives.
export function expectAdd(
  ledger: Ledger,
  name: string,
  spec: JobSpec,
  now: number,
): (outcome: Outcome<AddResult>) => void {
  ledger.now = Math.max(ledger.now, now);
  const queue = ledger.queues.get(name);
  if (queue === undefined) return (outcome) => refusedBy(outcome, ["QUEUE_NOT_FOUND"]);
  const duplicate = duplicateOf(ledger, name, spec);
  if (duplicate !== undefined && isTooLarge(ledger, queue, duplicate, spec)) {
    return (outcome) => fullBy(queue, outcome);
  }
  if (duplicate !== undefined) {
    return (outcome) =>
      demand("value" in outcome && outcome.value.id === duplicate, "dedupe", () => {
        return `key ${spec.dedupe?.key} is held by job ${duplicate}, the answer is ${show(outcome)}`;
      });
  }
  const full = isFull(queue, spec, now);
  const excuses = excusesOf(ledger, queue, spec, now);
  return (outcome) => {
    if ("code" in outcome && excuses.includes(outcome.code)) return;
    if (full) return fullBy(queue, outcome);
    const isNew = "value" in outcome && !outcome.value.duplicate && !outcome.value.dropped;
    demand(isNew, "answers", () => `there is room in ${name}, the answer is ${show(outcome)}`);
    if (isNew) judgeNew(ledger, name, spec, outcome.value);
  };
}

// Refusals that depend on more than the ledger follows.
function excusesOf(ledger: Ledger, queue: QueueBook, spec: JobSpec, now: number): string[] {
  const gates = (spec.gates ?? []).map((key) => ledger.gates.of(key, now));
  const cost = spec.cost ?? 1;
  const excuses: string[] = [];
  if (queue.config.admission !== undefined) excuses.push("RATE_LIMITED");
  if (gates.some(({ costMax }) => cost > costMax)) excuses.push("INVALID");
  const tier = typeof spec.priority === "number" ? spec.priority : 0;
  const isShut = gates.some((gate) => gate.blocks(cost, tier, now) !== undefined);
  const isDelayed = (spec.delayMs ?? 0) > 0 || (spec.runAt ?? 0) > now;
  if (spec.maxWaitMs !== undefined && isShut && !isDelayed) excuses.push("WAIT_TOO_LONG");
  return excuses;
}

function judgeNew(ledger: Ledger, name: string, spec: JobSpec, { id, tier }: AddResult): void {
  const job = ledger.jobs.get(id) ?? ledger.ended.get(id);
  const isTold = job?.queue === name && job.body === spec.body && job.cost === (spec.cost ?? 1);
  demand(isTold && job.tier === tier, "no job lost", () => `job ${id} was added and never told`);
  const delayMs = spec.delayMs ?? 0;
  demand(delayMs === 0 || job!.time >= ledger.now + delayMs, "delays", () => {
    return `job ${id} is to wait ${delayMs} ms from ${ledger.now}, not until ${job!.time}`;
  });
}

function fullBy(queue: QueueBook, outcome: Outcome<AddResult>): void {
  if (queue.config.onFull === "drop") droppedBy(outcome);
  else refusedBy(outcome, ["QUEUE_FULL"]);
}

function droppedBy(outcome: Outcome<AddResult>): void {
  const isDropped = "value" in outcome && outcome.value.dropped === true;
  demand(isDropped, "capacity", () => `the queue is full, the answer is ${show(outcome)}`);
}

function refusedBy(outcome: Outcome<unknown>, codes: readonly string[]): void {
  const isRefused = "code" in outcome && codes.includes(outcome.code);
  demand(isRefused, "answers", () => `it is to be refused with ${codes}, not ${show(outcome)}`);
}

// For ack, nack, extend and give back.
export function expectLease(
  ledger: Ledger,
  id: number,
  lease: number,
): (outcome: Outcome<unknown>) => void {
  const job = ledger.jobs.get(id);
  if (job === undefined) return (outcome) => refusedBy(outcome, ["ALREADY_FINISHED"]);
  const isLive = job.state === "leased" && job.lease === lease;
  if (!isLive) return (outcome) => refusedBy(outcome, ["LEASE_LOST"]);
  return (outcome) =>
    demand("value" in outcome, "leases", () => {
      return `lease ${lease} of job ${id} is live, the answer is ${show(outcome)}`;
    });
}

export function expectCancel(ledger: Ledger, id: number): (outcome: Outcome<boolean>) => void {
  const isLive = ledger.jobs.has(id);
  return (outcome) =>
    demand("value" in outcome && outcome.value === isLive, "answers", () => {
      return `job ${id} ${isLive ? "lives" : "has ended"}, cancel answers ${show(outcome)}`;
    });
}
