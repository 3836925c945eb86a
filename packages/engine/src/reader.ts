import type { Core } from "./core.ts";
import { Refusal } from "./errors.ts";
import type { JobRecord } from "./facts.ts";
import { integer } from "./fields.ts";
import { LaneSurvey, type LaneSurveyOptions } from "./lane-survey.ts";
import { PAGE_MAX } from "./limits.ts";
import { recordOf } from "./record.ts";
import type { TimeCounts } from "./times.ts";
import type { Ending, HistoryEntry, JobView, Why } from "./types.ts";
import { type Held, heldOf, historyOf, type JobQuery, jobsOf, viewOf, why } from "./view.ts";

/** What can be asked: none of it changes what the scheduler will do. */
export class Reader {
  readonly #core: Core;

  constructor(core: Core) {
    this.#core = core;
  }

  job(id: number): JobView | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 || this.#core.queueOf(row).deleted ? undefined : viewOf(this.#core, row);
  }

  /** A page of a queue's jobs, in no order; `cursor` 0 begins, and in the answer is the end. */
  jobs(
    queue: string,
    { state, key, limit = 100, cursor = 0 }: JobQuery = {},
  ): { jobs: JobView[]; cursor: number } {
    integer("limit", limit, 1, PAGE_MAX);
    return jobsOf(this.#core, this.#core.queue(queue), { state, key, limit, cursor });
  }

  /** All lanes of a queue, to be walked over step by step. */
  surveyLanes(queue: string, options: LaneSurveyOptions = {}): LaneSurvey {
    return new LaneSurvey(this.#core, this.#core.queue(queue), options);
  }

  /** How long the jobs of a queue waited and ran, since this engine was made. */
  queueTimes(queue: string): { wait: TimeCounts; run: TimeCounts } {
    const { waits, runs } = this.#core.queue(queue);
    return { wait: waits.read(), run: runs.read() };
  }

  /** The workers that a queue knows: what they would take, and what they hold. */
  workers(queue: string): { name: string; free: number; leased: number }[] {
    const { workers } = this.#core.queue(queue);
    return [...workers.values()].map(({ name, slots, leased }) => ({ name, free: slots, leased }));
  }

  /** A job as a fact would tell it; undefined when it is not known. */
  record(id: number): JobRecord | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 || this.#core.queueOf(row).deleted ? undefined : recordOf(this.#core, row);
  }

  /** The name of a job's queue; undefined when the job is not known. */
  queueOf(id: number): string | undefined {
    const row = this.#core.ids.find(id);
    return row === 0 ? undefined : this.#core.queueOf(row).name;
  }

  /** What a worker is told of a job beside its lease; undefined when it does not hold it. */
  held(id: number, lease: number): Held | undefined {
    const row = this.#core.ids.find(id);
    if (row === 0 || this.#core.queueOf(row).deleted) return undefined;
    return heldOf(this.#core, row, lease);
  }

  /** The body of a job; undefined when the job is not known. */
  body(id: number): unknown {
    const row = this.#core.ids.find(id);
    return row === 0 ? undefined : this.#core.jobs.bodies.get(row);
  }

  /** Puts another body in the place of a job's: the same thing, kept elsewhere. */
  setBody(id: number, body: unknown): void {
    const row = this.#core.ids.find(id);
    if (row !== 0) this.#core.jobs.bodies.set(row, body);
  }

  /** Why a job is not running, in words and data. */
  why(id: number, now: number): Why {
    const at = this.#core.clock(now);
    const row = this.#core.find(id);
    if (row === 0)
      throw new Refusal("ALREADY_FINISHED", `job ${id} is no longer kept`, {
        field: "id",
        value: id,
      });
    return why(this.#core, row, at);
  }

  history(id: number): HistoryEntry[] {
    const row = this.#core.find(id);
    return row === 0 ? [] : historyOf(this.#core, row);
  }

  /** The members of a group and how they ended; undefined when nobody knows it any more. */
  group(group: string): { ended: boolean; members: { id: number; ending?: Ending }[] } | undefined {
    const found = this.#core.groups.find(group);
    if (found === undefined) return undefined;
    const members = [...found.group.members].map(([id, ending]) =>
      ending === undefined ? { id } : { id, ending },
    );
    return { ended: found.isEnded, members };
  }
}
