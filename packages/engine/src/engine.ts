import { Core, type EngineOptions, type Overdue, type Wall } from "./core.ts";
import { checkInteger, invalid, Refusal } from "./errors.ts";
import { checkpoint } from "./facts/checkpoint.ts";
import type { Fact } from "./facts/facts.ts";
import { apply, dropParts, endInProcess } from "./facts/replay.ts";
import { sealLeases } from "./facts/seal-leases.ts";
import { cancelWithDependencies } from "./flows/cascade.ts";
import { FlowVerbs } from "./flows/fill.ts";
import { endFlowReplay } from "./flows/go-on.ts";
import type { GateConfig } from "./gates/gate-state.ts";
import * as jobFields from "./jobs/job-fields.ts";
import { JobLogs } from "./jobs/job-log.ts";
import { unhold } from "./jobs/moves.ts";
import { setWallAhead } from "./jobs/wall.ts";
import { Borrower } from "./lending/borrower.ts";
import { Lender } from "./lending/lender.ts";
import { tellCleared, tellCooldown } from "./lending/news.ts";
import { BATCH_JOBS_MAX, LEASE_MS_MAX, SLOTS_MAX, WEIGHT_MAX } from "./limits.ts";
import { Queries } from "./queries/queries.ts";
import { isLetter, lettersFrom, lettersIn, refuseCircle } from "./queues/dead-letters.ts";
import type { QueueConfig } from "./queues/queue-config.ts";
import type { RememberedAnswers } from "./remembered-answers.ts";
import { Schedules } from "./schedules/schedules.ts";
import { keepResult, type ResultBody } from "./steps/kept-result.ts";
import { StepVerbs } from "./steps/step-verbs.ts";
import type { Stores } from "./stores.ts";
import type { AddResult, FairnessKey, JobSpec, Lease, NackOptions, WantOptions } from "./types.ts";
import { add } from "./verbs/add.ts";
import { ByHand } from "./verbs/by-hand.ts";
import { charge } from "./verbs/charge.ts";
import { countRun, dispatch, emptyHeld, type Held, heldOf, want } from "./verbs/dispatch.ts";
import { cancel, endJob, endWait, NOTHING, reportSuccess, revive } from "./verbs/end.ts";
import { expireLease, extendLease, giveBack, nack, report, retryLetter } from "./verbs/fail.ts";
import {
  deleteQueue,
  purge,
  redriveByIds,
  redriveOldest,
  setGate,
  setLaneWeight,
  setQueue,
  stepPurge,
} from "./verbs/manage.ts";
import { nextWake, tick } from "./verbs/tick.ts";

const { ENDED_JOB } = jobFields;

/**
 * The scheduler as a deterministic function of its calls: no I/O, no timers, no clock of its own.
 * Every call carries `now`; a refused call throws a `Refusal` and changes nothing.
 */
export class Engine {
  readonly #core: Core;
  readonly stores: Stores;
  readonly schedules: Schedules;
  readonly operations: RememberedAnswers;
  /** What the handlers of jobs do in steps. */
  readonly steps: StepVerbs;
  readonly logs: JobLogs;
  readonly byHand: ByHand;
  /** What can be asked; the rest of the engine is what can be done. */
  readonly queries: Queries;
  /** Flows that are filled by several calls. */
  readonly flows: FlowVerbs;
  /** The gates whose home this is, for other partitions. */
  readonly lender: Lender;
  /** The gates whose home is elsewhere. */
  readonly borrower: Borrower;

  constructor(options: EngineOptions) {
    const core = new Core(options);
    this.#core = core;
    this.stores = core.stores;
    this.schedules = new Schedules(core);
    this.operations = core.operations;
    this.steps = new StepVerbs(core);
    this.logs = new JobLogs(core);
    this.byHand = new ByHand(core);
    this.queries = new Queries(core);
    this.flows = new FlowVerbs(core);
    this.lender = new Lender(core);
    this.borrower = new Borrower(core);
    core.endWait = (row, gate) => endWait(core, row, gate);
  }

