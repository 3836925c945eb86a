/**
 * What holds for every call of the port: which arguments and options it has, and how long its
 * caller waits for an answer. Implementations of the port that have all they need in this process
 * get it from here; the client of a server does more, for it can withdraw a call.
 */
import { checkLocalCall } from "./calls/check-call.ts";
import { CALL_NAMES, CALLS, type CallName, rowOf } from "./calls/index.ts";
import type { Clock } from "./clock.ts";
import { type Duration, parseDuration } from "./duration.ts";
import { SluiceError } from "./errors.ts";
import { BATCH_MAX } from "./limits.ts";
import type { Broker, CallOptions, OperationOptions } from "./port.ts";

/** The calls that a caller can bound; `lease` alone of those outside the table. */
export const BOUNDED_CALLS: readonly (CallName | "lease")[] = [...CALL_NAMES, "lease"];

/** Options follow the arguments; those of `lease` its queue. */
export function optionsAt(name: string): number {
  return name === "lease" ? 1 : rowOf(name as CallName).args.length;
}

/** These end by themselves when their signal is aborted, and then nothing is lost on the way. */
const END_THEMSELVES: ReadonlySet<string> = new Set([
  ...CALL_NAMES.filter((name) => rowOf(name).waits),
  "lease",
]);

/** Requests outside the table, such as `lend` between nodes, may have taken effect. */
function isRead(name: string): boolean {
  return Object.hasOwn(CALLS, name) && rowOf(name as CallName).repeat === "read";
}

/** Checks the arguments and the options of a call; those of `lease` are checked where it acts. */
export function checkOf(name: CallName | "lease"): (args: readonly unknown[]) => void {
  if (name === "lease") return () => {};
  const row = rowOf(name);
  const check = (args: readonly unknown[]): void => checkLocalCall(row, args);
  if (!row.isHot) return check;
  const last = row.args.length - 1;
  return (args) => {
    if (!isPlainBatch(args, last)) check(args);
  };
}

/**
 * Whether the arguments are a queue or nothing, a batch, and no options, as in nearly all hot
 * calls: for them this is all that the row demands.
 */
function isPlainBatch(args: readonly unknown[], last: number): boolean {
  const batch = args[last];
  if (!Array.isArray(batch) || batch.length > BATCH_MAX) return false;
  if (args.length > last + 1 && args[last + 1] !== undefined) return false;
  return args.length <= last + 2 && (last === 0 || typeof args[0] === "string");
}

type Method = (...args: unknown[]) => Promise<unknown>;

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
  /** Calls that pass their options on at once, to a port that honours them. */
  readonly except?: readonly CallName[];
}

/** Has every call of a class check what it is given, and honour its `signal` and its `timeout`. */
export function boundCalls<B extends Broker>(
  { prototype }: Implementation<B>,
  { clockOf, graceMs = 0, except = [] }: BoundOptions<B>,
): void {
  const calls = prototype as unknown as Record<string, Method>;
  for (const name of BOUNDED_CALLS) {
    if ((except as readonly string[]).includes(name)) continue;
    const at = optionsAt(name);
    const check = checkOf(name);
    const call = calls[name]!;
    calls[name] = function bounded(this: B, ...args: unknown[]): Promise<unknown> {
      const options = args[at] as OperationOptions | undefined;
      try {
        check(args);
        if (!isBounded(options)) return call.apply(this, args);
        const bound = boundOf({ name, options, graceMs, clock: clockOf(this) });
        args[at] = bound.options;
        return bound.over(call.apply(this, args));
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

/**
 * Most calls that have a signal have no timeout: they are made without a second signal. Each add
 * over the network is one of them, so there are no more promises here than there must be.
 */
function untilAborted({ name, options }: Bound): CallBound {
  const signal = options.signal!;
  const own = (error: unknown): unknown =>
    signal.aborted && isAborted(error) ? aborted(signal, options.operationId) : error;
  if (END_THEMSELVES.has(name)) {
    const over = <T>(answer: Promise<T>): Promise<T> =>
      answer.catch((error: unknown) => {
        throw own(error);
      });
    return { options, over };
  }
  const over = <T>(answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => reject(aborted(signal, options.operationId));
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort, ONCE);
      answer.then(
        (value) => {
          signal.removeEventListener("abort", onAbort);
          resolve(value);
        },
        (error: unknown) => {
          signal.removeEventListener("abort", onAbort);
          reject(own(error));
        },
      );
    });
  return { options, over };
}

const ONCE = { once: true } as const;

function untilLate({ name, options, graceMs = 0, clock }: Bound): CallBound {
  const { signal, timeout, operationId } = options;
  const ms = parseTimeout(timeout)!;
  const waits = END_THEMSELVES.has(name);
  // The other calls have no use for a signal, unless they pass it on.
  const needsSignal = waits || name === "add" || graceMs > 0;
  const given = needsSignal ? new AbortController() : undefined;
  let reason: SluiceError | undefined;
  let giveUp: ((error: SluiceError) => void) | undefined;
  const end = (error: SluiceError): void => {
    reason = error;
    given?.abort(error);
    if (!waits) giveUp?.(error);
  };
  const onAbort = (): void => end(aborted(signal!, operationId));
  signal?.addEventListener("abort", onAbort, ONCE);
  const timer = clock.at(clock.now() + ms + graceMs, () => end(timedOut(name, ms, operationId)));
  const leave = (): void => {
    timer.cancel();
    signal?.removeEventListener("abort", onAbort);
  };
  const over = <T>(answer: Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      giveUp = (error) => {
        leave();
        reject(error);
      };
      if (reason !== undefined && !waits) giveUp(reason);
      answer.then(
        (value) => {
          leave();
          resolve(value);
        },
        (error: unknown) => {
          leave();
          reject(isAborted(error) && reason !== undefined ? reason : error);
        },
      );
    });
  const rest = graceMs === 0 ? { timeout: undefined } : {};
  return { options: { ...options, ...rest, signal: given?.signal }, over };
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
