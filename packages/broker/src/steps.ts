import type { Engine, Suspension as EngineSuspension, StepEntry, StepsView } from "@sluice/engine";
import {
  checkInteger,
  checkStepName,
  checkSuspension,
  invalid,
  type OperationOptions,
  type Outcome,
  PAGE_MAX,
  type PageOptions,
  STEP_VALUE_BYTES_MAX,
  type StepInfo,
  type StepResult,
  type StepsInfo,
  type Suspension,
} from "@sluice/protocol";
import type { Chunks } from "./chunks.ts";
import { type Body, plainHeaders } from "./codec/body.ts";
import type { EngineCalls } from "./engine-calls.ts";
import { parseId } from "./job-ids.ts";
import type { LeaseTokens } from "./lease-tokens.ts";
import { ERROR_BYTES_MAX, STEPS_PAGE_BYTES } from "./limits.ts";
import type { ProgressReports } from "./progress.ts";
import { parseCursor, tooLarge } from "./refuse.ts";

interface StepParts {
  readonly calls: EngineCalls;
  readonly chunks: Chunks;
  readonly tokens: LeaseTokens;
  readonly progress: ProgressReports;
}

/** The calls about the steps of jobs, and their signals. */
export class StepCalls {
  readonly #of: StepParts;

  constructor(of: StepParts) {
    this.#of = of;
  }

  /** The answer means that the results are in the log. */
  recordStep(items: readonly StepResult[]): Promise<Outcome<true>[]> {
    return this.#of.calls.each(items, ({ lease, name, occurrence, value }, engine, now) => {
      checkStepName(name, occurrence);
      const token = this.#of.tokens.parse(lease);
      const step = { name, occurrence, kind: "run" as const, ...bodyOf(value) };
      engine.steps.record(token.job, token.lease, step, now);
      return true;
    });
  }

  suspend(
    items: readonly Suspension[],
    { operationId }: OperationOptions = {},
  ): Promise<Outcome<boolean>[]> {
    const call = { name: "suspend", operationId };
    return this.#of.calls.eachOnce(call, items, ({ lease, ...said }, engine, now) => {
      checkSuspension({ lease, ...said });
      const token = this.#of.tokens.parse(lease);
      this.#of.progress.flush(token.job);
      return engine.steps.suspend(token.job, token.lease, suspensionOf(said, engine, now), now);
    });
  }

  async signal(
    id: string,
    name: string,
    value?: unknown,
    options: OperationOptions = {},
  ): Promise<void> {
    checkStepName(name, 0);
    if (name === "") throw invalid("name", "the name of a signal", name);
    const body = bodyOf(value === undefined ? null : value);
    return this.#of.calls.changeOnce(
      `signal ${id} ${name}`,
      options,
      (engine, now) => engine.steps.signal(parseId(id), { name, ...body }, now),
      value,
    );
  }

  async steps(id: string, options: PageOptions = {}): Promise<StepsInfo> {
    const { limit = PAGE_MAX } = options;
    checkInteger("limit", limit, 1, PAGE_MAX);
    const from = parseCursor(options.cursor);
    const view = this.#of.calls.ask((engine) => engine.queries.stepsOf(parseId(id)));
    const items: StepInfo[] = [];
    let bytes = 0;
    let at = from;
    for (; at < view.steps.length && items.length < limit; at++) {
      const step = view.steps[at]!;
      const part = partOf(step, view);
      bytes += part.sizeBytes;
      if (bytes > STEPS_PAGE_BYTES && items.length > 0) break;
      items.push(infoOf(step, await this.#value(part.body)));
    }
    const signals = view.signals.filter(({ isTaken }) => !isTaken);
    return {
      items,
      ...(at < view.steps.length ? { cursor: String(at) } : {}),
      ...(view.pending === undefined ? {} : { pending: { ...view.pending } }),
      signals: signals.map(({ name, at: sentAt }) => ({ name, at: sentAt })),
    };
  }

  async #value(body: unknown): Promise<{ value: unknown } | undefined> {
    if (body === undefined) return undefined;
    // One that is not written yet is as the call brought it.
    const { payload } =
      typeof body === "number" ? await this.#of.chunks.read(body) : (body as Body);
    return { value: JSON.parse(Buffer.from(payload).toString()) };
  }
}

/** The value of a step that waited is that of its signal. */
function partOf(step: StepEntry, { signals }: StepsView): { body: unknown; sizeBytes: number } {
  if (step.signal === -1) return step;
  return signals.find(({ index }) => index === step.signal) ?? step;
}

function infoOf(step: StepEntry, value: { value: unknown } | undefined): StepInfo {
  const { name, occurrence, kind, at, isDone, failures, error, signal } = step;
  const isLate = kind === "wait" && isDone && signal === -1;
  return {
    name,
    occurrence,
    kind,
    at,
    isDone,
    ...value,
    ...(isLate ? { isLate } : {}),
    ...(failures === 0 ? {} : { failures }),
    ...(error === undefined ? {} : { error }),
  };
}

const encoder = new TextEncoder();

/** A value as it is kept; `undefined` is no value. */
function bodyOf(value: unknown): { sizeBytes: number; body: Body | undefined } {
  if (value === undefined) return { sizeBytes: 0, body: undefined };
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) throw invalid("value", "a value that JSON can represent", value);
  const payload = encoder.encode(text);
  if (payload.length > STEP_VALUE_BYTES_MAX) throw tooLarge("value", payload, STEP_VALUE_BYTES_MAX);
  return { sizeBytes: payload.length, body: { headers: plainHeaders(undefined), payload } };
}

function suspensionOf(
  said: Omit<Suspension, "lease">,
  engine: Engine,
  now: number,
): EngineSuspension {
  const { name, occurrence, kind, delayMs, runAt, gates, cost, failures, error } = said;
  const endless = kind === "wait" ? Number.POSITIVE_INFINITY : now;
  const at = runAt === undefined ? endless : runAt - engine.wall.aheadMs;
  const until = delayMs === undefined ? at : now + delayMs;
  const of = { name, occurrence, kind, until, gates, cost, failures };
  return error === undefined ? of : { ...of, error: error.slice(0, ERROR_BYTES_MAX) };
}
