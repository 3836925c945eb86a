/** The edges of a job as its record tells them, and back. */
import type { Core } from "../core.ts";
import type { EdgeRecord, JobRecord } from "../facts/facts.ts";
import { BLOCKED_JOB, FAILED_EDGE, ID } from "../jobs/job-fields.ts";
import { endingCode, endingOf, FINISHED } from "../jobs/job-table.ts";
import type { OnDependencyFailure } from "../types.ts";
import {
  block,
  endCode,
  firstEdge,
  flowOf,
  holdEnded,
  isFailed,
  linkToFlow,
  nodeOf,
  ON_CODES,
} from "./blocked.ts";
import { FROM, JOB, NEXT_IN, ON_WAIT } from "./links.ts";
import { startSettling } from "./settle.ts";

const WORDS: readonly OnDependencyFailure[] = ["fail", "run", "wait"];

/** The job that an edge leaves. */
export function idFrom(core: Core, edge: number): number {
  const { flows } = core;
  const node = flows.links.edge(edge, FROM);
  const row = flows.links.node(node, JOB);
  return row === 0 ? flows.unknownId(node) : core.jobs.num(row, ID);
}

export function onOf(core: Core, edge: number): OnDependencyFailure {
  return WORDS[core.flows.links.on(edge)]!;
}

/** How the job ended that an edge leaves, though its walk has not come to the edge; 0: not yet. */
function unsettled(core: Core, edge: number): number {
  const { links } = core.flows;
  const row = links.node(links.edge(edge, FROM), JOB);
  const code = row === 0 ? 0 : endCode(core, row);
  return code === FINISHED || links.on(edge) !== ON_WAIT ? code : 0;
}

/** Adds to a record what the job waits for. One that let go of all of it says that it did wait. */
export function tellEdges(core: Core, row: number, record: JobRecord): void {
  const { jobs, flows } = core;
  if (jobs.isNeeded(row)) record.needed = true;
  const flow = jobs.state(row) === BLOCKED_JOB ? flowOf(core, row) : undefined;
  if (flow !== undefined) record.flow = flow.id;
  if (!jobs.isDependent(row)) return;
  const after: EdgeRecord[] = [];
  for (let edge = firstEdge(core, row); edge !== 0; edge = flows.links.edge(edge, NEXT_IN)) {
    const ending = endingOf(flows.links.ending(edge) || unsettled(core, edge));
    const on = onOf(core, edge);
    after.push(
      ending === undefined
        ? { id: idFrom(core, edge), on }
        : { id: idFrom(core, edge), on, ending },
    );
  }
  record.after = after;
}

/** Makes the edges of a job from its record. The records of its dependencies may come later. */
export function restoreEdges(core: Core, row: number, record: JobRecord): void {
  const { flows, jobs } = core;
  const { links } = flows;
  const waiting = flows.bind(row, record.id);
  const { after, flow } = record;
  if (after !== undefined) jobs.setDependent(row);
  const isOver = record.state === "ended";
  let open = 0;
  for (let i = isOver ? -1 : (after?.length ?? 0) - 1; i >= 0; i--) {
    const { id, on, ending } = after![i]!;
    const edge = links.link(nodeOf(core, id), flows.needNode(row), ON_CODES[on]);
    const known = core.ids.find(id);
    holdEnded(core, known);
    const code = ending !== undefined ? endingCode(ending) : known === 0 ? 0 : endCode(core, known);
    if (code !== 0 && (ending !== undefined || code === FINISHED || on !== "wait")) {
      links.setEnding(edge, code);
    }
    if (links.ending(edge) === 0) open++;
    else if (record.state === "blocked" && isFailed(core, edge))
      jobs.setInt(row, FAILED_EDGE, edge);
  }
  if (record.state === "blocked") {
    if (flow !== undefined) linkToFlow(core, row, flow);
    block(core, row, flow === undefined ? open : open + 1, record.time, record.seq);
  }
  if (record.needed === true) {
    jobs.setNeeded(row, true);
    flows.bare.push(row);
  }
  const code = waiting === 0 ? 0 : endCode(core, row);
  if (code !== 0) startSettling(core, waiting, code);
}
