import type { Core } from "../core.ts";
import { gateKeys } from "../facts/record.ts";
import * as jobFields from "../jobs/job-fields.ts";
import type { Extra } from "../jobs/job-table.ts";
import type { QueueState } from "../queues/queue-state.ts";
import type { FairnessKey, JobState } from "../types.ts";
import { failureOf } from "./fold-error.ts";
import { stateOf } from "./view.ts";

const { ADDED, ATTEMPTS, DISPATCHED, ENDED_JOB, ID, JOB_INTS, META, TIME } = jobFields;
const { BLOCKED_JOB, DELAYED_JOB, HELD_JOB, LEASED_JOB, WAITING_JOB } = jobFields;

/** When a job was added, or when it came into the state that it is in. */
export type JobTime = "added" | "changed";

/** Which jobs are meant: those for which all that is given holds. */
export interface JobFilter {
  /** Names, or prefixes that end in `*`. */
  queues?: readonly string[] | undefined;
  states?: readonly JobState[] | undefined;
  /** A letter is found by the key that it had where it came from, too. */
  key?: FairnessKey | undefined;
  /** Letters that came from this queue. */
  origin?: string | undefined;
  /** What `since`, `until` and the order are about: default `added`. */
  time?: JobTime | undefined;
  since?: number | undefined;
  until?: number | undefined;
  /** A part of the last error, in upper or lower case. */
  error?: string | undefined;
  /** The number of all errors that fold alike. */
  failure?: number | undefined;
  gate?: string | undefined;
  /** In full: `orders/batch-7`. */
  group?: string | undefined;
  /** Attempts that were used, at least. */
  attempts?: number | undefined;
}

/** What a row says of a job in each state: a bit for each that it may say. */
const ROW_STATES: Readonly<Record<JobState, number>> = {
  waiting: (1 << WAITING_JOB) | (1 << HELD_JOB),
  delayed: 1 << DELAYED_JOB,
  blocked: 1 << BLOCKED_JOB,
  running: 1 << LEASED_JOB,
  finished: 1 << ENDED_JOB,
  failed: 1 << ENDED_JOB,
  cancelled: 1 << ENDED_JOB,
  expired: 1 << ENDED_JOB,
  dead: (1 << WAITING_JOB) | (1 << HELD_JOB),
};

const ALL = -1;

/** Rows looked at in one step, at most two milliseconds; a text is read in each by a search. */
const ROWS_PER_STEP = 20_000;
const ROWS_PER_TEXT_STEP = 5_000;

/**
 * A filter, ready to be applied to many rows. The fields of a row are enough to skip most rows,
 * before anything is looked up: a million take about 15 ms.
 */
export class RowFilter {
  readonly #core: Core;
  readonly #filter: JobFilter;
  readonly #states: ReadonlySet<JobState> | undefined;
  readonly #rowStates: number;
  readonly #since: number;
  readonly #until: number;
  readonly #isChanged: boolean;
  /** Whether a row alone decides. */
  readonly #isPlain: boolean;
  readonly #lanes: ReadonlySet<number> | undefined;
  readonly #key: string | undefined;
  readonly #error: string | undefined;
  /** Queues by their index, and whether they are meant; an index may be another queue's later. */
  readonly #seen: (QueueState | undefined)[] = [];
  readonly #isMeant: boolean[] = [];

