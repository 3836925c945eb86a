import type { FailureView, FoundView, JobPlace, JobWalk } from "@sluice/engine";
import {
  type CountOptions,
  type FailureGroup,
  type Failures,
  type FailuresOptions,
  type FindOptions,
  type FoundJob,
  type FoundJobs,
  invalid,
  type JobCounts,
  type JobFilter,
  type JobState,
} from "@sluice/protocol";
import { type Chunks, readBody } from "./chunks.ts";
import type { Body } from "./codec/body.ts";
import type { EngineCalls } from "./engine-calls.ts";
import { type BodyTest, bodyTest, engineFilter, failureId, previewOf } from "./job-filters.ts";
import { idOf, jobAt } from "./job-ids.ts";
import {
  ITEMS_PER_TURN,
  SCANNED_BYTES_MAX,
  SCANNED_JOBS_MAX,
  SCANNED_PER_TURN_BYTES,
} from "./limits.ts";

interface FindParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
}

/** The calls that look for jobs in all queues. */
export class FindCalls {
  readonly #of: FindParts;

  constructor(of: FindParts) {
    this.#of = of;
  }

  async findJobs(options: FindOptions = {}): Promise<FoundJobs> {
    const test = bodyTest(options);
    if (options.ids !== undefined) return this.#findIds(options, options.ids, test);
    return test === undefined ? this.#findSorted(options) : this.#scan(options, test);
  }

  async #findSorted(options: FindOptions): Promise<FoundJobs> {
    const { order = "newest", limit = 100, cursor } = options;
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    const search = this.#of.calls.ask((engine) =>
      engine.queries.searchJobs({ ...engineFilter(options), order, limit, after }),
    );
    await this.#steps(() => search.step());
    const { jobs, next } = search.found();
    const items = await this.#shown(jobs);
    return next === undefined ? { items } : { items, cursor: placeText(next) };
  }

  /** Those of the named jobs that are meant, in order. */
  async #findIds(
    options: FindOptions,
    ids: readonly string[],
    test: BodyTest | undefined,
  ): Promise<FoundJobs> {
    const { order = "newest", limit = 100, cursor, time = "added" } = options;
    const found: FoundView[] = [];
    for (const id of await this.#meant(options, ids, test)) {
      const view = this.#of.calls.engine.queries.found(id);
      if (view !== undefined) found.push(view);
    }
    const sign = order === "newest" ? -1 : 1;
    const timeOf = (job: FoundView): number => (time === "added" ? job.addedAt : job.changedAt);
    const compare = (a: JobPlace, b: JobPlace): number => sign * (a.time - b.time || a.id - b.id);
    const placed = found.map((job) => ({ job, place: { time: timeOf(job), id: job.id } }));
    placed.sort((a, b) => compare(a.place, b.place));
    const after = cursor === undefined ? undefined : parsePlace(cursor);
    const left = placed.filter(({ place }) => after === undefined || compare(place, after) > 0);
    const page = left.slice(0, limit);
    const items = await this.#shown(page.map(({ job }) => job));
    return left.length <= limit ? { items } : { items, cursor: placeText(page.at(-1)!.place) };
  }

  /** The named jobs that the rest of the filter means too, in bounded turns. */
  async #meant(
    filter: JobFilter,
    ids: readonly string[],
    test: BodyTest | undefined,
  ): Promise<number[]> {
    const walk = this.#walk(filter);
    const meant: number[] = [];
    const known = [...new Set(ids.map((id) => jobAt(id, id.length)))];
    for (let from = 0; from < known.length; from += ITEMS_PER_TURN) {
      if (from > 0) await this.#turn();
      const some = known.slice(from, from + ITEMS_PER_TURN).filter((id) => walk.matches(id));
      meant.push(...(test === undefined ? some : await this.#tested(some, test)));
    }
    return meant;
  }

  #walk(filter: JobFilter, fromRow?: number): JobWalk {
    return this.#of.calls.ask((engine) => engine.queries.walkJobs(engineFilter(filter), fromRow));
  }

  async #scan(options: FindOptions, test: BodyTest): Promise<FoundJobs> {
    const { limit = 100 } = options;
    const found: FoundView[] = [];
    const walk = this.#walk(options, parseRow(options.cursor));
    await this.#scanWalk(walk, test, limit, (id) => {
      const view = this.#of.calls.engine.queries.found(id);
      if (view !== undefined) found.push(view);
      return found.length;
    });
    const items = await this.#shown(found);
    return { items, ...progressOf(walk) };
  }

  /** Reads payloads until enough are found, or enough were read for one call. */
  async #scanWalk(
    walk: JobWalk,
    test: BodyTest,
    limit: number,
    onFound: (id: number) => number,
  ): Promise<void> {
    let jobs = 0;
    let bytes = 0;
    let found = 0;
    while (!walk.isOver && jobs < SCANNED_JOBS_MAX && bytes < SCANNED_BYTES_MAX) {
      const ids = walk.next(Math.min(ITEMS_PER_TURN, limit - found));
      jobs += ids.length;
      for (const id of await this.#tested(ids, test, (size) => (bytes += size))) {
        found = onFound(id);
      }
      if (found >= limit) return;
      await this.#turn();
    }
  }

  /** Those whose payload and headers are meant; large payloads are read in several turns. */
  async #tested(
    ids: readonly number[],
    test: BodyTest,
    onBytes: (size: number) => void = () => {},
  ): Promise<number[]> {
    const passed: number[] = [];
    let turnBytes = 0;
    for (const id of ids) {
      const body = await this.#body(id);
      if (body === undefined) continue;
      if (test(body)) passed.push(id);
      onBytes(body.payload.length);
      turnBytes += body.payload.length;
      if (turnBytes < SCANNED_PER_TURN_BYTES) continue;
      turnBytes = 0;
      await this.#turn();
    }
    return passed;
  }

  /** Undefined: the job was forgotten since. */
  #body(id: number): Body | Promise<Body> | undefined {
    return readBody(this.#of.calls.engine, this.#of.chunks, id);
  }

  async countJobs(options: CountOptions = {}): Promise<JobCounts> {
    const test = bodyTest(options);
    const count = this.#of.calls.ask((engine) => engine.queries.countJobs(engineFilter(options)));
    const counted = (): JobCounts => ({
      count: count.count,
      states: Object.fromEntries(count.states) as Partial<Record<JobState, number>>,
      queues: Array.from(count.queues, ([queue, jobs]) => ({ queue, count: jobs })),
    });
    if (options.ids !== undefined) {
      for (const id of await this.#meant(options, options.ids, test)) count.look(id);
      return counted();
    }
    if (test === undefined) {
      await this.#steps(() => count.step());
      return counted();
    }
    const walk = this.#walk(options, parseRow(options.cursor));
    await this.#scanWalk(walk, test, Number.POSITIVE_INFINITY, (id) => {
      count.look(id);
      return count.count;
    });
    return { ...counted(), ...progressOf(walk) };
  }

  async failures({ queues, since, limit = 100 }: FailuresOptions = {}): Promise<Failures> {
    const survey = this.#of.calls.call((engine, now) =>
      engine.queries.surveyFailures({ queues, since }, now),
    );
    await this.#steps(() => survey.step());
    const all = survey.failures();
    return { items: all.slice(0, limit).map(shownFailure), total: all.length };
  }

  /** Takes steps of bounded work, with turns for other calls between them. */
  async #steps(step: () => boolean): Promise<void> {
    while (step()) await this.#turn();
  }

  async #turn(): Promise<void> {
    await new Promise(setImmediate);
    this.#of.calls.check();
  }

  async #shown(views: readonly FoundView[]): Promise<FoundJob[]> {
    const items: FoundJob[] = [];
    for (const view of views) {
      const body = await this.#body(view.id);
      if (body !== undefined) items.push(shownJob(view, previewOf(body.payload)));
    }
    return items;
  }
}

