import type { NackOptions, ResultBody } from "@sluice/engine";
import {
  type Ack,
  type CancelOptions,
  checkFailure,
  type Extend,
  invalid,
  type Logged,
  type Nack,
  type OperationOptions,
  type Outcome,
  type Progress,
} from "@sluice/protocol";
import { type Body, plainHeaders } from "./codec/body.ts";
import { allowedNack } from "./cooling.ts";
import { type EngineCalls, outcomeOf } from "./engine-calls.ts";
import type { EventFeed } from "./events.ts";
import { idOf, parseId } from "./job-ids.ts";
import type { LeaseTokens } from "./lease-tokens.ts";
import {
  ERROR_BYTES_MAX,
  LOG_LINE_BYTES_MAX,
  LOG_LINES_MAX,
  PROGRESS_BYTES_MAX,
  RESULT_BYTES_MAX,
  RESULT_INLINE_BYTES_MAX,
  STACK_BYTES_MAX,
} from "./limits.ts";
import type { FailureScripts } from "./policy/failure-scripts.ts";
import type { Answer } from "./policy/lua/batch.ts";
import { applyAnswer } from "./policy/proposal.ts";
import type { ProgressReports } from "./progress.ts";
import { plainJson, tooLarge } from "./refuse.ts";

interface SettleParts {
  readonly calls: EngineCalls;
  readonly tokens: LeaseTokens;
  readonly progress: ProgressReports;
  readonly failureScripts: FailureScripts;
  readonly feed: EventFeed;
  readonly options: { readonly cooldownMaxMs: number };
}

/** The calls that end jobs, keep their leases, or have them run again. */
export class SettleCalls {
  readonly #of: SettleParts;

  constructor(of: SettleParts) {
    this.#of = of;
  }

