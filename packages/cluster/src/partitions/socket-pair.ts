/** Two sockets of one process, each the other end of the other. */
import type { Socket } from "@sluice/protocol/wire";

/** A socket that can be told to stop reading. */
export interface PairedSocket extends Socket {
  pause(): void;
  resume(): void;
}

export function socketPair(): [PairedSocket, PairedSocket] {
  const one = new End();
  const other = new End();
  one.peer = other;
  other.peer = one;
  return [one, other];
}

const NOBODY = (): void => {};

/**
 * Messages arrive in order, after the sender has gone on with its work, and a closed connection is
 * heard of in the same way: behind what was sent before.
 */
class End implements PairedSocket {
  onmessage: (message: Uint8Array) => void = () => {};
  ondrain: () => void = () => {};
  peer!: End;
  #onclose: (reason: string) => void = NOBODY;
  /** Why it was closed while nobody listened. */
  #untold: string | undefined = undefined;
  /** What the peer has sent and was not read here. */
  readonly #unread: Uint8Array[] = [];
  #unreadBytes = 0;
  #isPaused = false;
  #isReading = false;
  #isClosed = false;
  #endsWith: string | undefined = undefined;

  get onclose(): (reason: string) => void {
    return this.#onclose;
  }

  /** A socket may be closed before whoever dialled it has got hold of it. */
  set onclose(listener: (reason: string) => void) {
    this.#onclose = listener;
    const reason = this.#untold;
    this.#untold = undefined;
    if (reason !== undefined) queueMicrotask(() => this.#onclose(reason));
  }

  get bufferedBytes(): number {
    return this.peer.#unreadBytes;
  }

  send(message: Uint8Array<ArrayBuffer>): void {
    if (!this.#isClosed) this.peer.#take(message);
  }

  close(_code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#shut(reason);
    this.peer.#endsWith ??= reason;
    this.peer.#readSoon();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#readSoon();
  }

  #take(message: Uint8Array): void {
    if (this.#isClosed) return;
    this.#unread.push(message);
    this.#unreadBytes += message.length;
    this.#readSoon();
  }

  #readSoon(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    queueMicrotask(() => {
      this.#isReading = false;
      this.#read();
    });
  }

  #read(): void {
    // What comes meanwhile is read in the next turn: two ends that answer each other let others in.
    for (let left = this.#unread.length; left > 0 && this.#isOpen; left--) {
      const message = this.#unread.shift()!;
      this.#unreadBytes -= message.length;
      this.onmessage(message);
    }
    if (!this.peer.#isClosed) this.peer.ondrain();
    if (this.#unread.length > 0 && this.#isOpen) this.#readSoon();
    else if (this.#unread.length === 0 && this.#endsWith !== undefined) this.#shut(this.#endsWith);
  }

  get #isOpen(): boolean {
    return !this.#isPaused && !this.#isClosed;
  }

  #shut(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unread.length = 0;
    this.#unreadBytes = 0;
    if (this.#onclose === NOBODY) this.#untold = reason;
    else this.#onclose(reason);
  }
}
