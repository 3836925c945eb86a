import { Refusal } from "../errors.ts";
import { TokenBucket } from "../gates/token-bucket.ts";
import { BLOCKED_JOB, DELAYED_JOB, ENDED_JOB, LEASE, SIZE } from "../jobs/job-fields.ts";
import type { JobTable } from "../jobs/job-table.ts";
import type { Lanes } from "../ring/lanes.ts";
import * as nodeFields from "../ring/node-fields.ts";
import type { FairnessKey, JobSpec } from "../types.ts";
import { type TierOptions, tierOf } from "./tiers.ts";
import type { LaneOptions } from "./weights.ts";

const { WAITING } = nodeFields;

export type OnFull = "reject" | "drop" | "spill" | "wait";

/** How much a queue holds, and what becomes of a job for which it has no room. */
export interface CapacityOptions {
  capacity: {
    jobs: number;
    bytes: number;
    perLane?: number | undefined;
    delayed: number;
    blocked: number;
    running: number;
  };
  onFull: OnFull;
  /** How long a producer waits for room under `onFull: "wait"`; the engine only carries it. */
  addTimeoutMs: number;
  fullRetryMs: number;
  /** Token bucket for adds, applied at or above `fill` (0..1 of `capacity.jobs`). */
  admission?: { fill: number; rate: number; burst: number } | undefined;
}

/** The part of a queue that room depends on. */
interface Filled {
  readonly name: string;
  readonly config: CapacityOptions & TierOptions & LaneOptions;
  /** TIER nodes, by tier. */
  readonly tiers: readonly number[];
  readonly waitingAt: readonly number[];
  readonly waiting: number;
  readonly delayed: number;
  readonly blocked: number;
  readonly bytes: number;
  readonly counters: { rejected: number };
  admission: TokenBucket | undefined;
}

/** The part of the engine that room depends on. */
interface RoomWorld {
  readonly lanes: Lanes;
  readonly jobs: JobTable;
  tierOf(row: number): number;
  laneOf(row: number): number;
  dueAt(spec: JobSpec, now: number): number;
}

/** The retry delay for producers of a full queue: the engine cannot know when it drains. */
const FULL_RETRY_MS = 1000;

/**
 * The tier in which there is room for a job: the one it wants, or where that spills to. -1: the job
 * is to be dropped. Refuses when the policy says so.
 */
export function roomFor(
  core: RoomWorld,
  queue: Filled,
  spec: JobSpec,
  wanted: number,
  delayMs: number,
): number {
  const found = findRoom(core, queue, spec, wanted, delayMs);
  return typeof found === "number" ? found : refuse(queue, found);
}

/** The tier with room, or what is full. */
function findRoom(
  core: RoomWorld,
  queue: Filled,
  spec: JobSpec,
  wanted: number,
  delayMs: number,
): number | string {
  if (delayMs > 0) {
    if (queue.delayed < queue.config.capacity.delayed) return wanted;
    return `it holds ${queue.delayed} delayed jobs`;
  }
  const isRoomy = hasQueueRoom(queue, spec.sizeBytes ?? 0);
  const first = queue.config.tiers[wanted]!;
  const isLimited = first.capacity !== undefined || first.perLane !== undefined;
  if (isRoomy && !isLimited && queue.config.capacity.perLane === undefined) return wanted;
  return findTier(core, queue, spec, wanted);
}

/** The tier with room, where a queue is full or has limits for tiers and lanes; or what is full. */
function findTier(core: RoomWorld, queue: Filled, spec: JobSpec, wanted: number): number | string {
  const key = queue.config.fairness ? (spec.fairnessKey ?? "") : "";
  const full = whatIsFull(queue, spec.sizeBytes ?? 0) ?? fullLane(core, queue, key);
  if (full !== undefined) return full;
  let tier = wanted;
  for (let i = 0; i < queue.config.tiers.length; i++) {
    if (hasTierRoom(queue, tier)) return fullInTier(core, queue, tier, key) ?? tier;
    if (queue.config.onFull !== "spill") break;
    const next = queue.config.tiers[tier]!.spillTo ?? tier + 1;
    if (next >= queue.config.tiers.length) break;
    tier = next;
  }
  const { name, capacity } = queue.config.tiers[wanted]!;
  return `tier ${name} holds ${queue.waitingAt[wanted]} of ${capacity} jobs`;
}