function shownJob(view: FoundView, preview: string): FoundJob {
  const { id, queue, state, tier, fairnessKey, attempt, attempts, addedAt, changedAt } = view;
  const { at, worker, error, dead, group, dedupe, sizeBytes } = view;
  return {
    ...{ id: idOf(id), queue, state, tier, fairnessKey, attempt, attempts, addedAt, changedAt },
    ...(at === undefined ? {} : { at }),
    ...(worker === undefined ? {} : { worker }),
    ...(error === undefined ? {} : { error }),
    ...(dead === undefined ? {} : { dead }),
    ...(group === undefined ? {} : { group }),
    ...(dedupe === undefined ? {} : { dedupe }),
    preview,
    payloadBytes: sizeBytes,
  };
}

function shownFailure(view: FailureView): FailureGroup {
  const { failure, error, jobs, retrying, firstAt, lastAt, trend, queues } = view;
  const { id, stack, ...example } = view.example;
  return {
    id: failureId(failure),
    ...{ error, jobs, retrying, firstAt, lastAt, trend },
    queues: Array.from(queues, ([queue, count]) => ({ queue, jobs: count })),
    example: { id: idOf(id), ...example, ...(stack === undefined ? {} : { stack }) },
  };
}

function progressOf(walk: JobWalk): { scanned: number; total: number; cursor?: string } {
  const progress = { scanned: walk.row - 1, total: walk.end - 1 };
  return walk.isOver ? progress : { ...progress, cursor: `r${walk.row}` };
}

function placeText({ time, id }: JobPlace): string {
  return `${time}.${id}`;
}

const PLACE = /^(\d+(?:\.\d+)?)\.(\d+)$/;

function parsePlace(cursor: string): JobPlace {
  const [, time, id] = PLACE.exec(cursor) ?? [];
  if (time === undefined) throw invalid("cursor", "the cursor of an earlier answer", cursor);
  return { time: Number(time), id: Number(id) };
}

/** Where a scan continues. */
function parseRow(cursor: string | undefined): number {
  if (cursor === undefined) return 1;
  const [, row] = /^r(\d+)$/.exec(cursor) ?? [];
  if (row === undefined) throw invalid("cursor", "the cursor of an earlier answer", cursor);
  return Number(row);
}