  ack(items: readonly Ack[], { operationId }: OperationOptions = {}): Promise<Outcome<true>[]> {
    const call = { name: "ack", operationId };
    return this.#of.calls.eachOnce(call, items, ({ lease, result }, engine, now) => {
      if (result !== undefined) checkResult(result);
      const { tokens, progress } = this.#of;
      const token = tokens.parse(lease);
      if (progress.jobs.size > 0) progress.flush(token.job);
      engine.ack(token.job, token.lease, now, result, asideOf(result));
      return true;
    });
  }

  /** Without a script to ask there is no wait, so that answers keep the order of the calls. */
  nack(items: readonly Nack[], options: OperationOptions = {}): Promise<Outcome<true | number>[]> {
    const asking = this.#of.failureScripts.nacks(items);
    if (asking === undefined) return this.#nackAll(items, [], options);
    return asking.then((answers) => this.#nackAll(items, answers, options));
  }

  #nackAll(
    items: readonly Nack[],
    answers: readonly (Answer | undefined)[],
    { operationId }: OperationOptions,
  ): Promise<Outcome<true | number>[]> {
    const answerOf =
      answers.length === 0 ? undefined : new Map(items.map((item, i) => [item, answers[i]]));
    const call = { name: "nack", operationId };
    return this.#of.calls.eachOnce(call, items, (item, engine, now) => {
      const { lease, error, stack, mayCool, ...options } = item;
      checkFailure(options);
      const token = this.#of.tokens.parse(lease);
      const said: NackOptions = {
        ...allowedNack(engine, token, { ...options, mayCool }),
        error: shorten("error", error, ERROR_BYTES_MAX),
        stack: shorten("stack", stack, STACK_BYTES_MAX),
      };
      const cutMs = this.#cutCooldown(said);
      this.#of.progress.flush(token.job);
      const answer = answerOf?.get(item);
      const decided = answer === undefined ? said : applyAnswer(said, answer);
      engine.nack(token.job, token.lease, now, decided);
      return cutMs ?? true;
    });
  }

  /** Cuts a cooldown that is too long; answers to how many milliseconds. */
  #cutCooldown(said: NackOptions): number | undefined {
    const { cooldownMaxMs } = this.#of.options;
    const { cooldown } = said;
    if (cooldown === undefined || cooldown.ms <= cooldownMaxMs) return undefined;
    said.cooldown = { ...cooldown, ms: cooldownMaxMs };
    return cooldownMaxMs;
  }

  giveBack(leases: readonly string[]): Promise<Outcome<true>[]> {
    return this.#of.calls.each(leases, (lease, engine, now) => {
      const token = this.#of.tokens.parse(lease);
      engine.giveBack(token.job, token.lease, now);
      return true;
    });
  }

  extend(items: readonly Extend[]): Promise<Outcome<number>[]> {
    return this.#of.calls.each(items, ({ lease, leaseMs }, engine, now) => {
      const token = this.#of.tokens.parse(lease);
      return engine.extend(token.job, token.lease, leaseMs, now);
    });
  }

  async progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    this.#of.calls.check();
    return items.map((item) => outcomeOf(() => this.#setProgress(item)));
  }

  #setProgress({ lease, progress }: Progress): true {
    this.#of.calls.call((engine, now) => {
      const token = this.#of.tokens.parse(lease);
      // Refused like any other call about a lease that is over.
      engine.checkLease(token.job, token.lease);
      this.#of.progress.set(token.job, plainJson("progress", progress, PROGRESS_BYTES_MAX));
      const { feed } = this.#of;
      if (!feed.isHeard) return;
      const queue = engine.queueOf(token.job)!;
      feed.tell({ at: now, event: "progress", queue, id: idOf(token.job), progress });
    });
    return true;
  }

  log(items: readonly Logged[]): Promise<Outcome<true>[]> {
    return this.#of.calls.each(items, ({ lease, lines }, engine, now) => {
      const token = this.#of.tokens.parse(lease);
      engine.logs.write(token.job, token.lease, linesOf(lines), now);
      return true;
    });
  }

  cancel(
    ids: readonly string[],
    { dependencies = false }: CancelOptions = {},
  ): Promise<Outcome<boolean>[]> {
    if (dependencies) return this.#cancelFlows(ids);
    return this.#of.calls.each(ids, (id, engine, now) => engine.cancel(parseId(id), now));
  }

  /** One in each turn: it may be thousands of jobs. */
  async #cancelFlows(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    const outcomes: Outcome<boolean>[] = [];
    for (const one of ids) {
      const [outcome] = await this.#of.calls.each([one], (id, engine, now) =>
        engine.cancel(parseId(id), now, true),
      );
      outcomes.push(outcome!);
      await new Promise(setImmediate);
    }
    return outcomes;
  }

  async cancelByKey(
    queue: string,
    keys: readonly string[],
    { operationId }: OperationOptions = {},
  ): Promise<Outcome<boolean>[]> {
    const { calls } = this.#of;
    calls.call((engine) => engine.queueConfig(queue));
    const call = { name: `cancelByKey ${queue}`, operationId };
    return calls.eachOnce(call, keys, (key, engine, now) => engine.cancelByKey(queue, key, now));
  }

  retry(ids: readonly string[], { operationId }: OperationOptions = {}): Promise<Outcome<true>[]> {
    const call = { name: "retry", operationId };
    return this.#of.calls.eachOnce(call, ids, (id, engine, now) => {
      engine.retry(parseId(id), now);
      return true;
    });
  }
}

/** A result that is kept in the log for the jobs that wait for this one. */
function asideOf(result: Uint8Array | undefined): ResultBody | undefined {
  if (result === undefined || result.length <= RESULT_INLINE_BYTES_MAX) return undefined;
  const body: Body = { headers: plainHeaders(undefined), payload: result };
  return { sizeBytes: result.length, body };
}

/** Long lines lose their end. */
function linesOf(lines: unknown): string[] {
  if (!Array.isArray(lines) || lines.length > LOG_LINES_MAX) {
    throw invalid("lines", `an array of at most ${LOG_LINES_MAX} texts`, lines);
  }
  return lines.map((line, i) => shorten(`lines[${i}]`, line, LOG_LINE_BYTES_MAX) ?? "");
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
