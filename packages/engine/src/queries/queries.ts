import type { Core } from "../core.ts";
import { checkInteger } from "../errors.ts";
import type { JobRecord } from "../facts/facts.ts";
import { recordOf } from "../facts/record.ts";
import type { GateConfig } from "../gates/gate-state.ts";
import { ENDED_JOB } from "../jobs/job-fields.ts";
import { PAGE_MAX } from "../limits.ts";
import { isRoomFor } from "../queues/capacity.ts";
import type { TimeCounts } from "../queues/duration-histogram.ts";
import { allWorkers } from "../queues/queue-state.ts";
import { AT_TIER, CHILD, QUEUE } from "../ring/node-fields.ts";
import { type StepsView, stepsView } from "../steps/steps-view.ts";
import type {
  EndState,
  GateDecisions,
  GateStats,
  HistoryEntry,
  JobSpec,
  JobView,
  LaneStats,
  QueueStats,
} from "../types.ts";
import { type AttemptView, attemptsOf } from "./attempts.ts";
import { type DependencyPage, dependenciesOf, dependentsOf } from "./dependencies.ts";
import { FailureSurvey } from "./failure-survey.ts";
import { type GateList, type GateListOptions, listGates } from "./gate-list.ts";
import type { JobFilter } from "./job-filter.ts";
import { type FoundView, foundView, JobSearch, type JobSearchOptions } from "./job-search.ts";
import { JobCount, JobWalk } from "./job-walk.ts";
import { LaneSurvey, type LaneSurveyOptions } from "./lane-survey.ts";
import { OldestSurvey } from "./oldest-survey.ts";
import {
  endStateOf,
  gateStats,
  historyOf,
  type JobQuery,
  jobsOf,
  lanesOf,
  queueStats,
  viewOf,
} from "./view.ts";
import { why } from "./why.ts";
import type { Why } from "./why-types.ts";
import { WorkerSurvey, type WorkerSurveyOptions } from "./worker-survey.ts";

/** What can be asked: none of it changes what the scheduler will do. */
export class Queries {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Elementary steps taken so far: what the tests of bounded work count. */
  get steps(): number {
    return this.#core.rings.steps;
  }

  /** The feature level of the facts: 1 until a higher one was set. */
  get level(): number {
    return this.#core.level.level;
  }

  /** What the tokens of leases are sealed with; undefined until it was set once. */
  get leaseSecret(): Uint8Array | undefined {
    return this.#core.leaseSecret;
  }

  /** The last id that was given, and the last place in the order of entries. */
  get last(): { id: number; place: number } {
    return { id: this.#core.lastId, place: this.#core.lastSeq };
  }

  job(id: number): JobView | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 || this.#core.queueOf(row).deleted ? undefined : viewOf(this.#core, row);
  }

