import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { BLOCKED_JOB, FAILED_EDGE, ID, OPEN_EDGES, TIME } from "../jobs/job-fields.ts";
import { endingCode, endingOf, FINISHED } from "../jobs/job-table.ts";
import { forget, keep } from "../jobs/moves.ts";
import { hasRoom } from "../queues/capacity.ts";
import { endJob, endPurged, isPurged, trimKept } from "../verbs/end.ts";
import { startInOrder } from "../verbs/order.ts";
import { unblock } from "./blocked.ts";
import type { OpenFlow } from "./flows.ts";
import { FROM, JOB, TO } from "./links.ts";
import { startSettling, stepLetting, stepSettling } from "./settle.ts";

/** An unsealed flow is cancelled after this long: its client is gone, or has lost its way. */
export const FLOW_OPEN_MS = 10 * 60_000;

/** Flows that are open at once: each is an object, and a client has one or two. */
const FLOWS_OPEN_MAX = 10_000;

/** Does some of what the ends of jobs mean for others; answers how many steps it took. */
export function stepFlows(core: Core, most: number, now: number): number {
  let left = most;
  // The end of one job may end others, which is work of the same kind.
  for (let before = 0; left > 0 && left !== before; ) {
    before = left;
    left = stepOnce(core, left, now);
  }
  core.rings.steps += most - left;
  return most - left;
}

function stepOnce(core: Core, most: number, now: number): number {
  const { flows } = core;
  let left = most;
  while (left > 0 && flows.letting.size > 0) left -= stepLetting(core, left);
  while (left > 0 && flows.settling.size > 0) left -= stepSettling(core, left);
  while (left > 0 && flows.cancelling.size > 0) left -= stepCancelling(core, left, now);
  for (; left > 0 && flows.due.size > 0; left--) goOn(core, flows.due.shift(), now);
  if (left > 0 && flows.bare.size > 0) left -= releaseSome(core, left, now);
  return left;
}

/** A blocked job may go on, or has failed; it may also have ended since it was put on the list. */
function goOn(core: Core, row: number, now: number): void {
  const { jobs } = core;
  if (jobs.state(row) !== BLOCKED_JOB || core.queueOf(row).deleted) return;
  const failed = jobs.int(row, FAILED_EDGE);
  if (failed === 0 && jobs.int(row, OPEN_EDGES) > 0) return;
  if (isPurged(core, row)) return endPurged(core, row, now);
  if (failed !== 0) {
    const error = failureOf(core, failed);
    unblock(core, row);
    return endJob(core, row, "failed", now, { error });
  }
  const until = dueTime(core, row, now);
  const fact = { at: now, fact: "due" as const, id: jobs.num(row, ID) };
  core.tell(until === undefined ? fact : { ...fact, until });
  applyUnblock(core, row, now, until);
}

/** When a job that waits for no other any more is due; undefined: now. */
function dueTime(core: Core, row: number, now: number): number | undefined {
  const runAt = core.jobs.extra(row)?.runAt ?? Number.POSITIVE_INFINITY;
  const isOnWall = runAt !== Number.POSITIVE_INFINITY;
  const until = isOnWall ? runAt - core.wall.aheadMs : now + core.jobs.num(row, TIME);
  if (until > now) return until;
  const queue = core.queueOf(row);
  return hasRoom(core, queue, row) ? undefined : now + queue.config.fullRetryMs;
}

export function applyUnblock(
  core: Core,
  row: number,
  now: number,
  until: number | undefined,
): void {
  unblock(core, row);
  const extra = core.jobs.extra(row);
  // One that is put off because its queue is full has no time on the wall any more.
  if (extra !== undefined && extra.runAt - core.wall.aheadMs !== until) {
    extra.runAt = Number.POSITIVE_INFINITY;
  }
  startInOrder(core, row, now, until);
}

/** Why a job fails because of another, in words: jobs have other names outside. */
function failureOf(core: Core, edge: number): string {
  const { links } = core.flows;
  const row = links.node(links.edge(edge, FROM), JOB);
  const how = WORDS[endingOf(links.ending(edge)) as keyof typeof WORDS];
  if (row === 0) return `a job that it waits for ${how}`;
  const error = core.jobs.extra(row)?.error;
  const text = `a job of queue ${originOf(core, row)} that it waits for ${how}`;
  return error === undefined ? text : `${text}: ${error}`;
}

const WORDS = {
  failed: "failed",
  "wait-too-long": "failed",
  cancelled: "was cancelled",
  expired: "expired",
  dead: "is dead",
} as const;

function originOf(core: Core, row: number): string {
  return core.jobs.extra(row)?.origin?.queue ?? core.queueOf(row).name;
}

