import type { Core } from "../core.ts";
import { gateKeys } from "../facts/record.ts";
import { flowOf } from "../flows/blocked.ts";
import type { GateLine } from "../gates/gate-line.ts";
import {
  ADDED,
  ATTEMPTS,
  BLOCKED_JOB,
  COST,
  DELAYED_JOB,
  ENDED_JOB,
  HELD_JOB,
  ID,
  LEASE,
  LEASED_JOB,
  OPEN_EDGES,
  TIME,
  WAITING_JOB,
  WORKER,
} from "../jobs/job-fields.ts";
import { dispatchOf } from "../jobs/moves.ts";
import type { QueueState } from "../queues/queue-state.ts";
import {
  AT_TIER,
  KIND,
  LANE,
  LEASED,
  NODE_INTS,
  QUEUE,
  RECEIVED,
  WAITING,
  WEIGHT,
} from "../ring/node-fields.ts";
import { resultOf } from "../steps/notebook.ts";
import { isOwnResult } from "../steps/step-names.ts";
import type { Notebook } from "../steps/step-types.ts";
import type {
  Ending,
  EndState,
  FairnessKey,
  GateStats,
  HistoryEntry,
  JobState,
  JobView,
  LaneStats,
  QueueStats,
} from "../types.ts";

/** Rows looked at by one call that lists lanes. */
const ROWS_PER_LIST = 20_000;

export function viewOf(core: Core, row: number): JobView {
  const { jobs, lanes } = core;
  const lane = core.laneOf(row);
  const state = jobs.state(row);
  const extra = jobs.extra(row);
  const view: JobView = {
    id: jobs.num(row, ID),
    queue: core.queueOf(row).name,
    state: stateOf(core, row),
    tier: core.tierOf(row),
    fairnessKey: lanes.keyOf(lane),
    weight: lanes.get(lane, WEIGHT),
    gates: gateKeys(core, row),
    cost: jobs.int(row, COST),
    attempt: jobs.int(row, ATTEMPTS) & 0xffff,
    attempts: jobs.int(row, ATTEMPTS) >>> 16,
    lease: jobs.int(row, LEASE),
    deliveries: jobs.deliveries(row),
    addedAt: jobs.num(row, ADDED),
    body: jobs.bodies.get(row),
  };
  if (state === LEASED_JOB) view.worker = core.workers[jobs.int(row, WORKER)]!.name;
  if (jobs.hasPolicyGates(row)) view.policyGates = true;
  const isTimed = jobs.num(row, TIME) !== Number.POSITIVE_INFINITY;
  if (state === BLOCKED_JOB) view.waitsFor = waitsFor(core, row);
  else if (isTimed && state !== WAITING_JOB && state !== HELD_JOB) view.at = jobs.num(row, TIME);
  if (extra === undefined) return view;
  if (extra.deadline !== Number.POSITIVE_INFINITY) view.deadline = extra.deadline;
  if (extra.error !== undefined) view.error = extra.error;
  if (extra.stack !== undefined) view.stack = extra.stack;
  const done = extra.steps === undefined ? 0 : doneSteps(extra.steps);
  if (extra.steps !== undefined && (done > 0 || resultOf(extra) === undefined)) view.steps = done;
  if (extra.progress !== undefined) view.progress = extra.progress;
  const result = resultOf(extra);
  if (result !== undefined) view.result = result;
  if (jobs.ending(row) === "wait-too-long") view.waited = extra.waited!;
  if (extra.schedule !== undefined) view.schedule = { ...extra.schedule };
  if (extra.group !== 0) view.group = core.groups.nameOf(extra.group);
  if (extra.origin !== undefined) {
    const { queue, reason, attempts, at } = extra.origin;
    view.dead = { origin: queue, reason, attempts, at };
  }
  const held = extra.dedupe === 0 ? undefined : core.dedupes.get(extra.dedupe);
  if (held?.id === view.id) view.dedupe = core.dedupes.keyOf(held);
  return view;
}

/** Without the flow that it is in, which is no job. */
function waitsFor(core: Core, row: number): number {
  return core.jobs.int(row, OPEN_EDGES) - (flowOf(core, row) === undefined ? 0 : 1);
}

function doneSteps({ steps }: Notebook): number {
  let done = 0;
  for (const step of steps.values()) if (step.isDone && !isOwnResult(step)) done++;
  return done;
}

/** The state of a job in the words of users. */
export function stateOf(core: Core, row: number): JobState {
  switch (core.jobs.state(row)) {
    case DELAYED_JOB:
      return "delayed";
    case BLOCKED_JOB:
      return "blocked";
    case LEASED_JOB:
      return "running";
    case ENDED_JOB:
      return endStateOf(core.jobs.ending(row)!);
    default:
      return core.jobs.extra(row)?.origin === undefined ? "waiting" : "dead";
  }
}

/** How a job ended in the words of users: what `waited` tells needs no state of its own. */
export function endStateOf(ending: Ending): EndState {
  return ending === "wait-too-long" ? "failed" : ending;
}

