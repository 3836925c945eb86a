// Adding a job: refusals, dedupe, capacity, admission; then the new job.

import type { AddResult, JobSpec } from "@sluice/engine";
import { Broken, demand, equal } from "../demand.ts";
import { isDuplicate } from "./dedupe.ts";
import { gateSet, type ModelJob, pathOf } from "./job.ts";
import type { Model } from "./model.ts";
import { isRefused, type Outcome } from "./outcome.ts";
import { type ModelQueue, tierWithRoom } from "./queue.ts";

export function add(
  model: Model,
  queueName: string,
  spec: JobSpec,
  outcome: Outcome<AddResult>,
): void {
  const queue = model.queues.get(queueName);
  if (queue === undefined) {
    isRefused(outcome, ["QUEUE_NOT_FOUND"]);
    return;
  }
  const job = newJob(model, queue, spec);
  if (isDuplicate(model, queue, spec, outcome)) return;
  const dueAt = dueOf(spec, model.now);
  const isDelayed = dueAt !== undefined;
  const place = placeOf(queue, job, isDelayed);
  // The gates of a delayed job are judged when it is due.
  const judged = isDelayed ? { ...job, maxWaitMs: undefined } : job;
  const refusals = refusalsOf(model, queue, judged, place);
  if (place === undefined && queue.config.onFull === "drop") {
    if (refusals.codes.length > 0 && !outcome.ok && isRefused(outcome, refusals.codes)) return;
    isDropped(queue, outcome);
    return;
  }
  const isAccepted = refusals.isOptional && outcome.ok;
  if (!isAccepted && isRefused(outcome, refusals.codes)) {
    const isLimited = !outcome.ok && outcome.code === "RATE_LIMITED";
    const isFull = !outcome.ok && outcome.code === "QUEUE_FULL";
    // Under `onFull: "wait"` the add may still wait for room; its final refusal is counted
    // separately.
    if (isLimited || (isFull && queue.config.onFull !== "wait")) queue.counts.rejected += 1;
    return;
  }
  const answer = answerOf(outcome);
  accept(model, queue, { ...job, tier: place! }, answer);
  holdKey(model, queue, spec, answer.id);
  const accepted = model.jobs.get(answer.id)!;
  if (dueAt === undefined) model.wait(accepted);
  else model.delay(accepted, dueAt);
}

function answerOf(outcome: Outcome<AddResult>): AddResult {
  if (!outcome.ok) throw new Broken("answer", outcome.code);
  return outcome.value;
}

function accept(
  model: Model,
  queue: ModelQueue,
  draft: Omit<ModelJob, "id">,
  answer: AddResult,
): void {
  demand(answer.id > model.lastId, "answer", () => `id ${answer.id} is not new`);
  equal("answer", "duplicate", answer.duplicate ?? false, false);
  equal("answer", "dropped", answer.dropped ?? false, false);
  equal("answer", "tier", answer.tier, draft.tier);
  enlist(model, queue, { ...draft, id: answer.id });
}

// Makes a job known; the caller says whether it waits or is delayed.
export function enlist(model: Model, queue: ModelQueue, job: ModelJob): void {
  model.lastId = Math.max(model.lastId, job.id);
  model.issued.add(job.id);
  model.jobs.set(job.id, job);
  if (job.group !== undefined) {
    const members = model.groups.get(job.group) ?? new Map();
    model.groups.set(job.group, members.set(job.id, undefined));
  }
  queue.counts.added += 1;
}

export function holdKey(model: Model, queue: ModelQueue, spec: JobSpec, id: number): void {
  const dedupe = spec.dedupe;
  if (dedupe === undefined) return;
  const until = dedupe.mode === "window" ? model.now + (dedupe.windowMs ?? 0) : undefined;
  queue.keys.set(dedupe.key, { id, until });
}