function hasQueueRoom(queue: Filled, sizeBytes: number): boolean {
  const { jobs, bytes } = queue.config.capacity;
  return queue.waiting < jobs && queue.bytes + sizeBytes <= bytes;
}

/** Refuses a job that is put into a queue by hand, or grows there, when there is no room for it. */
export function refuseFull(queue: Filled, sizeBytes: number, jobs: number): void {
  const { capacity } = queue.config;
  const isFull = queue.waiting + jobs > capacity.jobs || queue.bytes + sizeBytes > capacity.bytes;
  if (isFull && (jobs > 0 || sizeBytes > 0)) {
    throw fullError(queue, `it holds ${queue.waiting} jobs and ${queue.bytes} bytes`);
  }
}

/** Whether an add would find room; unlike the add this counts and refuses nothing. */
export function isRoomFor(core: RoomWorld, queue: Filled, spec: JobSpec, now: number): boolean {
  const delayMs = core.dueAt(spec, now) - now;
  const wanted = tierOf(spec.priority, queue.config);
  return typeof findRoom(core, queue, spec, wanted, delayMs) === "number";
}

function hasTierRoom(queue: Filled, tier: number): boolean {
  const capacity = queue.config.tiers[tier]?.capacity;
  return capacity === undefined || queue.waitingAt[tier]! < capacity;
}

/** What of the queue as a whole has no room for a job of this size. */
function whatIsFull(queue: Filled, sizeBytes: number): string | undefined {
  if (hasQueueRoom(queue, sizeBytes)) return undefined;
  const { jobs, bytes } = queue.config.capacity;
  if (queue.waiting >= jobs) return `it holds ${queue.waiting} of ${jobs} jobs`;
  return `it holds ${queue.bytes} of ${bytes} bytes`;
}

/** A key has one limit over all tiers, or a job could evade it by its priority. */
function fullLane(core: RoomWorld, queue: Filled, key: FairnessKey): string | undefined {
  const { perLane } = queue.config.capacity;
  if (perLane === undefined) return undefined;
  let waiting = 0;
  for (const tier of queue.tiers) {
    const lane = core.lanes.findLane(tier, key);
    if (lane !== 0) waiting += core.lanes.get(lane, WAITING);
  }
  return waiting >= perLane ? `the lane holds ${waiting} of ${perLane} jobs` : undefined;
}

/**
 * A lane that has used its part of a tier does not spill: the next tier is for lanes that found
 * this one full.
 */
function fullInTier(
  core: RoomWorld,
  queue: Filled,
  tier: number,
  key: FairnessKey,
): string | undefined {
  const { perLane, name } = queue.config.tiers[tier]!;
  if (perLane === undefined) return undefined;
  const lane = core.lanes.findLane(queue.tiers[tier]!, key);
  const waiting = lane === 0 ? 0 : core.lanes.get(lane, WAITING);
  return waiting >= perLane
    ? `the lane holds ${waiting} of ${perLane} jobs of tier ${name}`
    : undefined;
}

/** Refuses a job that waits for others when the queue has as many of them as it may. */
export function roomToBlock(queue: Filled, wanted: number): number {
  const { blocked } = queue.config.capacity;
  if (queue.blocked < blocked) return wanted;
  return refuse(queue, `it holds ${queue.blocked} of ${blocked} blocked jobs`);
}

/**
 * Whether a delayed job finds room in its own tier. What its key has waiting does not count: it was
 * let in when it was added.
 */
