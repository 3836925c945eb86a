/**
 * What a person does with single jobs: forget one, give it another payload, put it into another
 * queue. A retry, and a cancel, are verbs of the engine itself: workers and programs use them too.
 */
import type { Core } from "../core.ts";
import { invalid, Refusal } from "../errors.ts";
import { recordOf } from "../facts/record.ts";
import * as jobFields from "../jobs/job-fields.ts";
import { changeStrand, leaveStep, note } from "../jobs/moves.ts";
import { refuseFull } from "../queues/capacity.ts";
import { isLetter, leaveDead } from "../queues/dead-letters.ts";
import type { QueueState } from "../queues/queue-state.ts";
import type { JobSpec } from "../types.ts";
import { applyReplace } from "./add.ts";
import { cancel, forgetKept, isBusy, leaveEnded, refuseForgotten, takeOff } from "./end.ts";
import { specOf } from "./fail.ts";
import { deleteLetters } from "./manage.ts";
import { leaveOrder, startInOrder } from "./order.ts";

const { ATTEMPTS, BLOCKED_JOB, COST, DELAYED_JOB, ENDED_JOB, ID, LEASED_JOB, SIZE, TIME } =
  jobFields;

export class ByHand {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Ends dead letters of one queue, wherever they are. Repeat while it answers more than 0. */
  deleteLetters(queue: string, now: number): number {
    const at = this.#core.clock(now);
    this.#core.queue(queue);
    const ended = deleteLetters(this.#core, queue, at);
    this.#core.lines.settle(at);
    return ended;
  }

  /** Cancels a job that has not ended, and forgets it. */
  forget(id: number, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    const row = core.keptRow(id);
    refuseForgotten(core, row);
    if (core.jobs.state(row) === ENDED_JOB ? core.jobs.isNeeded(row) : core.jobs.node(row) !== 0) {
      const message = `job ${id} is part of a flow that has not ended: cancel it instead`;
      throw new Refusal("CONFLICT", message, { field: "id", value: id });
    }
    if (cancel(core, row, at) && core.ids.find(id) === 0) return core.lines.settle(at);
    core.tell({ at, fact: "forgotten", id });
    forgetKept(core, row, core.queueOf(row));
    core.lines.settle(at);
  }

  /** Replaces the payload of a job that is not leased. */
  edit(id: number, body: unknown, sizeBytes: number, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    const row = core.keptRow(id);
    const state = core.jobs.state(row);
    if (state === LEASED_JOB) throw isBusy(core, row);
    if (state !== ENDED_JOB) refuseFull(core.queueOf(row), sizeBytes - core.jobs.int(row, SIZE), 0);
    applyReplace(core, row, sizeBytes, body, undefined, at);
    core.tell({ at, fact: "replaced", id, sizeBytes, body });
    core.tell({ at, fact: "moved", job: recordOf(core, row) });
  }

  /** Puts a job that is not leased into another queue, where it starts over. */
  transfer(id: number, to: string, now: number): void {
    const core = this.#core;
    const at = core.clock(now);
    const row = core.keptRow(id);
    const target = core.queue(to);
    const state = core.jobs.state(row);
    if (state === LEASED_JOB || state === BLOCKED_JOB) throw isBusy(core, row);
    if (target === core.queueOf(row) && state !== ENDED_JOB) {
      throw invalid("to", "a different queue from the job's own", to);
    }
    refuseForgotten(core, row);
    refuseFull(target, core.jobs.int(row, SIZE), 1);
    core.tell({ at, fact: "transferred", id, to });
    applyTransfer(core, row, target, at);
    core.lines.settle(at);
  }
}

/** The job has all its attempts again. One that had not ended keeps its delay and its deadline. */
export function applyTransfer(core: Core, row: number, target: QueueState, now: number): void {
  const { jobs } = core;
  const isOver = jobs.state(row) === ENDED_JOB || isLetter(core, row);
  const dueAt = jobs.state(row) === DELAYED_JOB && !isOver ? jobs.num(row, TIME) : now;
  const runAt = jobs.extra(row)?.runAt ?? Number.POSITIVE_INFINITY;
  leaveQueue(core, row, now);
  const extra = jobs.needExtra(row);
  const spec = extra.origin?.spec ?? specOf(core, row);
  place(core, row, target, spec, now);
  jobs.setInt(row, ATTEMPTS, jobs.int(row, ATTEMPTS) & ~0xffff);
  jobs.resetDeliveries(row);
  extra.origin = undefined;
  if (isOver) {
    extra.deadline = extra.wallDeadline = Number.POSITIVE_INFINITY;
    extra.steps = undefined;
  }
  note(core, row, "redriven", now, `to ${target.name}`);
  target.counters.redriven++;
  if (dueAt > now) extra.runAt = runAt;
  startInOrder(core, row, now, dueAt);
}

/** The job leaves its list, and the dedupe key that it has in its queue. */
function leaveQueue(core: Core, row: number, now: number): void {
  const { jobs } = core;
  const queue = core.queueOf(row);
  const extra = jobs.extra(row);
  if (takeOff(core, row, now)) {
    if (extra?.origin !== undefined) leaveDead(core, queue, row);
    leaveOrder(core, row, now);
  } else {
    leaveEnded(core, row, queue);
    jobs.setEnding(row, undefined);
  }
  if (extra === undefined) return;
  if (extra.steps !== undefined) leaveStep(core, row, extra.steps, now);
  if (extra.dedupe !== 0) core.dedupes.jobEnded(extra.dedupe, jobs.num(row, ID), "cancelled");
  extra.dedupe = 0;
  extra.followUp = undefined;
}

function place(core: Core, row: number, target: QueueState, spec: JobSpec, now: number): void {
  const tier = Math.min(spec.priority as number, target.tiers.length - 1);
  const key = target.config.fairness ? spec.fairnessKey! : "";
  const lane = core.lanes.laneOf(target.tiers[tier]!, key);
  if (spec.weight !== undefined) core.lanes.setWeight(lane, spec.weight);
  changeStrand(core, row, core.strandOf(lane, core.gates.setOf(spec.gates, now)));
  core.jobs.setInt(row, COST, spec.cost!);
  core.jobs.needExtra(row).maxWaitMs = spec.maxWaitMs ?? Number.POSITIVE_INFINITY;
}
