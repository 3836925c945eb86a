import type { Core } from "../core.ts";
import { recordOf } from "../facts/record.ts";
import { block, linkNew, linkToFlow } from "../flows/blocked.ts";
import { MaxWaits } from "../gates/max-waits.ts";
import * as jobFields from "../jobs/job-fields.ts";
import { delay, enterStrand } from "../jobs/moves.ts";
import { enterOrder } from "../jobs/ordered.ts";
import { noteWall } from "../jobs/wall.ts";
import type { QueueState } from "../queues/queue-state.ts";
import * as nodeFields from "../ring/node-fields.ts";
import type { JobSpec } from "../types.ts";

const { ADDED, ATTEMPTS, COST, FAILED_EDGE, HAS_EXTRA, ID, IN_STRAND, JOB_INTS } = jobFields;
const { META, SIZE } = jobFields;
const { GATES } = nodeFields;

/** Makes the job and lets it wait; answers its id. */
export function begin(
  core: Core,
  queue: QueueState,
  spec: JobSpec,
  tier: number,
  dueAt: number,
  now: number,
): number {
  const row = create(core, queue, spec, tier, now);
  queue.counters.added++;
  const isLinked = spec.dependencies !== undefined || spec.flow !== undefined;
  if (isLinked || dueAt > now || core.jobs.isOrdered(row)) beginLater(core, row, spec, dueAt, now);
  else start(core, row, now);
  if (core.tells) core.tell({ at: now, fact: "job", job: recordOf(core, row) });
  return core.jobs.f[row * (JOB_INTS / 2) + ID]!;
}

/** A job that may have to wait for something else than its turn. */
function beginLater(core: Core, row: number, spec: JobSpec, dueAt: number, now: number): void {
  const open = spec.dependencies === undefined ? 0 : linkNew(core, row, spec.dependencies);
  const isBlocked = spec.flow !== undefined || open > 0 || core.jobs.int(row, FAILED_EDGE) !== 0;
  if ((dueAt > now || isBlocked) && spec.runAt !== undefined) {
    core.jobs.needExtra(row).runAt = spec.runAt;
    noteWall(core, spec.runAt);
  }
  if (isBlocked) return beginBlocked(core, row, spec, open);
  if (core.jobs.isOrdered(row) && enterOrder(core, row, dueAt)) return;
  if (dueAt > now) delay(core, row, dueAt);
  else start(core, row, now);
}

/** The job waits for others, and is due when they have ended and its own delay is over. */
function beginBlocked(core: Core, row: number, spec: JobSpec, open: number): void {
  if (spec.flow !== undefined) linkToFlow(core, row, spec.flow);
  block(core, row, spec.flow === undefined ? open : open + 1, spec.delayMs ?? 0);
}

/**
 * The latest payload of `keepLast` runs now that its job has ended. It was answered long ago, so
 * nothing refuses it any more: no capacity, no limit that was lowered meanwhile.
 */
export function addFollowUp(core: Core, queue: QueueState, spec: JobSpec, now: number): void {
  const tier = Math.min(spec.priority as number, queue.tiers.length - 1);
  const dueAt = core.dueAt(spec, now);
  begin(core, queue, spec, tier, dueAt, now);
}

function create(core: Core, queue: QueueState, spec: JobSpec, tier: number, now: number): number {
  const strand = strandFor(core, queue, spec, tier, now);
  const { jobs } = core;
  const row = jobs.alloc();
  const ints = jobs.i;
  const at = row * JOB_INTS;
  const doubles = jobs.f;
  doubles[(at >>> 1) + ID] = ++core.lastId;
  doubles[(at >>> 1) + ADDED] = now;
  ints[at + IN_STRAND] = strand;
  ints[at + META] = (tier << 4) | (queue.index << 8);
  ints[at + ATTEMPTS] = (spec.attempts ?? queue.config.retry.attempts) << 16;
  ints[at + COST] = spec.cost ?? 1;
  ints[at + SIZE] = spec.sizeBytes ?? 0;
  if (spec.body !== undefined) jobs.bodies.set(row, spec.body);
  if (spec.policyGates === true) jobs.setPolicyGates(row);
  if ((spec.ordered ?? queue.config.ordered) === true) jobs.setOrdered(row);
  core.ids.insertNew(row);
  if (hasExtra(spec) || queue.config.ttlMs !== undefined) setExtra(core, queue, row, spec, now);
  return row;
}

