import type { Core } from "../core.ts";
import { Refusal } from "../errors.ts";
import { BLOCKED_JOB, ENDED_JOB, FAILED_EDGE, OPEN_EDGES, SEQ, TIME } from "../jobs/job-fields.ts";
import { endingCode, FINISHED, NODES_MAX } from "../jobs/job-table.ts";
import { setLater, unkeep } from "../jobs/moves.ts";
import type { Dependency, OnDependencyFailure } from "../types.ts";
import type { OpenFlow } from "./flows.ts";
import { ENTERS, NEXT_IN, ON_FAIL, ON_RUN, ON_SEAL, ON_WAIT } from "./links.ts";

/** How an edge keeps what a failure does. */
export const ON_CODES: Readonly<Record<OnDependencyFailure, number>> = {
  fail: ON_FAIL,
  run: ON_RUN,
  wait: ON_WAIT,
};

/** Refuses jobs to wait for that are not known, before anything is changed. */
export function checkDependencies(core: Core, after: readonly Dependency[]): void {
  if (core.flows.links.nodes.size + after.length >= NODES_MAX) {
    throw new Refusal(
      "QUEUE_FULL",
      "too many jobs are blocked by other jobs; try again when some have ended",
      { retryAfterMs: 1000 },
    );
  }
  for (let i = 0; i < after.length; i++) {
    const { id } = after[i]!;
    const row = core.ids.find(id);
    if (row !== 0 && !core.queueOf(row).deleted) continue;
    const message = `there is no job ${id} to wait for: it is unknown or no longer kept`;
    throw new Refusal("JOB_NOT_FOUND", message, { field: "job.after", value: id });
  }
}

/** Whether a job would have to wait for one of these, or fail by it. */
export function waits(core: Core, after: readonly Dependency[]): boolean {
  for (let i = 0; i < after.length; i++) {
    const { id, on = "fail" } = after[i]!;
    const code = endCode(core, core.ids.find(id));
    if (code !== FINISHED && (code === 0 || on !== "run")) return true;
  }
  return false;
}

/**
 * Makes the edges of a new job, the first of them last: they enter at the front. Answers how many
 * of them count still.
 */
export function linkNew(core: Core, row: number, after: readonly Dependency[]): number {
  const { flows, jobs } = core;
  if (after.length === 0) return 0;
  const node = flows.needNode(row);
  jobs.setDependent(row);
  let open = 0;
  for (let i = after.length - 1; i >= 0; i--) {
    const { id, on = "fail" } = after[i]!;
    const edge = flows.links.link(nodeOf(core, id), node, ON_CODES[on]);
    const dependency = core.ids.find(id);
    settleNew(core, edge, dependency);
    holdEnded(core, dependency);
    if (flows.links.ending(edge) === 0) open++;
    else if (isFailed(core, edge)) jobs.setInt(row, FAILED_EDGE, edge);
  }
  return open;
}

export function nodeOf(core: Core, id: number): number {
  const row = core.ids.find(id);
  return row === 0 ? core.flows.needUnknown(id) : core.flows.needNode(row);
}

/** An ended job that another waits for from now on is no longer one of those to be forgotten. */
export function holdEnded(core: Core, row: number): void {
  if (row === 0 || core.jobs.state(row) !== ENDED_JOB || core.jobs.isNeeded(row)) return;
  unkeep(core, row, core.queueOf(row));
  core.jobs.setNeeded(row, true);
}

/** A dependency that has ended before, or is dead, counts from the beginning as it ended. */
function settleNew(core: Core, edge: number, row: number): void {
  const { links } = core.flows;
  const code = row === 0 ? 0 : endCode(core, row);
  if (code === FINISHED || links.on(edge) !== ON_WAIT) links.setEnding(edge, code);
}

/** How a job ended, or died; 0: it has not. */
export function endCode(core: Core, row: number): number {
  if (core.jobs.state(row) === ENDED_JOB) return endingCode(core.jobs.ending(row));
  return core.jobs.extra(row)?.origin === undefined ? 0 : endingCode("dead");
}

export function isFailed(core: Core, edge: number): boolean {
  const { links } = core.flows;
  const code = links.ending(edge);
  return links.on(edge) === ON_FAIL && code !== 0 && code !== FINISHED;
}

/** Puts a job into a flow that is not sealed: its edge stays the first that enters. */
export function linkToFlow(core: Core, row: number, flow: number): void {
  const { flows } = core;
  flows.links.link(flows.needFlow(flow).node, flows.needNode(row), ON_SEAL);
}

/** More jobs for one to wait for, which is in a flow that is not sealed. */
export function linkMore(core: Core, row: number, after: readonly Dependency[]): void {
  const { flows, jobs } = core;
  const flow = flowOf(core, row)!;
  // The edge of the flow is taken out and made again, so that it is the first once more.
  flows.dropFirst(flows.needNode(row));
  const open = linkNew(core, row, after);
  linkToFlow(core, row, flow.id);
  jobs.setInt(row, OPEN_EDGES, jobs.int(row, OPEN_EDGES) + open);
  if (jobs.int(row, FAILED_EDGE) !== 0) flows.due.push(row);
}

/** The flow that a blocked job is in and that is not sealed. */
export function flowOf(core: Core, row: number): OpenFlow | undefined {
  const { flows } = core;
  const node = core.jobs.node(row);
  const edge = node === 0 ? 0 : flows.links.node(node, ENTERS);
  if (edge === 0 || flows.links.on(edge) !== ON_SEAL) return undefined;
  const flow = flows.flowAt(flows.links.edge(edge, 0));
  return flow?.state === "sealed" ? undefined : flow;
}

/** The first edge of a job that leads to another job; 0: none. */
export function firstEdge(core: Core, row: number): number {
  const { links } = core.flows;
  const node = core.jobs.node(row);
  const edge = node === 0 ? 0 : links.node(node, ENTERS);
  return edge !== 0 && links.on(edge) === ON_SEAL ? links.edge(edge, NEXT_IN) : edge;
}

/** The job waits for others. */
export function block(core: Core, row: number, open: number, delayMs: number, seq = 0): void {
  const { jobs } = core;
  jobs.setState(row, BLOCKED_JOB);
  jobs.setNum(row, TIME, delayMs);
  jobs.setNum(row, SEQ, seq === 0 ? ++core.lastSeq : seq);
  jobs.setInt(row, OPEN_EDGES, open);
  const queue = core.queueOf(row);
  queue.blocked++;
  setLater(core, row, queue);
  if (open === 0 || jobs.int(row, FAILED_EDGE) !== 0) core.flows.due.push(row);
}

export function unblock(core: Core, row: number): void {
  core.jobs.setInt(row, OPEN_EDGES, 0);
  core.jobs.setInt(row, FAILED_EDGE, 0);
  core.queueOf(row).blocked--;
  if (core.later.has(row)) core.later.remove(row);
}
