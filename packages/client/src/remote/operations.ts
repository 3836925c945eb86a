/**
 * What was asked for and is not answered. Each operation keeps its frame: when the session is lost
 * with the server that held it, all is said again, under the same number. What is not the same done
 * twice has a name by which the broker knows it.
 */
import { SluiceError } from "@sluice/protocol";
import {
  type Channel,
  type FrameReader,
  type FrameWriter,
  KIND,
  readError,
} from "@sluice/protocol/wire";

export interface Ask<T> {
  readonly kind: number;
  readonly write: (writer: FrameWriter) => void;
  readonly read: (reader: FrameReader) => T;
  /** Whether it waits for as long as it takes, whatever happens to the connection. */
  readonly isPatient?: boolean;
}

/** Smaller frames are copied, which takes no time to speak of. */
const COPIED_BYTES_MAX = 4096;

interface Pending {
  readonly frame: Uint8Array;
  readonly ask: Ask<unknown>;
  readonly done: (answer: never) => void;
  readonly fail: (error: SluiceError) => void;
}

export class Operations {
  readonly #channel: Channel;
  readonly #isTaken: (operation: number) => boolean;
  readonly #pending = new Map<number, Pending>();
  readonly #waiting: (() => void)[] = [];
  /** What is told to those who are still waiting when we leave. */
  leaving: SluiceError | undefined = undefined;
  #last = 0;
  #bytes = 0;

  /** `isTaken`: numbers of operations that are not kept here. */
  constructor(channel: Channel, isTaken: (operation: number) => boolean) {
    this.#channel = channel;
    this.#isTaken = isTaken;
  }

  /** Bytes of requests that are not answered. */
  get bytes(): number {
    return this.#bytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** A number that no operation under way has; 0 is the connection's own. */
  number(): number {
    do this.#last = (this.#last + 1) >>> 0;
    while (this.#last === 0 || this.#pending.has(this.#last) || this.#isTaken(this.#last));
    return this.#last;
  }

  ask<T>(ask: Ask<T>, operation = this.number()): Promise<T> {
    const written = this.#channel.frame(ask.kind, operation, ask.write);
    // A view keeps all that was written around it in memory: too much for one that waits for long.
    const frame = written.length > COPIED_BYTES_MAX ? written : written.slice();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#bytes += frame.length;
    this.#pending.set(operation, {
      frame,
      ask,
      done: resolve,
      fail: reject,
    });
    return promise;
  }

  /** Tells the server that nobody waits for the answer any more; it comes all the same. */
  cancel(operation: number): void {
    if (this.#pending.has(operation)) this.#channel.frame(KIND.cancel, operation, () => {});
  }

  /** Resolves when something was answered. */
  async room(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** True when the frame was the answer to an operation. */
  answer(reader: FrameReader): boolean {
    const pending = this.#pending.get(reader.operation);
    if (pending === undefined) return false;
    this.#remove(reader.operation, pending);
    if (reader.kind === KIND.error) pending.fail(this.#refusal(reader));
    else pending.done(pending.ask.read(reader) as never);
    return true;
  }

  #refusal(reader: FrameReader): SluiceError {
    const error = SluiceError.fromJSON(readError(reader));
    // The server gives up what waits when we leave; our caller did not.
    return error.code === "ABORTED" && this.leaving !== undefined ? this.leaving : error;
  }

  /** The session is a new one, in which nothing was said yet. */
  repeat(): void {
    for (const { frame } of this.#pending.values()) {
      this.#channel.repeat(frame);
    }
  }

  /** `isPatientToo`: those as well that would wait for ever. */
  failAll(error: SluiceError, isPatientToo = true): void {
    for (const [operation, pending] of this.#pending) {
      if (pending.ask.isPatient === true && !isPatientToo) continue;
      this.#remove(operation, pending);
      pending.fail(error);
    }
  }

  #remove(operation: number, { frame }: Pending): void {
    this.#pending.delete(operation);
    this.#bytes -= frame.length;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
