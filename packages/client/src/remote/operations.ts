/**
 * Calls that are not answered yet. Each keeps its frame: when the server has lost the session, all
 * of them are repeated under the same number. Calls that must not take effect twice carry a name
 * by which the broker recognises them.
 *
 * A call is in one of these states:
 *
 * unsent    there is no connection: the frame waits here, and can be withdrawn
 * sent      the frame was handed to a connection: the call may take effect
 * given up  the caller waits no longer, and a late answer must be undone; only for `late` calls
 *
 * unsent → sent when the connection is up. Both end with the answer, with `UNAVAILABLE` (unsent) or
 * `TIMEOUT` (sent) at the deadline, or with `ABORTED` when the caller's signal is aborted.
 */
import {
  aborted,
  type Clock,
  type OperationOptions,
  parseTimeout,
  SluiceError,
  type Timer,
  timedOut,
} from "@sluice/protocol";
import {
  type Channel,
  type FrameReader,
  FrameWriter,
  KIND,
  readError,
} from "@sluice/protocol/wire";
import { UNREADABLE } from "./link.ts";

interface Written {
  readonly kind: number;
  readonly write: (writer: FrameWriter) => void;
}

export interface Ask<T> extends Written {
  /** What the call is called in errors. */
  readonly name: string;
  readonly read: (reader: FrameReader) => T;
  /** Undoes an answer that arrives after the caller has given up. */
  readonly late?: ((answer: T) => void) | undefined;
}

/** How long the caller of one call waits. */
export interface Bound {
  readonly ms: number;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** What the error carries, so that the caller can repeat the call. */
  readonly operationId: string | undefined;
  /** It waits for as long as it takes, whatever happens to the connection. */
  readonly isPatient: boolean;
}

export interface OperationsOptions {
  readonly channel: Channel;
  readonly clock: Clock;
  /** The address, for errors. */
  readonly url: string;
  /** How long a call waits that says nothing itself. */
  readonly callTimeoutMs: number;
  readonly isUp: () => boolean;
  /** Numbers of operations that are not kept here. */
  readonly isTaken: (operation: number) => boolean;
}

/** Smaller frames are copied, which takes no time to speak of. */
const COPIED_BYTES_MAX = 4096;

interface Pending {
  readonly frame: Uint8Array;
  readonly ask: Ask<unknown>;
  readonly bound: Bound;
  readonly done: (answer: never) => void;
  readonly fail: (error: SluiceError) => void;
  readonly onAbort: (() => void) | undefined;
  isSent: boolean;
  isGivenUp: boolean;
}

export class RemoteOperations {
  readonly #options: OperationsOptions;
  readonly #unsent = new FrameWriter();
  readonly #pending = new Map<number, Pending>();
  readonly #waiting = new Set<() => void>();
  /** The error of calls that are still waiting when we leave. */
  leaving: SluiceError | undefined = undefined;
  #last = 0;
  #bytes = 0;
  /** One timer serves all deadlines: most are the same time after their call. */
  #timer: Timer | undefined = undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Bytes of requests that are not answered. */
  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A number that no operation under way has; 0 is the connection's own. */
  number(): number {
    const { isTaken } = this.#options;
    do this.#last = (this.#last + 1) >>> 0;
    while (this.#last === 0 || this.#pending.has(this.#last) || isTaken(this.#last));
    return this.#last;
  }

  /** From now on; throws when the caller's signal is aborted already. */
  bound(options: OperationOptions = {}, isPatient = false, extraMs = 0): Bound {
    const { signal, timeout, operationId } = options;
    if (signal?.aborted === true) throw aborted(signal);
    const { callTimeoutMs, clock } = this.#options;
    const usual = isPatient ? Number.POSITIVE_INFINITY : callTimeoutMs + extraMs;
    const ms = parseTimeout(timeout) ?? usual;
    return { ms, deadline: clock.now() + ms, signal, operationId, isPatient };
  }

  ask<T>(ask: Ask<T>, bound: Bound, operation = this.number()): Promise<T> {
    const isSent = this.#options.isUp();
    const frame = isSent ? this.#send(ask, operation) : this.#encode(ask, operation);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { signal } = bound;
    const onAbort = signal && ((): void => this.#abort(operation, signal));
    signal?.addEventListener("abort", onAbort!, { once: true });
    this.#bytes += frame.length;
    this.#pending.set(operation, {
      frame,
      ask: ask as Ask<unknown>,
      bound,
      done: resolve,
      fail: reject,
      onAbort,
      isSent,
      isGivenUp: false,
    });
    if (bound.deadline < this.#timerAt) this.#lookAt(bound.deadline);
    return promise;
  }

  #send({ kind, write }: Written, operation: number): Uint8Array {
    const written = this.#options.channel.frame(kind, operation, write);
    // A view keeps all that was written around it in memory: too much for one that waits for long.
    return written.length > COPIED_BYTES_MAX ? written : written.slice();
  }

