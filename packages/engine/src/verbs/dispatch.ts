import type { Core } from "../core.ts";
import { gateCount } from "../facts/record.ts";
import * as jobFields from "../jobs/job-fields.ts";
import { hold, leaveStrand, unlink, workChanged } from "../jobs/moves.ts";
import { deadlineOf } from "../jobs/wall.ts";
import { LaneWaits } from "../queues/lane-waits.ts";
import {
  forgetIdle,
  namesOf,
  type QueueState,
  type WorkerState,
  workerOf,
} from "../queues/queue-state.ts";
import * as nodeFields from "../ring/node-fields.ts";
import type { FairnessKey, Lease, WantOptions } from "../types.ts";
import { endJob, endPurged } from "./end.ts";

const { ADDED, ATTEMPTS, COST, DISPATCHED, HAS_EXTRA, ID, JOB_INTS, LEASE } = jobFields;
const { LEASED_JOB, META, SEQ, TIME } = jobFields;
const { CHILD, HEAD, NODE_INTS, RECEIVED, TOP } = nodeFields;

/**
 * Steps of one call: two or three a lane that is tried, and two more for each gate of a job after
 * the first. The next call does the rest, so that no call takes long.
 */
const TRIES_PER_CALL = 2000;

/** Gives jobs to the workers that are free, at most `max`. */
export function dispatch(core: Core, now: number, max: number): Lease[] {
  const leases: Lease[] = [];
  const stopAt = core.rings.steps + TRIES_PER_CALL;
  while (leases.length < max && core.rings.steps < stopAt) {
    const queue = core.runnable[0];
    if (queue === undefined) break;
    const tier = queue.canWork() ? nextTier(core, queue) : 0;
    if (tier === 0) {
      queue.runnable = false;
      core.runnable.shift();
      continue;
    }
    const lease = serve(core, queue, tier, now);
    if (lease === undefined) continue;
    leases.push(lease);
    if (core.runnable.length > 1) core.runnable.push(core.runnable.shift()!);
  }
  return leases;
}

/** Whether a lane is ready. Unlike `peek` this leaves the rings as they are. */
function hasReady(core: Core, queue: QueueState): boolean {
  if (queue.tierRing !== 0) return core.rings.sizeOf(queue.tierRing) > 0;
  return queue.tierRings.some((ring) => core.rings.sizeOf(ring) > 0);
}

/** The most urgent tier with a ready lane, or the one whose turn it is; 0: none. */
function nextTier(core: Core, queue: QueueState): number {
  if (queue.tierRing !== 0) return core.rings.peek(queue.tierRing);
  // No tier before `firstReady` has a ready lane: code that makes one ready sets it back.
  while (queue.firstReady < queue.tierRings.length) {
    if (core.rings.sizeOf(queue.tierRings[queue.firstReady]!) > 0) {
      return queue.tiers[queue.firstReady]!;
    }
    queue.firstReady++;
  }
  return 0;
}

/** Tries the lane whose turn it is: its oldest ready job goes out, or its strand goes to a line. */
function serve(core: Core, queue: QueueState, tier: number, now: number): Lease | undefined {
  const { jobs, lines, rings } = core;
  const lane = rings.leaf(core.lanes.get(tier, CHILD));
  const nodes = rings.nodes.i;
  const strand = nodes[lane * NODE_INTS + TOP]!;
  const row = nodes[strand * NODE_INTS + HEAD]!;
  const at = row * JOB_INTS;
  rings.steps += Math.max(1, 2 * gateCount(core, strand) - 1);
  const mayBeOver = queue.purgeUpTo !== 0 || (jobs.i[at + HAS_EXTRA]! & 1) !== 0;
  if (mayBeOver && endOver(core, queue, row, now)) return undefined;
  if (!lines.admit(strand, now)) {
    if (!lines.isSettled) lines.settle(now);
    return undefined;
  }
  const cost = jobs.i[at + COST]!;
  rings.charge(lane, cost);
  const received = lane * (NODE_INTS / 2) + RECEIVED;
  const counts = rings.nodes.f;
  const isFirst = counts[received] === 0;
  counts[received]! += cost;
  queue.laneWaits ??= new LaneWaits();
  queue.laneWaits.count(lane, now - jobs.f[(at >>> 1) + TIME]!, isFirst);
  unlink(core, row);
  lines.dispatched(strand, now);
  const lease = grant(core, queue, row, now);
  if (!lines.isSettled) lines.settle(now);
  return lease;
}

/** Ends a job that is purged, or whose deadline has passed; false: it may go out. */
function endOver(core: Core, queue: QueueState, row: number, now: number): boolean {
  const { jobs } = core;
  if (queue.purgeUpTo !== 0 && jobs.num(row, SEQ) <= queue.purgeUpTo) {
    endPurged(core, row, now);
    return true;
  }
  if (deadlineOf(core, row) > now) return false;
  leaveStrand(core, row, now);
  endJob(core, row, "expired", now);
  return true;
}

