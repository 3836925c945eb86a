/**
 * How long a caller waits for an answer. Implementations of the port that have all they need in
 * this process get it from here; the client of a server does more, for it can withdraw a call.
 */
import type { Clock, Timer } from "./clock.ts";
import { SluiceError } from "./errors.ts";
import type { Broker, CallOptions, OperationOptions } from "./port.ts";

/** Calls that are not bounded: they last as long as their caller wants. */
type OpenEnded = "consume" | "events" | "close";

export type BoundedCall = Exclude<keyof Broker, OpenEnded>;

/** Which argument of each call holds its options. A call that is missing here does not compile. */
const OPTIONS_AT: Readonly<Record<BoundedCall, number>> = {
  add: 2,
  lease: 1,
  ack: 1,
  nack: 1,
  giveBack: 1,
  extend: 1,
  progress: 1,
  cancel: 1,
  cancelByKey: 2,
  retry: 1,
  job: 1,
  why: 1,
  history: 1,
  queuesOf: 1,
  ended: 1,
  jobs: 1,
  group: 1,
  groupEnded: 1,
  releaseGroups: 1,
  setQueue: 2,
  deleteQueue: 1,
  queue: 1,
  queues: 0,
  purge: 1,
  redrive: 1,
  lanes: 1,
  setLaneWeight: 3,
  workers: 1,
  setGate: 2,
  deleteGate: 1,
  gate: 1,
  gates: 0,
  cooldown: 3,
  clearCooldown: 1,
  reportGate: 2,
  storeGet: 2,
  storeWrite: 2,
  storeScan: 1,
  stats: 0,
};

/** These end by themselves when their signal is aborted, and then nothing is lost on the way. */
const ENDS_ITSELF: ReadonlySet<string> = new Set<BoundedCall>(["lease", "ended", "groupEnded"]);

/** These change nothing. */
const READS: ReadonlySet<string> = new Set<BoundedCall>([
  "job",
  "why",
  "history",
  "queuesOf",
  "ended",
  "jobs",
  "group",
  "groupEnded",
  "queue",
  "queues",
  "lanes",
  "workers",
  "gate",
  "gates",
  "storeGet",
  "storeScan",
  "stats",
]);

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

/** Has every call of a class honour its `signal` and its `timeoutMs`. */
export function boundCalls<B extends Broker>(
  { prototype }: Implementation<B>,
  { clockOf, graceMs = 0 }: BoundOptions<B>,
): void {
  const calls = prototype as unknown as Record<string, Call>;
  for (const [name, at] of Object.entries(OPTIONS_AT)) {
    const call = calls[name]!;
    calls[name] = function bounded(this: B, ...args: unknown[]): Promise<unknown> {
      const options = args[at] as OperationOptions | undefined;
      if (options?.signal === undefined && options?.timeoutMs === undefined) {
        return call.apply(this, args);
      }
      const made = (own: CallOptions): Promise<unknown> => {
        return call.apply(this, args.with(at, own));
      };
      return waitFor({ name, options, graceMs, clock: clockOf(this) }, made);
    };
  }
}

interface Bound {
  readonly name: string;
  readonly options: OperationOptions;
  readonly graceMs: number;
  readonly clock: Clock;
}

async function waitFor(
  { name, options, graceMs, clock }: Bound,
  call: (options: CallOptions) => Promise<unknown>,
): Promise<unknown> {
  const { signal, timeoutMs, operationId } = options;
  if (signal?.aborted === true) throw aborted(signal);
  const ms = parseTimeout(timeoutMs);
  const over = new AbortController();
  let reason: SluiceError | undefined;
  const ended = Promise.withResolvers<never>();
  const end = (error: SluiceError): void => {
    reason = error;
    over.abort(error);
    if (!ENDS_ITSELF.has(name)) ended.reject(error);
  };
  const onAbort = (): void => end(aborted(signal!, operationId));
  signal?.addEventListener("abort", onAbort, { once: true });
  let timer: Timer | undefined;
  if (ms !== undefined) {
    const late = (): void => end(timedOut(name, ms, operationId));
    timer = clock.at(clock.now() + ms + graceMs, late);
  }
  try {
    const rest = graceMs === 0 ? { timeoutMs: undefined } : {};
    const answer = call({ ...options, ...rest, signal: over.signal });
    return await Promise.race([answer, ended.promise]);
  } catch (error) {
    throw isAborted(error) && reason !== undefined ? reason : error;
  } finally {
    timer?.cancel();
    signal?.removeEventListener("abort", onAbort);
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "ABORTED";
}

/** Undefined when there is no bound. */
export function parseTimeout(timeoutMs: unknown): number | undefined {
  if (timeoutMs === undefined) return undefined;
  if (typeof timeoutMs === "number" && timeoutMs >= 0) return timeoutMs;
  const message = `timeoutMs must be a number of milliseconds of at least 0, got ${timeoutMs}`;
  throw new SluiceError("INVALID", message, { field: "timeoutMs", value: String(timeoutMs) });
}

export function aborted({ reason }: AbortSignal, operationId?: string): SluiceError {
  const message = "the caller's signal was aborted before the answer arrived";
  return new SluiceError("ABORTED", message, named(operationId), { cause: reason });
}

export function timedOut(call: string, ms: number, operationId?: string): SluiceError {
  const again = operationId === undefined ? "" : ". Repeat it with details.operationId";
  const effect = READS.has(call) ? "" : `; it may have taken effect${again}`;
  const message = `no answer to \`${call}\` within ${ms} ms${effect}`;
  return new SluiceError("TIMEOUT", message, named(operationId));
}

function named(operationId: string | undefined): { operationId?: string } {
  return operationId === undefined ? {} : { operationId };
}
