import type { Core } from "../core.ts";
import { invalid, Refusal } from "../errors.ts";
import type { AddResult, Dependency, JobSpec } from "../types.ts";
import { add } from "../verbs/add.ts";
import { checkDependencies, flowOf, linkMore } from "./blocked.ts";
import { cancelFlow, findFlow, openFlow, sealFlow } from "./go-on.ts";

/** A job of a flow, and the queue that it goes to. */
export interface FlowJob {
  readonly queue: string;
  readonly spec: JobSpec;
}

/**
 * Flows that are filled by several calls: none of their jobs is eligible before they are sealed.
 */
export class FlowVerbs {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Answers the number of the flow. */
  open(now: number): number {
    return openFlow(this.#core, this.#core.clock(now));
  }

  /**
   * Adds jobs of any queues to an open flow; a refusal throws, and leaves what was added before.
   * `ids` are the jobs of the flow so far, and get those that are added: a dependency with an id
   * below 1 is the job at that place, counted from 0 downwards.
   */
  add(flow: number, jobs: readonly FlowJob[], ids: number[], now: number): AddResult[] {
    const at = this.#core.clock(now);
    findFlow(this.#core, flow);
    const results = jobs.map((job) => {
      const added = addToFlow(this.#core, flow, job, ids, at);
      ids.push(added.id);
      return added;
    });
    this.#core.lines.settle(at);
    return results;
  }

  /** More jobs for one to wait for, before those that it has. */
  link(flow: number, id: number, after: readonly Dependency[], now: number): void {
    const at = this.#core.clock(now);
    findFlow(this.#core, flow);
    linkInFlow(this.#core, flow, id, after, at);
  }

  /** No more jobs come: those that wait for no other are eligible. */
  seal(flow: number, now: number): void {
    const at = this.#core.clock(now);
    sealFlow(this.#core, findFlow(this.#core, flow), at);
  }

  /** Cancels all jobs of a flow that is not sealed. */
  cancel(flow: number, now: number): void {
    const at = this.#core.clock(now);
    cancelFlow(this.#core, findFlow(this.#core, flow), at);
  }
}

/** Adds a job to an open flow. */
function addToFlow(
  core: Core,
  flow: number,
  { queue, spec }: FlowJob,
  ids: readonly number[],
  now: number,
): AddResult {
  const dependencies = spec.dependencies?.map((one) => resolve(one, ids));
  const result = add(core, core.queue(queue), { ...spec, flow, dependencies }, now);
  if (spec.group !== undefined) core.groups.close(spec.group);
  if (result.dropped !== true) return result;
  throw new Refusal("QUEUE_FULL", `queue ${queue} is full; try again later or raise its capacity`, {
    queue,
    retryAfterMs: 1000,
  });
}

/** A dependency below 1 is a job of the same flow, by its place. */
function resolve(dependency: Dependency, ids: readonly number[]): Dependency {
  if (dependency.id > 0) return dependency;
  const id = ids[-dependency.id];
  if (id === undefined) throw invalid("job.after", "an earlier job", -dependency.id);
  return { ...dependency, id };
}

/** More jobs for a job of an open flow to wait for. */
function linkInFlow(
  core: Core,
  flow: number,
  id: number,
  after: readonly Dependency[],
  now: number,
): void {
  const row = core.keptRow(id);
  if (flowOf(core, row)?.id !== flow) {
    throw new Refusal("CONFLICT", `job ${id} is not in flow ${flow}`, { field: "id", value: id });
  }
  checkDependencies(core, after);
  linkMore(core, row, after);
  const told = after.map(({ id: one, on = "fail" }) => ({ id: one, on }));
  core.tell({ at: now, fact: "linked", id, after: told });
}
