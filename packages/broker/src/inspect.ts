import type { Engine, Why as EngineWhy, JobView, ScheduleRun } from "@sluice/engine";
import {
  type AttemptInfo,
  type CallOptions,
  type HistoryEntry,
  type JobEnd,
  type JobInfo,
  type JobLife,
  type JobsOptions,
  type LogLine,
  type Outcome,
  type Page,
  SluiceError,
  type Why,
  type WhyBlocked,
  type WhyFacts,
  whyText,
} from "@sluice/protocol";
import { type Chunks, readBody } from "./chunks.ts";
import type { EngineCalls } from "./engine-calls.ts";
import type { Ends } from "./events.ts";
import { idOf, parseId } from "./job-ids.ts";
import { logIdentity } from "./log-identity.ts";
import type { ProgressReports } from "./progress.ts";
import { parseCursor } from "./refuse.ts";
import { withResult } from "./results.ts";
import { nameOfKey } from "./schedules/scheduled-jobs.ts";

interface InspectParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly ends: Ends;
  readonly progress: ProgressReports;
}

/** The calls that look at jobs, or wait for their ends. */
export class InspectCalls {
  readonly #of: InspectParts;

  constructor(of: InspectParts) {
    this.#of = of;
  }

  async job(id: string): Promise<JobInfo> {
    const view = this.#of.calls.call((engine, now) => {
      const job = parseId(id);
      const found = engine.queries.job(job);
      // Throws: there never was such a job, or it is no longer kept.
      if (found === undefined) engine.queries.why(job, now);
      return found!;
    });
    return this.#info(view);
  }

  lives(ids: readonly string[]): Promise<Outcome<JobLife>[]> {
    return this.#of.calls.each(ids, (id, engine) => {
      const life = engine.queries.life(parseId(id));
      return { log: logIdentity(engine.queries.leaseSecret!), ...life };
    });
  }

  async why(id: string): Promise<Why> {
    return this.#of.calls.call((engine, now) => explain(engine.queries.why(parseId(id), now), now));
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    return this.#of.calls.call((engine) => engine.queries.history(parseId(id)));
  }

  async logLines(id: string): Promise<readonly LogLine[]> {
    return this.#of.calls.call((engine) => engine.logs.read(parseId(id)));
  }

  async attempts(id: string): Promise<readonly AttemptInfo[]> {
    return this.#of.calls.call((engine) => engine.queries.attempts(parseId(id)));
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    return this.#of.calls.call((engine) => ids.map((id) => queueOf(engine, id)));
  }

  async ended(id: string, { signal }: CallOptions = {}): Promise<JobEnd> {
    return this.#of.calls.call(() => this.#of.ends.wait(parseId(id), signal));
  }

  async jobs(queue: string, options: JobsOptions = {}): Promise<Page<JobInfo>> {
    const { state, lane, limit = 100 } = options;
    const { calls } = this.#of;
    let cursor = parseCursor(options.cursor);
    const views: JobView[] = [];
    do {
      const left = limit - views.length;
      const page = calls.call((engine) =>
        engine.queries.jobs(queue, { state, key: lane, limit: left, cursor }),
      );
      views.push(...page.jobs);
      cursor = page.cursor;
      if (cursor !== 0 && views.length < limit) await new Promise(setImmediate);
    } while (cursor !== 0 && views.length < limit);
    // One that was forgotten since is left out.
    const known = views.filter(({ id }) => calls.engine.body(id) !== undefined);
    const items = await Promise.all(known.map((view) => this.#info(view)));
    return cursor === 0 ? { items } : { items, cursor: String(cursor) };
  }

  async #info(view: JobView): Promise<JobInfo> {
    const {
      id,
      lease: _,
      body: ___,
      result,
      waited: __,
      policyGates: ____,
      schedule,
      ...rest
    } = view;
    const progress = this.#of.progress.get(id);
    const read = await readBody(this.#of.calls.engine, this.#of.chunks, id);
    if (read === undefined) throw gone(id);
    const { headers, payload } = read;
    const info: JobInfo = {
      ...rest,
      id: idOf(id),
      headers,
      payload,
      ...(schedule === undefined ? {} : { schedule: tickOf(schedule) }),
      ...(progress === undefined ? {} : { progress }),
    };
    return withResult(info, result, this.#of.chunks);
  }
}

function tickOf({ key, tick }: ScheduleRun): NonNullable<JobInfo["schedule"]> {
  return { name: nameOfKey(key), tick };
}

function queueOf(engine: Engine, id: string): string | undefined {
  try {
    return engine.queueOf(parseId(id));
  } catch {
    return undefined;
  }
}

function gone(id: number): SluiceError {
  const details = { field: "id", value: idOf(id) };
  return new SluiceError("ALREADY_FINISHED", `job ${idOf(id)} is no longer kept`, details);
}

/** Why a job is not running, with the names that jobs have outside, and in words. */
function explain(why: EngineWhy, now: number): Why {
  const facts = named(why);
  return { ...facts, asOf: now, text: whyText(facts, now) };
}

function namedBlocked({ for: one, flow, ...rest }: WhyBlocked<number>): WhyFacts {
  const facts: WhyBlocked<string> = { ...rest };
  if (one !== undefined) facts.for = { ...one, id: idOf(one.id) };
  if (flow !== undefined) facts.flow = idOf(flow);
  return facts;
}

function named(why: EngineWhy): WhyFacts {
  if (why.state === "blocked") return namedBlocked(why);
  if (why.state !== "waiting") return why;
  if (why.reason === "ordered") return { ...why, ahead: idOf(why.ahead) };
  if (why.reason !== "gated") return why;
  const { first, holders, keptFor, ...rest } = why;
  const facts: WhyFacts = { ...rest };
  if (first !== undefined) facts.first = { ...first, id: idOf(first.id) };
  if (keptFor !== undefined) facts.keptFor = { ...keptFor, id: idOf(keptFor.id) };
  if (holders === undefined) return facts;
  const { id, ...others } = holders;
  facts.holders = id === undefined ? others : { ...others, id: idOf(id) };
  return facts;
}