/** What happened to a job, oldest first. */
export function historyOf(core: Core, row: number): HistoryEntry[] {
  const { jobs } = core;
  const added = jobs.num(row, ADDED);
  const entries: HistoryEntry[] = [
    ...(jobs.extra(row)?.history ?? [{ at: added, event: "added" as const }]),
  ];
  const state = jobs.state(row);
  const lease = jobs.int(row, LEASE);
  if (lease > 0 && (state === LEASED_JOB || state === ENDED_JOB)) {
    const last = dispatchOf(core, row);
    // If the job failed and was cancelled before its next dispatch, the entry is already there.
    const isTold = entries.some(
      ({ event, detail }) => event === last.event && detail === last.detail,
    );
    if (!isTold) entries.push(last);
  }
  const ending = jobs.ending(row);
  if (ending !== undefined)
    entries.push({ at: jobs.num(row, TIME), event: "ended", detail: endStateOf(ending) });
  return entries;
}

export function queueStats(queue: QueueState): QueueStats {
  return {
    name: queue.name,
    waiting: queue.waiting,
    delayed: queue.delayed,
    blocked: queue.blocked,
    running: queue.leased,
    kept: queue.kept,
    bytes: queue.bytes,
    lanes: queue.lanes,
    perTier: queue.config.tiers.map((tier, i) => ({
      name: tier.name,
      waiting: queue.waitingAt[i]!,
      running: queue.leasedAt[i]!,
    })),
    ...queue.counters,
    freeWorkers: queue.demand,
    paused: queue.config.paused,
  };
}

export function gateStats(gate: GateLine, now: number): GateStats {
  const at = gate.opensAt(1, 0, now);
  return {
    key: gate.key,
    config: gate.config,
    pattern: gate.pattern === gate.key ? undefined : gate.pattern,
    tokens: gate.tokens(now),
    windows: gate.windowUse(now),
    inFlight: gate.inFlight,
    ladderStep: gate.ladderStep,
    cooldown: gate.cooldown(now),
    opensAt: at === Number.POSITIVE_INFINITY ? undefined : at,
    opensAtByTier: gate
      .timedAtByTier(now)
      .map((timed) => (timed === Number.POSITIVE_INFINITY ? null : timed)),
    part: gate.part(1, 0, now),
    waitingLanes: gate.inLine,
  };
}

/**
 * A page of the lanes of a queue: those found among the next rows, and where to go on (0: the end).
 */
export function lanesOf(
  core: Core,
  queue: QueueState,
  search: string,
  limit: number,
  cursor: number,
): { lanes: LaneStats[]; rows: number[]; cursor: number } {
  const lanes: LaneStats[] = [];
  const rows: number[] = [];
  const { nodes } = core.rings;
  const end = Math.min(nodes.end, Math.max(cursor, 1) + ROWS_PER_LIST);
  let row = Math.max(cursor, 1);
  for (; row < end && lanes.length < limit; row++) {
    if (core.lanes.get(row, KIND) !== LANE) continue;
    if (core.lanes.get(row, QUEUE) !== queue.index) continue;
    const stats = laneStats(core, row);
    const key = typeof stats.key === "string" ? stats.key : stats.key.join("/");
    if (!key.includes(search)) continue;
    lanes.push(stats);
    rows.push(row);
  }
  return { lanes, rows, cursor: row < nodes.end ? row : 0 };
}

export interface JobQuery {
  state?: JobState | undefined;
  key?: FairnessKey | undefined;
  limit?: number;
  cursor?: number;
}

/** What a row says of a job in each state. */
const STATES: Readonly<Record<JobState, number>> = {
  waiting: WAITING_JOB,
  delayed: DELAYED_JOB,
  blocked: BLOCKED_JOB,
  running: LEASED_JOB,
  finished: ENDED_JOB,
  failed: ENDED_JOB,
  cancelled: ENDED_JOB,
  expired: ENDED_JOB,
  dead: WAITING_JOB,
};

/** Jobs from a row on, looking at a bounded number of rows; answers where to go on, 0: the end. */
export function jobsOf(
  core: Core,
  queue: QueueState,
  { state, key, limit = 100, cursor = 0 }: JobQuery,
): { jobs: JobView[]; cursor: number } {
  const jobs: JobView[] = [];
  const wanted = key === undefined ? undefined : JSON.stringify(key);
  let row = Math.max(cursor, 1);
  const end = Math.min(core.jobs.end, row + ROWS_PER_LIST);
  for (; row < end && jobs.length < limit; row++) {
    const now = core.jobs.state(row);
    if (now === 0 || core.queueOf(row) !== queue) continue;
    // Most rows are passed over here, before anything is made of them.
    if (state !== undefined && (now === HELD_JOB ? WAITING_JOB : now) !== STATES[state]) continue;
    const view = viewOf(core, row);
    if (state !== undefined && view.state !== state) continue;
    if (wanted !== undefined && JSON.stringify(view.fairnessKey) !== wanted) continue;
    jobs.push(view);
  }
  return { jobs, cursor: row < core.jobs.end ? row : 0 };
}

export function laneStats(core: Core, lane: number): LaneStats {
  return {
    key: core.lanes.keyOf(lane),
    tier: core.lanes.get(lane, AT_TIER),
    weight: core.lanes.get(lane, WEIGHT),
    waiting: core.lanes.get(lane, WAITING),
    running: core.lanes.get(lane, LEASED),
    received: receivedBy(core, lane),
  };
}

export function receivedBy(core: Core, lane: number): number {
  return core.rings.nodes.f[lane * (NODE_INTS / 2) + RECEIVED]!;
}