  // Queues

  /** Makes a queue, or changes one in place: its jobs stay. */
  setQueue(queue: string, config: QueueConfig, now: number): void {
    const at = this.#core.clock(now);
    const old = this.#core.byName.get(queue)?.config;
    if (config.dlq !== old?.dlq) refuseCircle(this.#core, queue, config.dlq);
    setQueue(this.#core, queue, config);
    this.#core.tell({ at, fact: "queue", name: queue, config });
    this.#core.lines.settle(at);
  }

  /** Answers how many of its dead letters other queues keep, and how many went with it. */
  deleteQueue(queue: string, now: number): { kept: number; deleted: number } {
    const at = this.#core.clock(now);
    const deleted = lettersIn(this.#core.queue(queue));
    deleteQueue(this.#core, this.#core.queue(queue));
    this.#core.tell({ at, fact: "queue-deleted", name: queue });
    this.#core.lines.settle(at);
    return { kept: lettersFrom(this.#core, queue), deleted };
  }

  /** Removes what waits or is delayed now; leases are left alone. */
  purge(queue: string, now: number): void {
    const at = this.#core.clock(now);
    const upTo = this.#core.lastSeq;
    purge(this.#core, this.#core.queue(queue), upTo, at);
    this.#core.tell({ at, fact: "purged", name: queue, upTo });
    // A small queue is empty when the call returns, and no job can return to it in between.
    stepPurge(this.#core, at);
    this.#core.lines.settle(at);
  }

  setLaneWeight(queue: string, key: FairnessKey, weight: number, now: number): void {
    const at = this.#core.clock(now);
    const path = typeof key === "string" ? [key] : key;
    if (path.at(-1)!.endsWith("*")) throw invalid("key", "the key of one lane, not a rule", key);
    checkInteger("weight", weight, 1, WEIGHT_MAX);
    setLaneWeight(this.#core, this.#core.queue(queue), key, weight);
    this.#core.tell({ at, fact: "weight", queue, key: path, weight });
  }

  /** Undefined when there is no such queue. */
  findQueueConfig(queue: string): QueueConfig | undefined {
    return this.#core.byName.get(queue)?.config;
  }

  queueConfig(queue: string): QueueConfig {
    return this.#core.queue(queue).config;
  }

  // Jobs

  add(queue: string, spec: JobSpec, now: number): AddResult {
    const at = this.#core.clock(now);
    const result = add(this.#core, this.#core.queue(queue), spec, at);
    if (spec.group !== undefined) this.#core.groups.close(spec.group);
    if (!this.#core.lines.isSettled) this.#core.lines.settle(at);
    return result;
  }

  /** An add that waited for room under `onFull: "wait"` was refused in the end. */
  countRejected(queue: string): void {
    this.#core.queue(queue).counters.rejected++;
  }

  /**
   * Adds a batch; each item has its own answer, and one refused item does not stop the others. Jobs
   * of more than `ADD_STEPS_MAX` steps together may take more than 5 ms. Groups that are held do
   * not end before `releaseGroup`, for members that another call brings.
   */
  addAll(
    queue: string,
    specs: readonly JobSpec[],
    now: number,
    { holdGroups = false }: { holdGroups?: boolean } = {},
  ): (AddResult | Refusal)[] {
    const at = this.#core.clock(now);
    const target = this.#core.queue(queue);
    const groups = new Set<string>();
    const results = specs.map((spec) => {
      try {
        const result = add(this.#core, target, spec, at);
        if (spec.group !== undefined) groups.add(spec.group);
        return result;
      } catch (error) {
        if (error instanceof Refusal) return error;
        throw error;
      }
    });
    for (const name of groups) {
      this.#core.groups.close(name);
      if (holdGroups) this.holdGroup(name, at);
    }
    this.#core.lines.settle(at);
    return results;
  }

  /** More members come to a group that is there: it does not end before it is released. */
  holdGroup(name: string, now: number): void {
    const at = this.#core.clock(now);
    if (this.#core.groups.hold(name)) this.#core.tell({ at, fact: "group-held", name });
  }

  /** No more members come to a group that was held: it ends when they all have. */
  releaseGroup(name: string, now: number): void {
    const at = this.#core.clock(now);
    const known = this.#core.groups.release(name);
    if (known === undefined) return;
    this.#core.tell({ at, fact: "group-released", name });
    if (known.isEnded) this.#core.tell({ at, fact: "group-ended", name });
  }

  /**
   * Sets how many jobs a worker would take now, and how long its leases last. One that takes none
   * is known by its name for as long as it holds something.
   */
  want(queue: string, worker: string, slots: number, now: number, options: WantOptions = {}): void {
    const at = this.#core.clock(now);
    const target = this.#core.queue(queue);
    if (!Number.isInteger(slots) || slots < 0 || slots > SLOTS_MAX) {
      throw invalid("slots", `an integer from 0 to ${SLOTS_MAX}`, slots);
    }
    want(this.#core, target, worker, slots, options);
    this.#core.lines.settle(at);
  }

  /** Does what has fallen due, then gives jobs to free workers of all queues, at most `max`. */
  dispatch(now: number, max = 1000): Lease[] {
    const at = this.#core.clock(now);
    tick(this.#core, at);
    const leases = dispatch(this.#core, at, max);
    this.#core.lines.settle(at);
    return leases;
  }

  ack(id: number, lease: number, now: number, result?: unknown, aside?: ResultBody): void {
    const at = this.#core.clock(now);
    const row = this.#core.leasedRow(id, lease);
    const isAside = aside !== undefined && keepResult(this.#core, row, aside, at);
    countRun(this.#core, row, at);
    reportSuccess(this.#core, row, at);
    if (result !== undefined) this.#core.jobs.needExtra(row);
    unhold(this.#core, row, at);
    endJob(this.#core, row, "finished", at, result === undefined ? NOTHING : { result, isAside });
    if (!this.#core.lines.isSettled) this.#core.lines.settle(at);
  }

  nack(id: number, lease: number, now: number, options: NackOptions = {}): void {
    const at = this.#core.clock(now);
    const row = this.#core.leasedRow(id, lease);
    countRun(this.#core, row, at);
    nack(this.#core, row, options, at);
    this.#core.lines.settle(at);
  }

  /** The worker did not start the job: it goes to the front, and no attempt is lost. */
  giveBack(id: number, lease: number, now: number): void {
    const at = this.#core.clock(now);
    giveBack(this.#core, this.#core.leasedRow(id, lease), at);
    this.#core.lines.settle(at);
  }

  /** The lease lasts `ms` from now; answers its new end. */
  extend(id: number, lease: number, ms: number, now: number): number {
    const at = this.#core.clock(now);
    checkInteger("ms", ms, 1, LEASE_MS_MAX);
    extendLease(this.#core, this.#core.leasedRow(id, lease), at + ms, at);
    return at + ms;
  }

  /**
   * From now on a lease of this queue that runs out lasts on for `ms` and is among those that
   * `takeOverdue` answers, as long as its job has another attempt. 0: it fails at once.
   */
  askOverdue(queue: string, ms: number): void {
    this.#core.queue(queue).askMs = ms;
  }

  /** The leases that have run out since: each fails by `expire`, or is asked about again. */
  takeOverdue(): readonly Overdue[] {
    return this.#core.overdue.splice(0);
  }

  /** A lease that had run out and lasted on for a decision: the job has failed, in this way. */
  expire(id: number, lease: number, now: number, options: NackOptions = {}): void {
    const at = this.#core.clock(now);
    expireLease(this.#core, this.#core.leasedRow(id, lease), options, at);
    this.#core.lines.settle(at);
  }

  /** The name of a job's queue; undefined when the job is not known. */
  queueOf(id: number): string | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 ? undefined : this.#core.queueOf(row).name;
  }

  /**
   * What a worker gets with its lease on a job, written into `into`; undefined if it does not hold
   * the job.
   */
  held(id: number, lease: number, into: Held = emptyHeld()): Held | undefined {
    const row = this.#core.ids.find(id);
    if (row === 0 || this.#core.queueOf(row).deleted) return undefined;
    return heldOf(this.#core, row, lease, into);
  }

  /** The body of a job; undefined when the job is not known. */
  body(id: number): unknown {
    const row = this.#core.ids.find(id);
    return row === 0 ? undefined : this.#core.jobs.bodies.get(row);
  }

  /**
   * Puts another body in the place of a job's: the same thing, kept elsewhere. False: the job has
   * another body by now, or is forgotten.
   */
  setBody(id: number, from: unknown, to: unknown): boolean {
    const row = this.#core.ids.find(id);
    if (row === 0 || this.#core.jobs.bodies.get(row) !== from) return false;
    this.#core.jobs.bodies.set(row, to);
    return true;
  }

  /** Keeps how far a job has come, as its worker tells it; false when it has ended. */
  progress(id: number, progress: unknown, now: number): boolean {
    const at = this.#core.clock(now);
    const row = this.#core.find(id);
    if (row === 0 || this.#core.jobs.state(row) === ENDED_JOB) return false;
    this.#core.jobs.needExtra(row).progress = progress;
    this.#core.tell({ at, fact: "progress", id, progress });
    return true;
  }

  /** Cancels a job wherever it is, or also what only it waits for; false when it had ended. */
  cancel(id: number, now: number, withDependencies = false): boolean {
    const at = this.#core.clock(now);
    const row = this.#core.find(id);
    const end = withDependencies ? cancelWithDependencies : cancel;
    const done = row !== 0 && end(this.#core, row, at);
    this.#core.lines.settle(at);
    return done;
  }

  /** Cancels the job that holds a dedupe key. */
  cancelByKey(queue: string, key: string, now: number): boolean {
    const at = this.#core.clock(now);
    const held = this.#core.dedupes.find(this.#core.queue(queue).serial, key, at);
    return held !== undefined && this.#core.ids.find(held.id) !== 0 && this.cancel(held.id, at);
  }

  /**
   * Runs an ended job again while it is kept, or a delayed one at once. A dead letter returns to
   * the queue it came from.
   */
  retry(id: number, now: number): void {
    const at = this.#core.clock(now);
    const row = this.#core.keptRow(id);
    if (isLetter(this.#core, row)) retryLetter(this.#core, row, at);
    else revive(this.#core, row, at);
    this.#core.lines.settle(at);
  }

  /**
   * Puts dead letters back where they came from, oldest first, or those that are named; answers how
   * many. Without ids, repeat while it answers more than 0.
   */
  redrive(
    queue: string,
    { count = Number.POSITIVE_INFINITY, ids }: { count?: number; ids?: readonly number[] },
    now: number,
  ): number {
    const at = this.#core.clock(now);
    if (count !== Number.POSITIVE_INFINITY)
      checkInteger("count", count, 0, Number.MAX_SAFE_INTEGER);
    if (ids !== undefined) checkInteger("ids.length", ids.length, 0, BATCH_JOBS_MAX);
    const letters = this.#core.queue(queue);
    const moved =
      ids === undefined
        ? redriveOldest(this.#core, letters, count, at)
        : redriveByIds(this.#core, letters, ids, at);
    this.#core.lines.settle(at);
    return moved;
  }

  // Gates

  /** Sets the limits of a gate, or of all gates that a pattern such as `indexer:*` matches. */
  setGate(key: string, config: GateConfig, now: number): void {
    const at = this.#core.clock(now);
    setGate(this.#core, key, config, at);
    this.#core.tell({ at, fact: "gate", key, config });
    this.#core.lines.settle(at);
  }

  /** Removes the limits; jobs that waited for them continue. */
  deleteGate(key: string, now: number): void {
    const at = this.#core.clock(now);
    if (this.#core.gates.patterns.get(key) === undefined) {
      const details = { field: "gate", value: key };
      throw new Refusal("GATE_NOT_FOUND", `gate ${key} has no limits; set them first`, details);
    }
    setGate(this.#core, key, undefined, at);
    this.#core.tell({ at, fact: "gate", key, config: undefined });
    this.#core.lines.settle(at);
  }

  cooldown(key: string, ms: number, reason: string, now: number): void {
    const at = this.#core.clock(now);
    const gate = this.#core.gates.gateOf(key, at);
    gate.cool(at + ms, reason, at);
    this.#core.tell({ at, fact: "cooled", key, until: at + ms, reason });
    tellCooldown(this.#core, gate, at);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  /** Corrects what was taken from a gate: more was used than the cost said, or less. */
  charge(key: string, cost: number, now: number): void {
    const at = this.#core.clock(now);
    this.#core.tell({ at, fact: "charged", key, cost });
    charge(this.#core, key, cost, at);
    this.#core.lines.settle(at);
  }

  clearCooldown(key: string, now: number): void {
    const at = this.#core.clock(now);
    const gate = this.#core.gates.gateOf(key, at);
    gate.clearCooldown();
    this.#core.tell({ at, fact: "cleared", key });
    tellCleared(this.#core, gate);
    this.#core.lines.changed(gate);
    this.#core.lines.settle(at);
  }

  /** Reports a success or a failure to a gate's ladder. */
  reportGate(key: string, ok: boolean, now: number): void {
    const at = this.#core.clock(now);
    report(this.#core, key, ok, at);
    this.#core.tell({ at, fact: "reported", key, ok });
    this.#core.lines.settle(at);
  }

  // Time

  /** The wall clock has stepped: it is now `aheadMs` ahead of the engine's time. */
  setWallAhead(aheadMs: number, now: number): void {
    const at = this.#core.clock(now);
    if (!Number.isSafeInteger(aheadMs)) throw invalid("aheadMs", "whole milliseconds", aheadMs);
    setWallAhead(this.#core, aheadMs);
    this.#core.tell({ at, fact: "wall", aheadMs });
  }

  get wall(): Readonly<Wall> {
    return this.#core.wall;
  }

  /** From now on facts may be written that only releases from `needs` on understand. */
  setLevel(level: number, needs: string, now: number): void {
    const at = this.#core.clock(now);
    this.#core.level = { level, needs };
    this.#core.tell({ at, fact: "level", level, needs });
  }

  /** After a replay of an older copy of the facts the caller tells a checkpoint next. */
  setLeaseSecret(secret: Uint8Array, now: number, isRestored = false): void {
    sealLeases(this.#core, secret, now, isRestored);
  }

  /** Does what has fallen due. */
  tick(now: number): void {
    tick(this.#core, this.#core.clock(now));
  }

  /**
   * When `tick` or `dispatch` has something to do next; Infinity: only when something is called.
   */
  nextWake(now: number): number {
    return nextWake(this.#core, this.#core.clock(now));
  }

  // Remembering

  /** Puts a fact into effect that this or another engine told. */
  apply(fact: Fact): void {
    apply(this.#core, fact);
  }

  /**
   * All facts are applied: what was to be reported and was not is gone. With a time: the process
   * that told them has ended, and the leases of its own workers run out now.
   */
  endReplay(now?: number): void {
    if (now !== undefined) endInProcess(this.#core, this.#core.clock(now));
    this.#core.groups.endAllAwaited();
    endFlowReplay(this.#core);
    dropParts(this.#core, this.#core.orphans.takeAll());
    this.#core.lastPlaced.clear();
  }

  /** Everything but the jobs, as facts, in steps between which the engine may go on. */
  checkpoint(): Generator<Fact[]> {
    return checkpoint(this.#core);
  }

  /** Refuses a lease that is over, as any call about it would. */
  checkLease(id: number, lease: number): void {
    this.#core.leasedRow(id, lease);
  }
}