  constructor(core: Core, filter: JobFilter) {
    const { states, time, key, error, origin, failure, gate, group, attempts } = filter;
    this.#core = core;
    this.#filter = filter;
    this.#states = states === undefined ? undefined : new Set(states);
    this.#rowStates = states?.reduce((bits, state) => bits | ROW_STATES[state], 0) ?? ALL;
    this.#since = filter.since ?? Number.NEGATIVE_INFINITY;
    this.#until = filter.until ?? Number.POSITIVE_INFINITY;
    this.#isChanged = time === "changed";
    this.#key = key === undefined ? undefined : JSON.stringify(key);
    this.#lanes = key === undefined ? undefined : this.#lanesOf(key);
    this.#error = error?.toLowerCase();
    this.#isPlain = [key, error, origin, failure, gate, group, attempts].every(
      (part) => part === undefined,
    );
  }

  /** How many rows may be held against it in one step. */
  get rowsPerStep(): number {
    return this.#error === undefined ? ROWS_PER_STEP : ROWS_PER_TEXT_STEP;
  }

  /** The time by which such jobs are ordered. */
  timeOf(row: number): number {
    return this.#isChanged ? changedAt(this.#core, row) : this.#core.jobs.num(row, ADDED);
  }

  matches(row: number): boolean {
    const meta = this.#core.jobs.i[row * JOB_INTS + META]!;
    if ((meta & 15) === 0 || (this.#rowStates & (1 << (meta & 15))) === 0) return false;
    if (!this.#isInQueue(meta >>> 8)) return false;
    const time = this.timeOf(row);
    if (time < this.#since || time > this.#until) return false;
    if (this.#states !== undefined && !this.#states.has(stateOf(this.#core, row))) return false;
    return this.#isPlain || this.#matchesRest(row);
  }

  #isInQueue(index: number): boolean {
    const queue = this.#core.queues[index]!;
    if (this.#seen[index] !== queue) {
      this.#seen[index] = queue;
      this.#isMeant[index] =
        this.#filter.queues?.some((pattern) => fits(pattern, queue.name)) ?? true;
    }
    return this.#isMeant[index]! && !queue.deleted;
  }

  #matchesRest(row: number): boolean {
    const { jobs, groups } = this.#core;
    const { attempts, origin, failure, gate, group } = this.#filter;
    if (attempts !== undefined && attemptsOf(this.#core, row) < attempts) return false;
    const extra = jobs.extra(row);
    if (origin !== undefined && extra?.origin?.queue !== origin) return false;
    if (failure !== undefined && failureOfExtra(extra) !== failure) return false;
    if (this.#error !== undefined && !this.#hasError(extra)) return false;
    if (this.#lanes !== undefined && !this.#hasKey(row, extra)) return false;
    if (gate !== undefined && !hasGate(this.#core, row, gate)) return false;
    return group === undefined || groups.find(group)?.group.members.has(jobs.num(row, ID)) === true;
  }

  #hasError(extra: Extra | undefined): boolean {
    return extra?.error?.toLowerCase().includes(this.#error!) ?? false;
  }

  #hasKey(row: number, extra: Extra | undefined): boolean {
    if (this.#lanes!.has(this.#core.laneOf(row))) return true;
    const origin = extra?.origin;
    return origin !== undefined && JSON.stringify(origin.spec.fairnessKey) === this.#key;
  }

  /** The lanes of this key in all queues: a look at each tier, however many lanes there are. */
  #lanesOf(key: FairnessKey): ReadonlySet<number> {
    const path = typeof key === "string" ? [key] : key;
    const lanes = new Set<number>();
    for (const queue of this.#core.byName.values()) {
      for (const tier of queue.tiers) {
        const lane = this.#core.lanes.findNode(tier, path);
        if (lane !== 0) lanes.add(lane);
      }
    }
    return lanes;
  }
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

function hasGate(core: Core, row: number, gate: string): boolean {
  if (gateKeys(core, row).includes(gate)) return true;
  return core.jobs.extra(row)?.origin?.spec.gates?.includes(gate) ?? false;
}

/** A letter has all its attempts again: those that it died of are remembered. */
function attemptsOf(core: Core, row: number): number {
  const used = core.jobs.int(row, ATTEMPTS) & 0xffff;
  return Math.max(used, core.jobs.extra(row)?.origin?.attempts ?? 0);
}

/** When a job came into the state that it is in. */
export function changedAt(core: Core, row: number): number {
  const { jobs } = core;
  const state = jobs.state(row);
  if (state === ENDED_JOB) return jobs.num(row, TIME);
  const died = jobs.extra(row)?.origin?.at;
  if (died !== undefined) return died;
  if (state === WAITING_JOB) return jobs.num(row, TIME);
  return jobs.num(row, ADDED) + jobs.int(row, DISPATCHED);
}

/** Which failure a job's last error is, 0: it has none. It is reckoned once. */
export function failureOfExtra(extra: Extra | undefined): number {
  if (extra?.error === undefined) return 0;
  if (extra.failure === 0) extra.failure = failureOf(extra.error);
  return extra.failure;
}
