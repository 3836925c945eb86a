/**
 * What holds for every call of the port: how many items its batch may have, and how long its caller
 * waits for an answer. Implementations of the port that have all they need in this process get it
 * from here; the client of a server does more, for it can withdraw a call.
 */
import { CALL_NAMES, CALLS, type CallName, rowOf } from "./calls/index.ts";
import type { Clock } from "./clock.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { SluiceError } from "./errors.ts";
import { invalid } from "./kinds.ts";
import { BATCH_MAX } from "./limits.ts";
import type { Broker, CallOptions, OperationOptions } from "./port.ts";

/** The calls that a caller can bound; `lease` alone of those outside the table. */
export const BOUNDED_CALLS: readonly (CallName | "lease")[] = [...CALL_NAMES, "lease"];

/** Options follow the arguments; those of `lease` its queue. */
export function optionsAt(name: string): number {
  return name === "lease" ? 1 : rowOf(name as CallName).args.length;
}

/** These end by themselves when their signal is aborted, and then nothing is lost on the way. */
function endsItself(name: string): boolean {
  return name === "lease" || rowOf(name as CallName).waits;
}

/** Requests outside the table, such as `lend` between nodes, may have taken effect. */
function isRead(name: string): boolean {
  return Object.hasOwn(CALLS, name) && rowOf(name as CallName).repeat === "read";
}

/** Refuses a list that is none, or has too many items. */
export function checkBatch(field: string, items: unknown): void {
  if (!Array.isArray(items)) throw invalid(field, "an array", items);
  if (items.length > BATCH_MAX) {
    throw invalid(`${field}.length`, `at most ${BATCH_MAX}`, items.length);
  }
}

/** Checks the batch among the arguments of a call, if it has one. */
export function batchCheck(name: CallName | "lease"): (args: readonly unknown[]) => void {
  const args = name === "lease" ? [] : rowOf(name).args;
  const at = args.findIndex(({ kind }) => kind.schema.type === "array");
  const field = args[at]?.name;
  return field === undefined ? () => {} : (given) => checkBatch(field, given[at]);
}

type Call = (...args: unknown[]) => Promise<unknown>;

interface Implementation<B> {
  readonly prototype: B;
}

export interface BoundOptions<B> {
  readonly clockOf: (broker: B) => Clock;
  /**
   * For a port that passes the options on to others, whose errors say more: the call is ended here
   * only when it is over its time by so much. Default 0.
   */
  readonly graceMs?: number | undefined;
}

/** Has every call of a class check its batch, and honour its `signal` and its `timeout`. */
export function boundCalls<B extends Broker>(
  { prototype }: Implementation<B>,
  { clockOf, graceMs = 0 }: BoundOptions<B>,
): void {
  const calls = prototype as unknown as Record<string, Call>;
  for (const name of BOUNDED_CALLS) {
    const at = optionsAt(name);
    const check = batchCheck(name);
    const call = calls[name]!;
    calls[name] = function bounded(this: B, ...args: unknown[]): Promise<unknown> {
      const options = args[at] as OperationOptions | undefined;
      try {
        check(args);
        if (!isBounded(options)) return call.apply(this, args);
        const bound = boundOf({ name, options, graceMs, clock: clockOf(this) });
        return bound.over(call.apply(this, args.with(at, bound.options)));
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }
}

export function isBounded(options: OperationOptions | undefined): options is OperationOptions {
  return options?.signal !== undefined || options?.timeout !== undefined;
}

interface Bound {
  readonly name: string;
  readonly options: OperationOptions;
  readonly graceMs?: number | undefined;
  readonly clock: Clock;
}

/** A wait that ends when its caller gives up, or its time is over. */
export interface CallBound {
  /** What the call itself is made with. */
  readonly options: CallOptions;
  /** The answer, unless the wait ends before it. */
  over<T>(answer: Promise<T>): Promise<T>;
}

/** Begins a bounded wait; throws when there is nothing to wait for. */
export function boundOf(bound: Bound): CallBound {
  const { signal, timeout } = bound.options;
  checkSignal(signal);
  return timeout === undefined ? untilAborted(bound) : untilLate(bound);
}

/** Most calls that have a signal have no timeout: they are made without a second signal. */
function untilAborted({ name, options }: Bound): CallBound {
  const signal = options.signal!;
  const own = (error: unknown): unknown =>
    signal.aborted && isAborted(error) ? aborted(signal, options.operationId) : error;
  const ended = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw own(error);
    });
  if (endsItself(name)) return { options, over: ended };
  const over = <T>(answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => reject(aborted(signal, options.operationId));
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, { once: true });
      const leave = (): void => signal.removeEventListener("abort", onAbort);
      answer.finally(leave).then(resolve, (error: unknown) => reject(own(error)));
    });
  return { options, over };
}

function untilLate({ name, options, graceMs = 0, clock }: Bound): CallBound {
  const { signal, timeout, operationId } = options;
  const ms = parseTimeout(timeout)!;
  const given = new AbortController();
  let reason: SluiceError | undefined;
  const ended = Promise.withResolvers<never>();
  // A call that is refused at once does not wait for it.
  ended.promise.catch(() => {});
  const end = (error: SluiceError): void => {
    reason = error;
    given.abort(error);
    if (!endsItself(name)) ended.reject(error);
  };
  const onAbort = (): void => end(aborted(signal!, operationId));
  signal?.addEventListener("abort", onAbort, { once: true });
  const late = (): void => end(timedOut(name, ms, operationId));
  const timer = clock.at(clock.now() + ms + graceMs, late);
  const over = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await Promise.race([answer, ended.promise]);
    } catch (error) {
      throw isAborted(error) && reason !== undefined ? reason : error;
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  };
  const rest = graceMs === 0 ? { timeout: undefined } : {};
  return { options: { ...options, ...rest, signal: given.signal }, over };
}

function isAborted(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "ABORTED";
}

/** Undefined when there is no bound. */
export function parseTimeout(timeout: Duration | undefined): number | undefined {
  return timeout === undefined ? undefined : parseDuration("timeout", timeout);
}

/** Throws when the caller has given up. */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw aborted(signal);
}

export function aborted({ reason }: AbortSignal, operationId?: string): SluiceError {
  const message = "the caller's signal was aborted before the answer arrived";
  return new SluiceError("ABORTED", message, named(operationId), { cause: reason });
}

export function timedOut(call: string, ms: number, operationId?: string): SluiceError {
  const again = operationId === undefined ? "" : ". Repeat it with details.operationId";
  const effect = isRead(call) ? "" : `; it may have taken effect${again}`;
  const message = `no answer to \`${call}\` within ${ms} ms${effect}`;
  return new SluiceError("TIMEOUT", message, named(operationId));
}

function named(operationId: string | undefined): { operationId?: string } {
  return operationId === undefined ? {} : { operationId };
}
