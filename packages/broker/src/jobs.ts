import type { Engine, JobView, NackOptions } from "@sluice/engine";
import {
  type Ack,
  type ConsumeOptions,
  type Consumer,
  type Deliver,
  type Extend,
  type GroupInfo,
  type HistoryEntry,
  type JobEnd,
  type JobInfo,
  type JobsOptions,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type OperationOptions,
  type Outcome,
  type Page,
  type Progress,
  SluiceError,
  type Why,
} from "@sluice/protocol";
import { readBody } from "./chunks.ts";
import type { LocalConsumer } from "./consumers.ts";
import { allowedNack } from "./cooling.ts";
import { aborted } from "./ends.ts";
import { groupInfo } from "./feed.ts";
import { idOf, parseId } from "./job-ids.ts";
import {
  CREDITS_MAX,
  ERROR_BYTES_MAX,
  HOMES_ASKED_MAX,
  ITEMS_PER_TURN,
  LEASE_WAIT_MS_MAX,
  LEND_POLL_MS,
  PAGE_MAX,
  RESULT_BYTES_MAX,
  STACK_BYTES_MAX,
} from "./limits.ts";
import { tooLarge } from "./new-job.ts";
import { checkBatch, type Note } from "./operations.ts";
import type { Answer } from "./policy/lua/batch.ts";
import { applyAnswer } from "./policy/proposal.ts";
import { plainProgress } from "./progress.ts";
import { errorJson, invalid, okOf, outcomeOf } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";
import { explain } from "./why.ts";

