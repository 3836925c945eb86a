import type { Core } from "../core.ts";
import { invalid, Refusal } from "../errors.ts";
import { firstEdge, flowOf } from "../flows/blocked.ts";
import { FROM, JOB, NEXT_IN, TO } from "../flows/links.ts";
import { idFrom, onOf } from "../flows/records.ts";
import { ID, OPEN_EDGES } from "../jobs/job-fields.ts";
import { endingOf } from "../jobs/job-table.ts";
import { resultOf } from "../steps/notebook.ts";
import type { JobState, OnDependencyFailure } from "../types.ts";
import { endStateOf, stateOf } from "./view.ts";
import type { WhyBlocked } from "./why-types.ts";

/** A job at one end of an edge. */
export interface DependencyView {
  id: number;
  /** Absent when the job went with its queue. */
  queue?: string;
  state: JobState;
  /** What its failure does to the job that waits for it. */
  on: OnDependencyFailure;
  error?: string;
  result?: unknown;
}

/** A page, and where the next one begins; 0: it is the last. */
export interface DependencyPage {
  items: DependencyView[];
  cursor: number;
}

/** Edges looked at for one that keeps a blocked job: some hundred microseconds. */
const EDGES_LOOKED_AT = 20_000;

export function dependenciesOf(
  core: Core,
  row: number,
  limit: number,
  cursor: number,
): DependencyPage {
  const { links } = core.flows;
  const node = core.jobs.node(row);
  let edge = cursor === 0 ? firstEdge(core, row) : cursor;
  if (edge === 0 && core.jobs.isDependent(row)) throw isOver(core, row);
  if (edge !== 0 && links.edge(edge, TO) !== node)
    throw invalid("cursor", "a cursor of this list", cursor);
  const items: DependencyView[] = [];
  for (; edge !== 0 && items.length < limit; edge = links.edge(edge, NEXT_IN)) {
    items.push(viewAt(core, edge, links.node(links.edge(edge, FROM), JOB), idFrom(core, edge)));
  }
  return { items, cursor: edge };
}

function isOver(core: Core, row: number): Refusal {
  const id = core.jobs.num(row, ID);
  const message = `job ${id} has ended; its dependencies are no longer kept`;
  return new Refusal("ALREADY_FINISHED", message, { field: "id", value: id });
}

export function dependentsOf(
  core: Core,
  row: number,
  limit: number,
  cursor: number,
): DependencyPage {
  const { links } = core.flows;
  const node = core.jobs.node(row);
  let edge = cursor !== 0 ? cursor : node === 0 ? 0 : links.firstFrom(node);
  if (edge !== 0 && links.edge(edge, FROM) !== node)
    throw invalid("cursor", "a cursor of this list", cursor);
  const items: DependencyView[] = [];
  for (; edge !== 0 && items.length < limit; edge = links.nextFrom(edge)) {
    const to = links.node(links.edge(edge, TO), JOB);
    if (to === 0) continue;
    const id = core.jobs.num(to, ID);
    items.push({
      id,
      queue: core.queueOf(to).name,
      state: stateOf(core, to),
      on: onOf(core, edge),
    });
  }
  return { items, cursor: edge };
}

function viewAt(core: Core, edge: number, row: number, id: number): DependencyView {
  const on = onOf(core, edge);
  if (row === 0) {
    const ending = endingOf(core.flows.links.ending(edge));
    return { id, state: ending === undefined ? "cancelled" : endStateOf(ending), on };
  }
  const view: DependencyView = { id, queue: core.queueOf(row).name, state: stateOf(core, row), on };
  const extra = core.jobs.extra(row);
  if (extra?.error !== undefined) view.error = extra.error;
  const result = resultOf(extra);
  if (result !== undefined) view.result = result;
  return view;
}

/** What a blocked job waits for: the first of its dependencies that has not ended. */
export function whyBlocked(core: Core, row: number): WhyBlocked {
  const { flows, jobs } = core;
  const flow = flowOf(core, row);
  const open = jobs.int(row, OPEN_EDGES) - (flow === undefined ? 0 : 1);
  const why: WhyBlocked = { state: "blocked", queue: core.queueOf(row).name, open };
  if (flow !== undefined) {
    why.flow = flow.id;
    why.until = flow.until;
  }
  let edge = firstEdge(core, row);
  for (let i = 0; edge !== 0 && i < EDGES_LOOKED_AT; i++, edge = flows.links.edge(edge, NEXT_IN)) {
    if (flows.links.ending(edge) !== 0) continue;
    const { id, queue, state } = viewAt(
      core,
      edge,
      flows.links.node(flows.links.edge(edge, FROM), JOB),
      idFrom(core, edge),
    );
    why.for = queue === undefined ? { id } : { id, queue, state };
    break;
  }
  return why;
}