function grant(core: Core, queue: QueueState, row: number, now: number): Lease {
  const { jobs } = core;
  const ints = jobs.i;
  const doubles = jobs.f;
  const at = row * JOB_INTS;
  const worker = useSlot(queue);
  const until = now + (worker.leaseMs || jobs.extra(row)?.leaseMs || queue.config.leaseMs);
  const lease = ints[at + LEASE]! + 1;
  queue.waits.count(now - doubles[(at >>> 1) + TIME]!);
  markLeased(core, row, worker, lease, until, now);
  queue.counters.dispatched++;
  queue.demand--;
  if (!queue.canWork()) workChanged(core, queue);
  const id = doubles[(at >>> 1) + ID]!;
  if (core.tells) tellLease(core, id, lease, until, worker, now);
  return {
    id,
    lease,
    queue: queue.name,
    worker: worker.name,
    attempt: ints[at + ATTEMPTS]! & 0xffff,
    tier: (ints[at + META]! >>> 4) & 15,
    expiresAt: until,
    body: jobs.bodies.get(row),
  };
}

function tellLease(
  core: Core,
  id: number,
  lease: number,
  until: number,
  { name, inProcess }: WorkerState,
  at: number,
): void {
  if (inProcess) core.tell({ at, fact: "leased", id, lease, until, worker: name, inProcess });
  else core.tell({ at, fact: "leased", id, lease, until, worker: name });
}

/** A job that is off its strand is leased from now on. */
export function markLeased(
  core: Core,
  row: number,
  worker: WorkerState,
  lease: number,
  until: number,
  now: number,
): void {
  const { jobs } = core;
  const at = row * JOB_INTS;
  jobs.i[at + LEASE] = lease;
  jobs.i[at + DISPATCHED] = Math.min(now - jobs.f[(at >>> 1) + ADDED]!, 0x7fffffff);
  hold(core, row, worker, until);
}

/** A leased job has come to an end, good or bad, by its worker's word. */
export function countRun(core: Core, row: number, now: number): void {
  const { jobs } = core;
  const at = row * JOB_INTS;
  const queue = core.queues[jobs.i[at + META]! >>> 8]!;
  queue.runs.count(now - jobs.f[(at >>> 1) + ADDED]! - jobs.i[at + DISPATCHED]!);
}

/** What a worker gets with its lease on a job. */
export interface Held {
  attempts: number;
  deliveries: number;
  /** It has recorded steps, or was suspended for one. */
  hasSteps: boolean;
  fairnessKey: FairnessKey;
  addedAt: number;
  expiresAt: number;
}

/** Fills `into`, which may be used again: a new one for each delivery was 100 bytes of garbage. */
export function heldOf(core: Core, row: number, lease: number, into: Held): Held | undefined {
  const { jobs } = core;
  if (jobs.state(row) !== LEASED_JOB || jobs.int(row, LEASE) !== lease) return undefined;
  into.attempts = jobs.int(row, ATTEMPTS) >>> 16;
  into.deliveries = jobs.deliveries(row);
  into.hasSteps = jobs.extra(row)?.steps !== undefined;
  into.fairnessKey = core.lanes.keyOf(core.laneOf(row));
  into.addedAt = jobs.num(row, ADDED);
  into.expiresAt = jobs.num(row, TIME);
  return into;
}

export function emptyHeld(): Held {
  return { attempts: 0, deliveries: 0, hasSteps: false, fairnessKey: "", addedAt: 0, expiresAt: 0 };
}

/** Workers with free slots take turns: the one that was served goes to the end. */
function useSlot({ free }: QueueState): WorkerState {
  const worker = free[0]!;
  worker.slots--;
  if (worker.slots > 0 && free.length === 1) return worker;
  free.shift();
  if (worker.slots > 0) free.push(worker);
  return worker;
}

/** Sets how many jobs a worker would take now. */
export function want(
  core: Core,
  queue: QueueState,
  name: string,
  slots: number,
  { leaseMs = 0, inProcess = false }: WantOptions = {},
): void {
  const worker =
    slots === 0 ? namesOf(queue, inProcess).get(name) : workerOf(core, queue, name, inProcess);
  if (worker === undefined) return;
  const couldWork = queue.canWork();
  queue.demand += slots - worker.slots;
  if (worker.slots === 0 && slots > 0) queue.free.push(worker);
  else if (worker.slots > 0 && slots === 0) queue.free.splice(queue.free.indexOf(worker), 1);
  worker.slots = slots;
  worker.leaseMs = leaseMs;
  if (slots === 0) forgetIdle(core, queue, worker);
  if (couldWork !== queue.canWork()) workChanged(core, queue);
  if (hasReady(core, queue)) core.wake(queue, queue.firstReady);
}