/** The strand that a new job belongs to, which counts it from now on. */
function strandFor(
  core: Core,
  queue: QueueState,
  spec: JobSpec,
  tier: number,
  now: number,
): number {
  const { lanes } = core;
  const key = queue.config.fairness ? (spec.fairnessKey ?? "") : "";
  const lane = lanes.laneOf(queue.tiers[tier]!, key);
  if (spec.weight !== undefined) lanes.setWeight(lane, spec.weight);
  // After the lane: looking that up may forget another lane, and the set of gates only it used.
  const strand = core.strandOf(lane, core.gates.setOf(spec.gates, now));
  lanes.use(strand);
  return strand;
}

function hasExtra(spec: JobSpec): boolean {
  return (
    spec.ttlMs !== undefined ||
    spec.deadline !== undefined ||
    spec.maxWaitMs !== undefined ||
    spec.dedupe !== undefined ||
    spec.group !== undefined ||
    spec.schedule !== undefined ||
    spec.leaseMs !== undefined ||
    spec.backoff !== undefined
  );
}

function setExtra(core: Core, queue: QueueState, row: number, spec: JobSpec, now: number): void {
  const extra = core.jobs.needExtra(row);
  const id = core.jobs.num(row, ID);
  const ttlMs = spec.ttlMs ?? queue.config.ttlMs ?? Number.POSITIVE_INFINITY;
  extra.deadline = now + ttlMs;
  if (spec.deadline !== undefined) {
    extra.wallDeadline = spec.deadline;
    extra.deadline = spec.deadline - core.wall.aheadMs;
    noteWall(core, spec.deadline);
  }
  extra.maxWaitMs = spec.maxWaitMs ?? Number.POSITIVE_INFINITY;
  extra.leaseMs = spec.leaseMs ?? 0;
  extra.backoff = spec.backoff;
  if (spec.schedule !== undefined) {
    extra.schedule = { ...spec.schedule };
    core.schedules.runBegan(spec.schedule, true);
  }
  if (spec.group !== undefined) extra.group = core.groups.join(spec.group, id);
  if (spec.dedupe === undefined) return;
  const { key, mode, windowMs } = spec.dedupe;
  const until = mode === "window" ? now + windowMs! : Number.POSITIVE_INFINITY;
  extra.dedupe = core.dedupes.hold(queue.serial, key, id, until);
  extra.dedupeMode = mode;
}

/** The job begins to wait for its turn; its gates know if it would not wait long. */
export function start(core: Core, row: number, now: number): void {
  enterStrand(core, row, now);
  if ((core.jobs.i[row * JOB_INTS + HAS_EXTRA]! & 1) !== 0) watchWaits(core, row);
}

/** Has a waiting job's gates watch how long it would wait. */
export function watchWaits(core: Core, row: number): void {
  const maxWaitMs = core.jobs.extra(row)?.maxWaitMs ?? Number.POSITIVE_INFINITY;
  if (maxWaitMs === Number.POSITIVE_INFINITY) return;
  const waiter = { maxWaitMs, row, id: core.jobs.num(row, ID) };
  for (const gate of core.gates.set(core.lanes.get(core.jobs.int(row, IN_STRAND), GATES)).gates) {
    gate.waits ??= new MaxWaits();
    gate.waits.add(core.tierOf(row), core.jobs.int(row, COST), waiter);
    core.lines.look(gate);
  }
}