function isDropped(queue: ModelQueue, outcome: Outcome<AddResult>): void {
  const answer = answerOf(outcome);
  equal("answer", "id of a dropped add", answer.id, 0);
  equal("answer", "dropped", answer.dropped, true);
  queue.counts.dropped += 1;
}

// The codes of which one must come, or `isOptional` may.
interface Refusals {
  readonly codes: readonly string[];
  readonly isOptional: boolean;
}

function refusalsOf(
  model: Model,
  queue: ModelQueue,
  job: Omit<ModelJob, "id">,
  place: number | undefined,
): Refusals {
  const codes: string[] = [];
  if (job.cost > model.gates.costMax(job.gates)) codes.push("INVALID");
  const { at, atLeast } = model.patience({ ...job, id: 0 });
  const patience = model.now + (job.maxWaitMs ?? Infinity);
  if (atLeast > patience) codes.push("WAIT_TOO_LONG");
  if (place === undefined && queue.config.onFull !== "drop") codes.push("QUEUE_FULL");
  if (codes.length === 0 && place !== undefined && !isAdmitted(model, queue)) {
    codes.push("RATE_LIMITED");
  }
  const isOptional = codes.length === 0 && at > patience;
  return isOptional ? { codes: ["WAIT_TOO_LONG"], isOptional } : { codes, isOptional };
}

function placeOf(
  queue: ModelQueue,
  job: Omit<ModelJob, "id">,
  isDelayed: boolean,
): number | undefined {
  if (!isDelayed) return tierWithRoom(queue, job, queue.config.onFull === "spill");
  return queue.delayed.size < queue.config.capacity.delayed ? job.tier : undefined;
}

// At or above the fill level an add takes a token.
function isAdmitted(model: Model, queue: ModelQueue): boolean {
  const { admission, capacity } = queue.config;
  if (admission === undefined) return true;
  const full = admission.burst * 1_000;
  const bucket = queue.admission ?? { milli: full, at: model.now };
  bucket.milli = Math.min(full, bucket.milli + (model.now - bucket.at) * admission.rate);
  bucket.at = model.now;
  queue.admission = bucket;
  if (queue.waiting.size < admission.fill * capacity.jobs) return true;
  if (bucket.milli < 1_000) return false;
  bucket.milli -= 1_000;
  return true;
}

function dueOf(spec: JobSpec, now: number): number | undefined {
  const at = spec.runAt ?? now + (spec.delayMs ?? 0);
  return at > now ? at : undefined;
}

export function newJob(model: Model, queue: ModelQueue, spec: JobSpec): Omit<ModelJob, "id"> {
  const { config } = queue;
  const path = config.fairness ? pathOf(spec.fairnessKey) : [""];
  const ttlMs = spec.ttlMs ?? config.ttlMs;
  const deadline = spec.deadline ?? (ttlMs === undefined ? undefined : model.now + ttlMs);
  return {
    queue: queue.name,
    state: "waiting",
    ending: undefined,
    tier: tierOf(queue, spec.priority),
    path,
    lane: path.join("\u0000"),
    weight: spec.weight,
    gates: gateSet(spec.gates),
    strand: "",
    cost: spec.cost ?? 1,
    size: spec.sizeBytes ?? 0,
    body: spec.body,
    attempt: 0,
    attempts: spec.attempts ?? config.retry.attempts,
    backoff: spec.backoff,
    leaseMs: spec.leaseMs,
    lease: 0,
    worker: "",
    at: 0,
    endedIn: 0,
    age: 0,
    since: 0,
    deadline,
    maxWaitMs: spec.maxWaitMs,
    dedupe: spec.dedupe?.key,
    group: spec.group,
    error: undefined,
    result: undefined,
    isRetry: false,
    origin: undefined,
    leasesBefore: 0,
    home: undefined,
    followUp: undefined,
  };
}

function tierOf(queue: ModelQueue, priority: JobSpec["priority"]): number {
  if (typeof priority === "number") return priority;
  return queue.config.tiers.findIndex((tier) => tier.name === priority);
}