/** Releases jobs that no other needs any more; one fact tells of all of them. */
function releaseSome(core: Core, most: number, now: number): number {
  const { flows, jobs } = core;
  const ids: number[] = [];
  let steps = 0;
  for (; steps < most && flows.bare.size > 0; steps++) {
    const row = flows.bare.shift();
    if (!isReleasable(core, row)) continue;
    ids.push(jobs.num(row, ID));
    applyRelease(core, row);
  }
  if (ids.length > 0) core.tell({ at: now, fact: "released", ids });
  return steps;
}

function isReleasable(core: Core, row: number): boolean {
  const node = core.jobs.node(row);
  if (!core.jobs.isNeeded(row)) return false;
  return node === 0 || core.flows.links.isBare(node);
}

/** The job is kept like any other from now on. */
export function applyRelease(core: Core, row: number): void {
  const { jobs } = core;
  const queue = core.queueOf(row);
  const { results } = queue.config;
  jobs.setNeeded(row, false);
  core.flows.dropNode(row);
  const seq = ++core.lastSeq;
  if (queue.deleted || results.jobs === 0 || results.ms === 0) return forget(core, row);
  keep(core, row, queue, jobs.num(row, TIME), seq);
  trimKept(core, queue);
}

/** Opens a flow: its jobs are not eligible before it is sealed. Answers its number. */
export function openFlow(core: Core, now: number): number {
  const { flows } = core;
  if (flows.open.size >= FLOWS_OPEN_MAX) {
    const message = `${flows.open.size} flows are open: seal or cancel some`;
    throw new Refusal("RATE_LIMITED", message, { retryAfterMs: 1000 });
  }
  const flow = flows.needFlow(++core.lastId);
  flow.until = now + FLOW_OPEN_MS;
  core.tell({ at: now, fact: "flow", flow: flow.id, state: "open", until: flow.until });
  return flow.id;
}

export function findFlow(core: Core, id: number): OpenFlow {
  const flow = core.flows.open.get(id);
  if (flow?.state === "open") return flow;
  const isKnown = id >= 1 && id <= core.lastId;
  const message = isKnown
    ? `flow ${id} is not open: it was sealed, or cancelled because it was open for ten minutes`
    : `there is no flow ${id}`;
  const code = isKnown ? "CONFLICT" : "JOB_NOT_FOUND";
  throw new Refusal(code, message, { field: "flow", value: id });
}

/** No more jobs come: those that wait for no other are eligible. */
export function sealFlow(core: Core, flow: OpenFlow, now: number): void {
  core.tell({ at: now, fact: "flow", flow: flow.id, state: "sealed", until: flow.until });
  applySeal(core, flow);
}

export function applySeal(core: Core, flow: OpenFlow): void {
  flow.state = "sealed";
  if (core.flows.links.isBare(flow.node)) core.flows.nowBare(flow.node);
  else startSettling(core, flow.node, FINISHED);
}

/** All jobs of a flow that is not sealed end as cancelled, a step at a time. */
export function cancelFlow(core: Core, flow: OpenFlow, now: number): void {
  core.tell({ at: now, fact: "flow", flow: flow.id, state: "cancelled", until: flow.until });
  applyCancelFlow(core, flow);
  core.flows.cancelling.push(flow.id);
}

export function applyCancelFlow(core: Core, flow: OpenFlow): void {
  flow.state = "cancelled";
  if (core.flows.links.isBare(flow.node)) core.flows.nowBare(flow.node);
}

/** Continues to cancel the first flow on the list. Returns how many steps it took. */
function stepCancelling(core: Core, most: number, now: number): number {
  const { flows, jobs } = core;
  const { links } = flows;
  const flow = flows.open.get(flows.cancelling.peek());
  let steps = 1;
  for (; steps <= most; steps++) {
    const edge = flow === undefined ? 0 : links.firstFrom(flow.node);
    if (edge === 0) {
      flows.cancelling.shift();
      break;
    }
    const to = links.edge(edge, TO);
    const row = links.node(to, JOB);
    flows.dropFirst(to);
    if (row === 0 || jobs.state(row) !== BLOCKED_JOB || core.queueOf(row).deleted) continue;
    unblock(core, row);
    endJob(core, row, "cancelled", now, { error: NOT_SEALED });
  }
  return steps;
}

const NOT_SEALED = "its flow was cancelled before it was sealed";

/** The flow that is open for longest; undefined: none is. */
export function oldestFlow(core: Core): OpenFlow | undefined {
  for (const flow of core.flows.open.values()) if (flow.state === "open") return flow;
  return undefined;
}

/** What a replay leaves behind: flows that were being cancelled, and jobs that went unsaid. */
export function endFlowReplay(core: Core): void {
  const { flows } = core;
  for (const flow of flows.open.values()) {
    if (flow.until === 0) flow.state = "cancelled";
    if (flow.state === "cancelled") flows.cancelling.push(flow.id);
  }
  for (const node of flows.unknownNodes()) startSettling(core, node, CANCELLED);
}

const CANCELLED = endingCode("cancelled");
