// What a key that is held makes of an add.

import type { AddResult, JobSpec } from "@sluice/engine";
import { Broken, equal } from "../demand.ts";
import type { ModelJob } from "./job.ts";
import type { Model } from "./model.ts";
import { isRefused, type Outcome } from "./outcome.ts";
import type { ModelQueue } from "./queue.ts";

// Whether the holder of the key answers the add; then what its mode asks for has been done.
export function isDuplicate(
  model: Model,
  queue: ModelQueue,
  spec: JobSpec,
  outcome: Outcome<AddResult>,
): boolean {
  const dedupe = spec.dedupe;
  const holder = dedupe === undefined ? undefined : queue.keys.get(dedupe.key);
  if (dedupe === undefined || holder === undefined) return false;
  if (holder.until !== undefined && model.now >= holder.until) {
    queue.keys.delete(dedupe.key);
    return false;
  }
  const job = model.jobs.get(holder.id);
  const isLeased = job?.state === "leased";
  if (isLeased && (dedupe.mode === "replace" || dedupe.mode === "debounce")) {
    return isAnsweredByLeased(holder.id, outcome);
  }
  if (job?.state === "waiting" && !hasRoomToReplace(queue, job, spec)) {
    isFull(queue, outcome);
    return true;
  }
  answersWith(outcome, holder.id);
  if (job !== undefined) applyMode(model, job, spec, isLeased);
  return true;
}

// Another payload must fit where the old one was, and a job that is put off among the delayed.
function hasRoomToReplace(queue: ModelQueue, job: ModelJob, spec: JobSpec): boolean {
  const { capacity } = queue.config;
  const mode = spec.dedupe!.mode;
  if (mode === "debounce") return queue.delayed.size < capacity.delayed;
  if (mode === "pending" || mode === "window") return true;
  if (mode === "keepLast" && job.followUp !== undefined) return true;
  const size = spec.sizeBytes ?? 0;
  return size <= job.size || queue.bytes - job.size + size <= capacity.bytes;
}

function isFull(queue: ModelQueue, outcome: Outcome<AddResult>): void {
  if (queue.config.onFull !== "drop") {
    isRefused(outcome, ["QUEUE_FULL"]);
    if (queue.config.onFull !== "wait") queue.counts.rejected += 1;
    return;
  }
  isRefused(outcome, []);
  if (outcome.ok) equal("answer", "dropped", outcome.value.dropped, true);
  queue.counts.dropped += 1;
}

// The rules do not say whether a job that already runs answers for one that would replace it.
function isAnsweredByLeased(id: number, outcome: Outcome<AddResult>): boolean {
  const isDuplicate = outcome.ok && outcome.value.duplicate === true;
  if (isDuplicate) answersWith(outcome, id);
  return isDuplicate;
}

function answersWith(outcome: Outcome<AddResult>, id: number): void {
  if (!outcome.ok) throw new Broken("dedupe", `got ${outcome.code}, job ${id} holds the key`);
  equal("dedupe", "duplicate", outcome.value.duplicate ?? false, true);
  equal("dedupe", "id of the duplicate", outcome.value.id, id);
}

function applyMode(model: Model, job: ModelJob, spec: JobSpec, isLeased: boolean): void {
  const mode = spec.dedupe!.mode;
  if (mode === "pending" || mode === "window") return;
  if (mode === "keepLast" && (isLeased || job.followUp !== undefined)) {
    job.followUp = { spec };
    return;
  }
  job.body = spec.body;
  job.size = spec.sizeBytes ?? 0;
  if (mode !== "debounce") return;
  model.take(job);
  model.delay(job, model.now + (spec.delayMs ?? 0));
}
