import type { Core } from "./core.ts";
import { Refusal } from "./errors.ts";
import * as nodeFields from "./nodes.ts";
import type { Queue } from "./queue.ts";
import type { JobSpec } from "./types.ts";

const { WAITING } = nodeFields;

/** What a producer is told to wait when a queue is full: the engine cannot know when it drains. */
const FULL_RETRY_MS = 1000;

/**
 * The tier in which there is room for a job: the one it wants, or where that spills to. -1: the job
 * is to be dropped. Refuses when the policy says so.
 */
export function roomFor(
  core: Core,
  queue: Queue,
  spec: JobSpec,
  wanted: number,
  isDelayed: boolean,
): number {
  if (isDelayed) {
    if (queue.delayed < queue.config.capacity.delayed) return wanted;
    return refuse(queue, `it holds ${queue.delayed} delayed jobs`);
  }
  const full = whatIsFull(core, queue, spec);
  if (full !== undefined) return refuse(queue, full);
  let tier = wanted;
  for (let i = 0; i < queue.config.tiers.length; i++) {
    if (hasTierRoom(queue, tier)) return tier;
    if (queue.config.onFull !== "spill") break;
    const next = queue.config.tiers[tier]!.spillTo ?? tier + 1;
    if (next >= queue.config.tiers.length) break;
    tier = next;
  }
  return refuse(
    queue,
    `tier ${queue.config.tiers[wanted]!.name} holds ${queue.waitingAt[wanted]} jobs`,
  );
}

export function hasTierRoom(queue: Queue, tier: number): boolean {
  const capacity = queue.config.tiers[tier]?.capacity;
  return capacity === undefined || queue.waitingAt[tier]! < capacity;
}

/** What of the queue as a whole, or of the job's lane, has no room for the job. */
function whatIsFull(core: Core, queue: Queue, spec: JobSpec): string | undefined {
  const { jobs, bytes, perLane } = queue.config.capacity;
  if (queue.waiting >= jobs) return `it holds ${queue.waiting} jobs`;
  if (queue.bytes + (spec.sizeBytes ?? 0) > bytes) return `it holds ${queue.bytes} bytes`;
  if (perLane === undefined) return undefined;
  const key = queue.config.fairness ? (spec.fairnessKey ?? "") : "";
  let waiting = 0;
  for (const tier of queue.tiers) {
    const lane = core.lanes.findLane(tier, key);
    if (lane !== 0) waiting += core.lanes.get(lane, WAITING);
  }
  return waiting >= perLane ? `the lane holds ${waiting} jobs` : undefined;
}

function refuse(queue: Queue, why: string): number {
  if (queue.config.onFull === "drop") return -1;
  queue.counters.rejected++;
  throw new Refusal("QUEUE_FULL", `queue ${queue.name} is full: ${why}`, {
    queue: queue.name,
    retryAfterMs: FULL_RETRY_MS,
  });
}

/** Slows adds down to a rate once the queue is filled to a level. */
export function admit(queue: Queue, now: number): void {
  const admission = queue.config.admission;
  if (admission === undefined) return;
  if (queue.waiting < admission.fill * queue.config.capacity.jobs) return;
  const gained = ((now - queue.admissionAt) * admission.rate) / 1000;
  const level = Math.min(admission.burst, queue.admissionLevel + gained);
  queue.admissionAt = now;
  queue.admissionLevel = level;
  if (level >= 1) {
    queue.admissionLevel = level - 1;
    return;
  }
  queue.counters.rejected++;
  const retryAfterMs = Math.ceil(((1 - level) * 1000) / admission.rate);
  throw new Refusal(
    "RATE_LIMITED",
    `queue ${queue.name} admits ${admission.rate} jobs a second now`,
    {
      queue: queue.name,
      retryAfterMs,
    },
  );
}