export function hasRoom(core: RoomWorld, queue: Filled, row: number): boolean {
  if (whatIsFull(queue, core.jobs.int(row, SIZE)) !== undefined) return false;
  return hasTierRoom(queue, core.tierOf(row));
}

/**
 * Refuses to run a job by hand for which there is no room, whatever the policy: who asks for one
 * job by its id wants to know. A retry that is only hastened was let in long ago.
 */
export function refuseRevival(core: RoomWorld, queue: Filled, row: number): void {
  const { jobs } = core;
  const isEnded = jobs.state(row) === ENDED_JOB;
  if (!isEnded && jobs.int(row, LEASE) > 0) return;
  const laneFull = isEnded ? fullLaneOf(core, queue, row) : undefined;
  if (hasRoom(core, queue, row) && laneFull === undefined) return;
  throw fullError(queue, laneFull ?? `jobs waiting: ${queue.waiting}`);
}

function fullLaneOf(core: RoomWorld, queue: Filled, row: number): string | undefined {
  const key = core.lanes.keyOf(core.laneOf(row));
  return fullLane(core, queue, key) ?? fullInTier(core, queue, core.tierOf(row), key);
}

/** Refuses another payload that does not fit; -1: the add that brings it is to be dropped. */
export function roomToReplace(core: RoomWorld, queue: Filled, row: number, spec: JobSpec): number {
  const state = core.jobs.state(row);
  if (state === DELAYED_JOB || state === BLOCKED_JOB) return 0;
  const { bytes, delayed } = queue.config.capacity;
  if (spec.dedupe!.mode === "debounce") {
    if (queue.delayed < delayed) return 0;
    return refuse(queue, `it holds ${queue.delayed} of ${delayed} delayed jobs`);
  }
  const grown = (spec.sizeBytes ?? 0) - core.jobs.int(row, SIZE);
  if (grown <= 0 || queue.bytes + grown <= bytes) return 0;
  return refuse(queue, `it holds ${queue.bytes} of ${bytes} bytes`);
}

function refuse(queue: Filled, why: string): number {
  if (queue.config.onFull === "drop") return -1;
  // A producer may wait for room. If it waits in vain, it reports that itself.
  if (queue.config.onFull !== "wait") queue.counters.rejected++;
  throw fullError(queue, why);
}

function fullError(queue: Filled, why: string): Refusal {
  return new Refusal("QUEUE_FULL", `queue ${queue.name} is full: ${why}`, {
    queue: queue.name,
    retryAfterMs: FULL_RETRY_MS,
  });
}

/** As for a gate: limits that change keep the level, and a full bucket counts as new. */
export function configureAdmission(queue: Filled, now: number): void {
  const { admission } = queue.config;
  if (admission === undefined) queue.admission = undefined;
  else if (queue.admission === undefined || queue.admission.full(now)) {
    queue.admission = new TokenBucket(admission.rate, admission.burst, now);
  } else queue.admission.configure(admission.rate, admission.burst, now);
}

/** Slows adds down to a rate once the queue is filled to a level. */
export function admit(queue: Filled, now: number): void {
  if (queue.admission !== undefined) takeAdmission(queue, queue.admission, now);
}

function takeAdmission(queue: Filled, bucket: TokenBucket, now: number): void {
  const admission = queue.config.admission!;
  if (queue.waiting < admission.fill * queue.config.capacity.jobs) return;
  const opensAt = bucket.opensAt(1, now);
  if (opensAt <= now) {
    bucket.take(1, now);
    return;
  }
  queue.counters.rejected++;
  const retryAfterMs = Math.ceil(opensAt - now);
  throw new Refusal(
    "RATE_LIMITED",
    `queue ${queue.name} is nearly full and admits ${admission.rate} jobs a second; try again later`,
    {
      queue: queue.name,
      retryAfterMs,
    },
  );
}
