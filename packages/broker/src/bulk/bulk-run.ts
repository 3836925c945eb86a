import type { Engine, JobWalk } from "@sluice/engine";
import { type Chunks, readBody } from "../chunks.ts";
import { type Body, headersBytes } from "../codec/body.ts";
import type { EngineCalls } from "../engine-calls.ts";
import { bodyTest, engineFilter } from "../job-filters.ts";
import { jobAt } from "../job-ids.ts";
import type { Journal } from "../journal.ts";
import { BULK_STEP_JOBS, BULK_STEP_JOBS_BESIDE } from "../limits.ts";
import { toPortError } from "../refuse.ts";
import { BULK_STORE, type BulkRecord, shortened } from "./bulk-record.ts";

export interface BulkParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly journal: Journal;
}

/** A job of a step, and the body that it is to get. */
interface Chosen {
  readonly id: number;
  readonly body: Body | undefined;
}

/**
 * One action on many jobs, a step at a time. What a step does and how far the action is are one
 * call of the engine, and so one commit: after a crash both are there, or neither. A step waits
 * until it is durable, so that adds and acks have the log between two steps.
 */
export class BulkRun {
  readonly #of: BulkParts;
  record: BulkRecord;
  isStopped = false;
  #over: Promise<void> | undefined = undefined;
  /** The size of the latest step, and how much was written when it ended. */
  #jobs = 0;
  #writtenBytes = -1;

  constructor(of: BulkParts, record: BulkRecord) {
    this.#of = of;
    this.record = record;
  }

  /** Settles when it is done or stopped; rejects when the broker ends before. */
  get over(): Promise<void> {
    return this.#over ?? Promise.resolve();
  }

  begin(): Promise<void> {
    this.#over = this.#go();
    return this.#over;
  }

  /** Goes through all jobs that are meant. */
  async #go(): Promise<void> {
    const { calls, journal } = this.#of;
    const { ids } = this.record.filter;
    const walk = calls.ask((engine) => engine.queries.walkJobs(engineFilter(this.record.filter)));
    const most = (): number => this.#stepJobs();
    const batches = ids === undefined ? walked(walk, most) : named(ids, most);
    for (const batch of batches) {
      if (this.isStopped) break;
      const chosen = await this.#choose(batch.filter((id) => this.#isMeant(walk, id)));
      if (chosen.length > 0) {
        this.#step(walk, chosen);
        this.#writtenBytes = journal.writtenBytes;
        await journal.durable();
      }
      await new Promise(setImmediate);
    }
    this.#end();
    await journal.durable();
  }

  /**
   * A step begins small, and doubles while no other call writes. Steps of full size would delay
   * those that come after a pause: the first of them has to wait for a whole step.
   */
  #stepJobs(): number {
    const isQuiet = this.#of.journal.writtenBytes === this.#writtenBytes;
    const jobs = isQuiet ? 2 * this.#jobs : BULK_STEP_JOBS_BESIDE;
    this.#jobs = Math.min(jobs, BULK_STEP_JOBS);
    return this.#jobs;
  }

  /** It was there when the action started, and is still as it was meant. */
  #isMeant(walk: JobWalk, id: number): boolean {
    const { lastId, lastPlace, action } = this.record;
    if (id > lastId || !walk.matches(id)) return false;
    // What ends a job cannot end it again: those that have changed since are meant too.
    return action === "cancel" || action === "delete" || walk.placeOf(id) <= lastPlace;
  }

  /** Those whose payload and headers are meant, with what they get instead. */
  async #choose(ids: readonly number[]): Promise<Chosen[]> {
    const { filter, payload } = this.record;
    const test = bodyTest(filter);
    if (test === undefined && payload === undefined) {
      return ids.map((id) => ({ id, body: undefined }));
    }
    const bytes = payload === undefined ? undefined : Buffer.from(JSON.stringify(payload));
    const chosen: Chosen[] = [];
    for (const id of ids) {
      const body = await readBody(this.#of.calls.engine, this.#of.chunks, id);
      if (body === undefined || test?.(body) === false) continue;
      const edited = bytes === undefined ? undefined : { headers: body.headers, payload: bytes };
      chosen.push({ id, body: edited });
    }
    return chosen;
  }

  #step(walk: JobWalk, chosen: readonly Chosen[]): void {
    this.#of.calls.call((engine, now) => {
      const next = { ...this.record };
      for (const one of chosen) {
        // Payloads may have been read meanwhile.
        if (!this.#isMeant(walk, one.id)) continue;
        try {
          act(engine, next, one, now);
          next.done++;
        } catch (error) {
          next.refused++;
          next.refusal ??= toPortError(error).message;
        }
      }
      this.#put(engine, next, now);
    });
  }

  #end(): void {
    this.#of.calls.call((engine, now) => {
      const state = this.isStopped ? "stopped" : "done";
      const { done, refused } = this.record;
      const matched = this.record.matched ?? done + refused;
      this.#put(engine, shortened({ ...this.record, matched, state, endedAt: now }), now);
    });
  }

  #put(engine: Engine, record: BulkRecord, now: number): void {
    this.record = record;
    engine.stores.put(BULK_STORE, record.id, record, now);
  }
}

function act(engine: Engine, record: BulkRecord, { id, body }: Chosen, now: number): void {
  const { action, to } = record;
  if (action === "cancel") return void engine.cancel(id, now);
  if (action === "delete") return engine.byHand.forget(id, now);
  if (action === "move") return engine.byHand.transfer(id, to!, now);
  if (body !== undefined) {
    engine.byHand.edit(id, body, body.payload.length + headersBytes(body.headers), now);
  }
  if (to === undefined) engine.retry(id, now);
  else engine.byHand.transfer(id, to, now);
}

function* walked(walk: JobWalk, most: () => number): Generator<number[]> {
  while (!walk.isOver) yield walk.next(most());
}

function* named(ids: readonly string[], most: () => number): Generator<number[]> {
  for (let from = 0; from < ids.length; ) {
    const to = from + most();
    yield ids.slice(from, to).map((id) => jobAt(id, id.length));
    from = to;
  }
}