  /** A frame that waits for a connection. */
  #encode({ kind, write }: Written, operation: number): Uint8Array {
    const writer = this.#unsent;
    writer.begin(kind, operation);
    try {
      write(writer);
    } catch (error) {
      writer.drop();
      throw error;
    }
    writer.end();
    return writer.take().slice();
  }

  /** Resolves when something was answered; rejects when the caller waits no longer. */
  async room({ ms, deadline, signal }: Bound): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(aborted(signal!));
    signal?.addEventListener("abort", onAbort, { once: true });
    const late = (): void => reject(this.#unavailable("add", ms));
    const timer = Number.isFinite(deadline) ? this.#options.clock.at(deadline, late) : undefined;
    this.#waiting.add(resolve);
    try {
      await promise;
    } finally {
      this.#waiting.delete(resolve);
      timer?.cancel();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** True when the frame was the answer to an operation. */
  answer(reader: FrameReader): boolean {
    const pending = this.#pending.get(reader.operation);
    if (pending === undefined) return false;
    this.#remove(reader.operation, pending);
    const { ask, isGivenUp } = pending;
    if (reader.kind === KIND.error) pending.fail(this.#refusal(reader));
    else if (isGivenUp) ask.late?.(ask.read(reader));
    else pending.done(ask.read(reader) as never);
    return true;
  }

  #refusal(reader: FrameReader): SluiceError {
    const error = SluiceError.fromJSON(readError(reader));
    // The server gives up what waits when we leave; our caller did not.
    return error.code === "ABORTED" && this.leaving !== undefined ? this.leaving : error;
  }

  /** The session continues: only calls that were made meanwhile are missing. */
  resume(): void {
    for (const pending of this.#pending.values()) if (!pending.isSent) this.#repeat(pending);
  }

  /** The session is a new one, in which nothing was said yet. */
  repeat(): void {
    for (const [operation, pending] of this.#pending) {
      if (pending.isGivenUp) this.#remove(operation, pending);
      else this.#repeat(pending);
    }
  }

  #repeat(pending: Pending): void {
    pending.isSent = true;
    this.#options.channel.repeat(pending.frame);
  }

  failAll(error: SluiceError): void {
    this.#timer?.cancel();
    for (const [operation, pending] of this.#pending) {
      this.#remove(operation, pending);
      pending.fail(error);
    }
    for (const resolve of this.#waiting) resolve();
  }

  /** There has been no connection for too long: fails all calls but those that are patient. */
  failImpatient(reason: SluiceError): void {
    for (const [operation, pending] of this.#pending) {
      if (!pending.bound.isPatient) this.#giveUp(operation, pending, this.#late(pending, reason));
    }
  }

  #abort(operation: number, signal: AbortSignal): void {
    const pending = this.#pending.get(operation);
    if (pending === undefined || pending.isGivenUp) return;
    const { operationId } = pending.bound;
    this.#giveUp(operation, pending, aborted(signal, pending.isSent ? operationId : undefined));
  }

  /** What was not sent is withdrawn; the server may still stop what waits there. */
  #giveUp(operation: number, pending: Pending, error: SluiceError): void {
    if (pending.isGivenUp) return;
    if (pending.isSent) this.#options.channel.frame(KIND.cancel, operation, () => {});
    if (pending.isSent && pending.ask.late !== undefined) pending.isGivenUp = true;
    else this.#remove(operation, pending);
    pending.fail(error);
  }

  #lookAt(time: number): void {
    this.#timer?.cancel();
    this.#timerAt = time;
    this.#timer = this.#options.clock.at(time, () => this.#look());
    this.#timer.unref?.();
  }

  #look(): void {
    const now = this.#options.clock.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [operation, pending] of this.#pending) {
      if (pending.isGivenUp) continue;
      const { deadline } = pending.bound;
      if (deadline <= now) this.#giveUp(operation, pending, this.#late(pending));
      else next = Math.min(next, deadline);
    }
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (Number.isFinite(next)) this.#lookAt(next);
  }

  #late({ ask: { name }, bound, isSent }: Pending, reason?: SluiceError): SluiceError {
    const { operationId } = bound;
    const ms = reason === undefined ? bound.ms : Math.min(bound.ms, this.#waitedMs(bound));
    return isSent ? timedOut(name, ms, operationId) : this.#unavailable(name, ms, reason);
  }

  #waitedMs({ ms, deadline }: Bound): number {
    return Math.round(ms - (deadline - this.#options.clock.now()));
  }

  #unavailable(name: string, ms: number, cause?: SluiceError): SluiceError {
    return unavailable(this.#options.url, `\`${name}\` was not sent within ${ms} ms`, cause);
  }

  #remove(operation: number, { frame, bound, onAbort }: Pending): void {
    this.#pending.delete(operation);
    if (onAbort !== undefined) bound.signal?.removeEventListener("abort", onAbort);
    this.#bytes -= frame.length;
    for (const resolve of this.#waiting) resolve();
  }
}

export function unavailable(url: string, what: string, cause?: SluiceError): SluiceError {
  if (cause !== undefined && UNREADABLE.has(cause.code)) return cause;
  const why = cause === undefined ? "" : `: ${cause.message}`;
  const message = `no connection to ${url}; ${what} and has no effect${why}`;
  return new SluiceError("UNAVAILABLE", message, { url }, { cause });
}