  /** Which run of a job this is, and whether it is over; a job that is not kept has ended. */
  life(id: number): { generation?: number; isEnded: boolean } {
    const row = this.#core.find(id);
    if (row === 0 || this.#core.queueOf(row).deleted) return { isEnded: true };
    const { jobs } = this.#core;
    const isEnded = jobs.state(row) === ENDED_JOB;
    return { generation: jobs.extra(row)?.generation ?? 0, isEnded };
  }

  /** A page of a queue's jobs, in no order; `cursor` 0 begins, and in the answer is the end. */
  jobs(
    queue: string,
    { state, key, limit = 100, cursor = 0 }: JobQuery = {},
  ): { jobs: JobView[]; cursor: number } {
    checkInteger("limit", limit, 1, PAGE_MAX);
    return jobsOf(this.#core, this.#core.queue(queue), { state, key, limit, cursor });
  }

  /** The first jobs of all queues in an order of time, to be looked for step by step. */
  searchJobs(options: JobSearchOptions): JobSearch {
    checkInteger("limit", options.limit, 1, PAGE_MAX);
    return new JobSearch(this.#core, options);
  }

  /** Jobs of all queues in no order that means anything, step by step. */
  walkJobs(filter: JobFilter, fromRow?: number): JobWalk {
    return new JobWalk(this.#core, filter, fromRow);
  }

  /** How many jobs there are, to be counted step by step. */
  countJobs(filter: JobFilter): JobCount {
    return new JobCount(this.#core, filter);
  }

  /** The errors of jobs, to be gathered step by step. */
  surveyFailures(filter: JobFilter, now: number): FailureSurvey {
    return new FailureSurvey(this.#core, filter, this.#core.clock(now));
  }

  /** A job as a search finds it. */
  found(id: number): FoundView | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 || this.#core.queueOf(row).deleted ? undefined : foundView(this.#core, row);
  }

  queueNames(): string[] {
    return [...this.#core.byName.keys()];
  }

  queueStats(queue: string): QueueStats {
    return queueStats(this.#core.queue(queue));
  }

  /** A page of lanes; `cursor` 0 begins, and in the answer means the end. */
  lanes(
    queue: string,
    {
      search = "",
      limit = 100,
      cursor = 0,
    }: { search?: string; limit?: number; cursor?: number } = {},
  ): { lanes: LaneStats[]; rows: number[]; cursor: number } {
    checkInteger("limit", limit, 1, PAGE_MAX);
    return lanesOf(this.#core, this.#core.queue(queue), search, limit, cursor);
  }

  /** All lanes of a queue, to be walked over step by step. */
  surveyLanes(queue: string, options: LaneSurveyOptions = {}): LaneSurvey {
    return new LaneSurvey(this.#core, this.#core.queue(queue), options);
  }

  /** The oldest job that waits in each queue, to be looked for step by step. */
  surveyOldest(): OldestSurvey {
    return new OldestSurvey(this.#core);
  }

  /** How long the jobs of a queue waited and ran, since this engine was made. */
  queueTimes(queue: string): { wait: TimeCounts; run: TimeCounts } {
    const { waits, runs } = this.#core.queue(queue);
    return { wait: waits.read(), run: runs.read() };
  }

  /** The workers that a queue knows: what they would take, and what they hold. */
  workers(queue: string): { name: string; free: number; running: number }[] {
    const workers = allWorkers(this.#core.queue(queue));
    return workers.map(({ name, slots, leased }) => ({ name, free: slots, running: leased }));
  }

  /** The workers of a queue with the jobs that they hold, to be gathered step by step. */
  surveyWorkers(queue: string, options: WorkerSurveyOptions): WorkerSurvey {
    return new WorkerSurvey(this.#core, this.#core.queue(queue), options);
  }

  /** A job as a fact would tell it; undefined when it is not known. */
  record(id: number): JobRecord | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 || this.#core.queueOf(row).deleted ? undefined : recordOf(this.#core, row);
  }

  /** Why a job is not running, as data. */
  why(id: number, now: number): Why {
    const at = this.#core.clock(now);
    return why(this.#core, this.#core.keptRow(id), at);
  }

  /** A page of the jobs that one waits for, in the order in which it named them. */
  dependencies(id: number, limit: number, cursor: number): DependencyPage {
    checkInteger("limit", limit, 1, PAGE_MAX);
    return dependenciesOf(this.#core, this.#core.keptRow(id), limit, cursor);
  }

  /** A page of the jobs that wait for one. */
  dependents(id: number, limit: number, cursor: number): DependencyPage {
    checkInteger("limit", limit, 1, PAGE_MAX);
    return dependentsOf(this.#core, this.#core.keptRow(id), limit, cursor);
  }

  /** The deliveries of a job: to whom, how long, and how each was over. */
  attempts(id: number): AttemptView[] {
    return attemptsOf(historyOf(this.#core, this.#core.keptRow(id)));
  }

  history(id: number): HistoryEntry[] {
    const row = this.#core.find(id);
    return row === 0 ? [] : historyOf(this.#core, row);
  }

  /** The steps of a job, those that are done and those that have failed, and its signals. */
  stepsOf(id: number): StepsView {
    const book = this.#core.jobs.extra(this.#core.keptRow(id))?.steps;
    return stepsView(book);
  }

  /** Whether an add would find room now. */
  hasRoom(queue: string, spec: JobSpec, now: number): boolean {
    return isRoomFor(this.#core, this.#core.queue(queue), spec, this.#core.clock(now));
  }

  /** The members of a group and how they ended; undefined if the group is not known any more. */
  group(
    group: string,
  ): { ended: boolean; members: { id: number; state?: EndState }[] } | undefined {
    const found = this.#core.groups.find(group);
    if (found === undefined) return undefined;
    const members = [...found.group.members].map(([id, ending]) =>
      ending === undefined ? { id } : { id, state: endStateOf(ending) },
    );
    return { ended: found.isEnded, members };
  }

  heldGroups(): string[] {
    return [...this.#core.groups.held()];
  }

  /** The limits set for a gate or a pattern itself; undefined: none are. */
  gateConfig(key: string): GateConfig | undefined {
    return this.#core.gates.patterns.get(key);
  }

  gateStats(key: string, now: number): GateStats {
    const at = this.#core.clock(now);
    return gateStats(this.#core.gates.viewOf(key, at), at);
  }

  gateDecisions(key: string, now: number): GateDecisions {
    const at = this.#core.clock(now);
    return this.#core.gates.viewOf(key, at).decisions.read();
  }

  /** What waits in a gate's line: how many lanes of which tiers of which queues. */
  gateLine(key: string): { queue: string; tier: number; lanes: number }[] {
    const { gates, lanes, queues, rings } = this.#core;
    const entries = gates.find(key)?.entries.values() ?? [];
    const line = Array.from(entries, (entry) => ({
      queue: queues[lanes.get(entry, QUEUE)]?.name ?? "",
      tier: lanes.get(entry, AT_TIER),
      lanes: rings.sizeOf(lanes.get(entry, CHILD)),
    }));
    return line.filter(({ lanes: count }) => count > 0);
  }

  /**
   * A page of the gates that are configured, used by a job or still remember something, in an order
   * and with what is looked for.
   */
  listGates(options: GateListOptions, now: number): GateList {
    checkInteger("limit", options.limit, 1, PAGE_MAX);
    return listGates(this.#core, options, this.#core.clock(now));
  }

  /** What the tables hold, in bytes: for the figures on memory. */
  memory(): Record<"jobs" | "lanes" | "keys" | "ids" | "timers" | "flows", number> {
    const { jobs, rings, laneKeys, ids, timers, later, flows } = this.#core;
    return {
      flows: flows.bytes,
      jobs: jobs.bytes,
      lanes: rings.nodes.bytes + rings.rings.bytes,
      keys: laneKeys.bytes,
      ids: ids.bytes,
      timers: timers.bytes + later.bytes,
    };
  }
}
