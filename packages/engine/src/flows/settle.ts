import type { Core } from "../core.ts";
import { BLOCKED_JOB, FAILED_EDGE, OPEN_EDGES } from "../jobs/job-fields.ts";
import { endingCode, FINISHED } from "../jobs/job-table.ts";
import type { Ending } from "../types.ts";
import {
  ENTERS,
  JOB,
  LEAVES,
  LETS_GO,
  ON_FAIL,
  ON_SEAL,
  ON_WAIT,
  SETTLES,
  STATE,
  TO,
} from "./links.ts";

/**
 * What the end of a job, or the seal of a flow, means for the edges. Nothing is decided here: jobs
 * that continue, fail or can be released because of it are put on lists.
 */

const ENDING = 7;

/** A job has ended, or died: those that wait for it learn of it, and it lets go of its own. */
export function endNode(core: Core, node: number, ending: Ending): void {
  startSettling(core, node, endingCode(ending));
  const { flows } = core;
  if (ending === "dead" || flows.links.node(node, ENTERS) === 0) return;
  flag(core, node, LETS_GO);
  flows.letting.push(node);
  if (core.isReplaying) while (flows.letting.size > 0) stepLetting(core, Number.POSITIVE_INFINITY);
}

/**
 * Has the dependents of a node learn how it ended. One that ends again meanwhile, a dead letter
 * that is cancelled say, is settled as it ended first, and looked at once more after that.
 */
export function startSettling(core: Core, node: number, code: number): void {
  const { flows } = core;
  const { links } = flows;
  const state = links.node(node, STATE);
  if ((state & SETTLES) !== 0 || links.node(node, LEAVES) === 0) return;
  links.setNode(node, STATE, (state & ~ENDING) | code | SETTLES);
  flows.settling.push(node);
  if (core.isReplaying)
    while (flows.settling.size > 0) stepSettling(core, Number.POSITIVE_INFINITY);
}

function flag(core: Core, node: number, bit: number): void {
  const { links } = core.flows;
  links.setNode(node, STATE, links.node(node, STATE) | bit);
}

function unflag(core: Core, node: number, bit: number): void {
  const { links } = core.flows;
  links.setNode(node, STATE, links.node(node, STATE) & ~bit);
}

/** Continues the walk over the edges of the first node. Returns how many steps it took. */
export function stepSettling(core: Core, most: number): number {
  const { flows } = core;
  const { links } = flows;
  const node = flows.settling.peek();
  if (flows.walking !== node) {
    flows.walking = node;
    flows.cursor = links.firstFrom(node);
  }
  const code = links.node(node, STATE) & ENDING;
  let steps = 1;
  for (; flows.cursor !== 0 && steps <= most; steps++) {
    const edge = flows.cursor;
    flows.cursor = links.nextFrom(edge);
    if (links.on(edge) === ON_SEAL) breakSeal(core, edge);
    else settleEdge(core, edge, code);
  }
  if (flows.cursor === 0) endSettling(core, node, code);
  return steps;
}

function endSettling(core: Core, node: number, code: number): void {
  const { flows, jobs } = core;
  flows.settling.shift();
  flows.walking = 0;
  unflag(core, node, SETTLES);
  if (flows.links.isBare(node)) return flows.nowBare(node);
  const row = flows.links.node(node, JOB);
  const now = row === 0 ? 0 : endingCode(jobs.ending(row));
  if (now !== 0 && now !== code) startSettling(core, node, now);
}

/** The dependency of an edge has ended: it counts no more, or its dependent has failed. */
function settleEdge(core: Core, edge: number, code: number): void {
  const { flows, jobs } = core;
  const { links } = flows;
  if (links.ending(edge) !== 0) return;
  const on = links.on(edge);
  const isFailure = code !== FINISHED;
  if (isFailure && on === ON_WAIT) return;
  links.setEnding(edge, code);
  const row = links.node(links.edge(edge, TO), JOB);
  if (row === 0 || jobs.state(row) !== BLOCKED_JOB) return;
  if (!isFailure || on !== ON_FAIL) return lower(core, row);
  if (jobs.int(row, FAILED_EDGE) !== 0) return;
  jobs.setInt(row, FAILED_EDGE, edge);
  flows.due.push(row);
}

/** An edge of a blocked job counts no more. */
function lower(core: Core, row: number): void {
  const open = core.jobs.int(row, OPEN_EDGES) - 1;
  core.jobs.setInt(row, OPEN_EDGES, open);
  if (open === 0) core.flows.due.push(row);
}

/** The edge from its flow is the first that enters a job. One that has ended lets go itself. */
function breakSeal(core: Core, edge: number): void {
  const { flows, jobs } = core;
  const { links } = flows;
  const to = links.edge(edge, TO);
  const row = links.node(to, JOB);
  if (row === 0 || jobs.state(row) !== BLOCKED_JOB) return;
  flows.dropFirst(to);
  if (!jobs.isDependent(row) && links.isBare(to)) flows.nowBare(to);
  lower(core, row);
}

/** Has an ended job let go of its dependencies; answers how many steps it took. */
export function stepLetting(core: Core, most: number): number {
  const { flows } = core;
  const { links } = flows;
  const node = flows.letting.peek();
  let steps = 1;
  for (; links.node(node, ENTERS) !== 0 && steps <= most; steps++) flows.dropFirst(node);
  if (links.node(node, ENTERS) !== 0) return steps;
  flows.letting.shift();
  unflag(core, node, LETS_GO);
  if (links.isBare(node)) flows.nowBare(node);
  return steps;
}