/** The calls about jobs that are there: who gets them, how they end, what is known of them. */
export class JobDesk {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    checkInteger("credits", options.credits, 0, CREDITS_MAX);
    return this.#runtime.call(() => this.#runtime.consumers.join(queue, options, deliver));
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    const { max, waitMs = 0, leaseMs, worker = "poll", signal } = options;
    checkInteger("max", max, 1, CREDITS_MAX);
    checkInteger("waitMs", waitMs, 0, LEASE_WAIT_MS_MAX);
    if (signal?.aborted === true) throw aborted(signal);
    const { promise, resolve, reject } = Promise.withResolvers<LeasedJob[]>();
    const { clock, consumers, pump, sharing } = this.#runtime;
    const consumer = this.#runtime.call(() =>
      consumers.join(queue, { worker, credits: max, leaseMs }, resolve),
    );
    consumer.isPoll = true;
    const release = waitMs === 0 ? sharing?.press() : undefined;
    pump.runNow();
    const giveUp = (): void => {
      // What is on its way still comes, unless it is cancelled there.
      consumer.onNothing = () => resolve([]);
      if (consumer.onTheWay === 0) resolve([]);
    };
    if (waitMs === 0 && sharing?.pressed() === undefined) giveUp();
    else if (waitMs === 0) void this.#asked(consumer).then(giveUp);
    const timer = clock.at(clock.now() + (waitMs || LEND_POLL_MS), giveUp);
    const abort = (): void => reject(aborted(signal!));
    signal?.addEventListener("abort", abort, { once: true });
    void consumer.over.then(() => resolve([]));
    try {
      return await promise;
    } finally {
      timer.cancel();
      release?.();
      signal?.removeEventListener("abort", abort);
      consumers.leave(consumer);
    }
  }

  /** Until the homes of gates have said what they can lend now, or there is something to give. */
  async #asked(consumer: LocalConsumer): Promise<void> {
    const { pump, sharing } = this.#runtime;
    for (let tries = 0; tries < HOMES_ASKED_MAX && consumer.onTheWay === 0; tries++) {
      const heard = sharing?.pressed();
      if (heard === undefined) return;
      await heard;
      pump.runNow();
    }
  }

  ack(items: readonly Ack[], { operationId }: OperationOptions): Promise<Outcome<true>[]> {
    const call = { name: "ack", field: "items", operationId };
    return this.#once(call, items, ({ lease, result }, engine, now) => {
      if (result !== undefined) checkResult(result);
      const token = this.#runtime.tokens.parse(lease);
      this.#runtime.progress.flush(token.job);
      engine.ack(token.job, token.lease, now, result);
      return true;
    });
  }

  /** Where no script is asked nobody waits, so that answers keep the order of the calls. */
  nack(items: readonly Nack[], options: OperationOptions): Promise<Outcome<true | number>[]> {
    const asking = this.#runtime.failureScripts.nacks(items);
    if (asking === undefined) return this.#nackAll(items, [], options);
    return asking.then((verdicts) => this.#nackAll(items, verdicts, options));
  }

  #nackAll(
    items: readonly Nack[],
    verdicts: readonly (Answer | undefined)[],
    { operationId }: OperationOptions,
  ): Promise<Outcome<true | number>[]> {
    const { cooldownMaxMs } = this.#runtime.options;
    const verdictOf =
      verdicts.length === 0 ? undefined : new Map(items.map((item, i) => [item, verdicts[i]]));
    const call = { name: "nack", field: "items", operationId };
    return this.#once(call, items, (item, engine, now) => {
      const { lease, error, stack, ...options } = item;
      const verdict = verdictOf?.get(item);
      const token = this.#runtime.tokens.parse(lease);
      const said: NackOptions = {
        ...allowedNack(engine, token, options),
        error: shorten("error", error, ERROR_BYTES_MAX),
        stack: shorten("stack", stack, STACK_BYTES_MAX),
      };
      const { cooldown } = said;
      const isCut = typeof cooldown?.ms === "number" && cooldown.ms > cooldownMaxMs;
      if (isCut) said.cooldown = { ...cooldown, ms: cooldownMaxMs };
      this.#runtime.progress.flush(token.job);
      engine.nack(
        token.job,
        token.lease,
        now,
        verdict === undefined ? said : applyAnswer(said, verdict),
      );
      return isCut ? cooldownMaxMs : true;
    });
  }

  giveBack(leases: readonly string[]): Promise<Outcome<true>[]> {
    return this.#each("leases", leases, (lease, engine, now) => {
      const token = this.#runtime.tokens.parse(lease);
      engine.giveBack(token.job, token.lease, now);
      return true;
    });
  }

  extend(items: readonly Extend[]): Promise<Outcome<number>[]> {
    return this.#each("items", items, ({ lease, leaseMs }, engine, now) => {
      const token = this.#runtime.tokens.parse(lease);
      return engine.extend(token.job, token.lease, leaseMs, now);
    });
  }

  async progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    checkBatch("items", items);
    this.#runtime.check();
    return items.map((item) => outcomeOf(() => this.#setProgress(item)));
  }

  #setProgress({ lease, progress }: Progress): true {
    this.#runtime.call((engine, now) => {
      const token = this.#runtime.tokens.parse(lease);
      // Refused like any other call about a lease that is over.
      engine.checkLease(token.job, token.lease);
      this.#runtime.progress.set(token.job, plainProgress(progress));
      const { feed } = this.#runtime;
      if (!feed.isHeard) return;
      const queue = engine.queueOf(token.job)!;
      feed.tell({ at: now, event: "progress", queue, id: idOf(token.job), progress });
    });
    return true;
  }

  cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.#each("ids", ids, (id, engine, now) => engine.cancel(parseId(id), now));
  }

  async cancelByKey(
    queue: string,
    keys: readonly string[],
    { operationId }: OperationOptions,
  ): Promise<Outcome<boolean>[]> {
    this.#runtime.call((engine) => engine.queueConfig(queue));
    const call = { name: `cancelByKey ${queue}`, field: "keys", operationId };
    return this.#once(call, keys, (key, engine, now) => engine.cancelByKey(queue, key, now));
  }

  retry(ids: readonly string[], { operationId }: OperationOptions): Promise<Outcome<true>[]> {
    return this.#once({ name: "retry", field: "ids", operationId }, ids, (id, engine, now) => {
      engine.retry(parseId(id), now);
      return true;
    });
  }

  async job(id: string): Promise<JobInfo> {
    const view = this.#runtime.call((engine, now) => {
      const job = parseId(id);
      const found = engine.job(job);
      // Says whether there never was such a job, or it is no longer kept.
      if (found === undefined) engine.why(job, now);
      return found!;
    });
    return this.#info(view);
  }

  async why(id: string): Promise<Why> {
    return this.#runtime.call((engine, now) => explain(engine.why(parseId(id), now), now));
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    return this.#runtime.call((engine) => engine.history(parseId(id)));
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    checkBatch("ids", ids);
    return this.#runtime.call((engine) => ids.map((id) => queueOf(engine, id)));
  }

  async ended(id: string, signal: AbortSignal | undefined): Promise<JobEnd> {
    return this.#runtime.call(() => this.#runtime.ends.wait(parseId(id), signal));
  }

  async jobs(queue: string, options: JobsOptions): Promise<Page<JobInfo>> {
    const { state, lane, limit = 100 } = options;
    checkInteger("limit", limit, 1, PAGE_MAX);
    let cursor = parseCursor(options.cursor);
    const views: JobView[] = [];
    do {
      const left = limit - views.length;
      const page = this.#runtime.call((engine) =>
        engine.jobs(queue, { state, key: lane, limit: left, cursor }),
      );
      views.push(...page.jobs);
      cursor = page.cursor;
      if (cursor !== 0 && views.length < limit) await new Promise(setImmediate);
    } while (cursor !== 0 && views.length < limit);
    // One that was forgotten since is left out.
    const known = views.filter(({ id }) => this.#runtime.engine.body(id) !== undefined);
    const items = await Promise.all(known.map((view) => this.#info(view)));
    return cursor === 0 ? { items } : { items, cursor: String(cursor) };
  }

  async group(group: string): Promise<GroupInfo> {
    return this.#runtime.call((engine) => groupInfo(group, engine));
  }

  async groupEnded(group: string, signal: AbortSignal | undefined): Promise<GroupInfo> {
    return this.#runtime.call(() => this.#runtime.ends.waitGroup(group, signal));
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    checkBatch("groups", groups);
    await this.#runtime.change(() => this.#runtime.heldGroups.release(groups));
  }

  /**
   * The same as `#each`, unless this operation was answered before. It hands the promise on as it
   * is: one more `await` and the answer would come after those of later calls.
   */
  #once<I, T>(
    { name, field, operationId }: { name: string; field: string; operationId: string | undefined },
    items: readonly I[],
    call: (item: I, engine: Engine, now: number) => T,
  ): Promise<Outcome<T>[]> {
    if (operationId === undefined) return this.#each(field, items, call);
    return this.#named({ name, field, operationId }, items, call);
  }

  async #named<I, T>(
    { name, field, operationId }: { name: string; field: string; operationId: string },
    items: readonly I[],
    call: (item: I, engine: Engine, now: number) => T,
  ): Promise<Outcome<T>[]> {
    checkBatch(field, items);
    this.#runtime.check();
    const operation = { operationId, call: name, items: items.length, said: [items] };
    return this.#runtime.operations.once<T>(operation, (missing, note) => {
      const rest = missing.map((item) => items[item]!);
      return this.#each(field, rest, call, note);
    });
  }

  /**
   * Makes a call for each item; answers when all of them are durable. A large batch is cut, so that
   * it does not delay other calls.
   */
  async #each<I, T>(
    field: string,
    items: readonly I[],
    call: (item: I, engine: Engine, now: number) => T,
    note?: Note,
  ): Promise<Outcome<T>[]> {
    checkBatch(field, items);
    const { engine, journal, pump } = this.#runtime;
    const outcomes: Outcome<T>[] = [];
    for (let from = 0; from === 0 || from < items.length; from += ITEMS_PER_TURN) {
      if (from > 0) await new Promise(setImmediate);
      this.#runtime.check();
      const now = this.#runtime.now();
      const to = Math.min(from + ITEMS_PER_TURN, items.length);
      for (let i = from; i < to; i++) {
        try {
          outcomes.push(okOf(call(items[i]!, engine, now)));
        } catch (error) {
          outcomes.push({ error: errorJson(error) });
        }
      }
      note?.(from, from === 0 ? outcomes : outcomes.slice(from));
      pump.call();
    }
    await journal.durable();
    return outcomes;
  }

  async #info(view: JobView): Promise<JobInfo> {
    const { id, lease: _, body: ___, result, waited: __, policyGates: ____, ...rest } = view;
    const progress = this.#runtime.progress.get(id);
    const { engine, chunks } = this.#runtime;
    const read = await readBody(engine, chunks, id);
    if (read === undefined) throw gone(id);
    const { headers, payload } = read;
    return {
      ...rest,
      id: idOf(id),
      headers,
      payload,
      ...(progress === undefined ? {} : { progress }),
      ...(result === undefined ? {} : { result: result as Uint8Array }),
    };
  }
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

function checkResult(result: unknown): void {
  if (!(result instanceof Uint8Array)) throw invalid("result", "bytes", result);
  if (result.length > RESULT_BYTES_MAX) throw tooLarge("result", result, RESULT_BYTES_MAX);
}

/** An error and its stack are kept with the job: a long one loses its end. */
function shorten(field: string, text: unknown, max: number): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== "string") throw invalid(field, "a text", text);
  return text.length > max ? `${text.slice(0, max - 3)}...` : text;
}

export function parseCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const value = Number(cursor);
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalid("cursor", "the cursor of an earlier answer", cursor);
  }
  return value;
}

export function checkInteger(field: string, value: unknown, min: number, max: number): void {
  if (!Number.isInteger(value) || (value as number) < min || (value as number) > max) {
    throw invalid(field, `an integer from ${min} to ${max}`, value);
  }
}
