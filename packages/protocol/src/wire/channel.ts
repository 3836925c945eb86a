/**
 * One end of a session, which may outlive its connection.
 *
 * Frames of one turn of the event loop gather and leave together, as one message or as several
 * that were cut. Each end counts the messages of the session that it has received, and reports the
 * count now and then. The sender keeps a message until then, so that another connection can
 * continue the session where the first one broke off: both ends report their counts, and send what
 * the other lacks, each message once and in order.
 */

import { MESSAGE_BYTES_AIM } from "../limits.ts";
import { readCount } from "./hello.ts";
import { KIND } from "./kinds.ts";
import type { FrameReader } from "./reader.ts";
import { malformed } from "./refuse.ts";
import type { Socket } from "./socket.ts";
import { FrameWriter } from "./writer.ts";

/** When to report what has been received, so that the other end need not keep much. */
const TELL_MESSAGES = 32;
const TELL_BYTES = 256 * 1024;

export interface ChannelOptions {
  /** Calls back at the end of this turn of the event loop. */
  readonly defer: (callback: () => void) => void;
  /** Whether what was sent is kept for another connection. */
  readonly isResumable: boolean;
}

export class Channel {
  readonly #options: ChannelOptions;
  readonly #writer = new FrameWriter();
  #socket: Socket | undefined = undefined;
  /** Messages that were cut in this turn and have not left. */
  #cut: Uint8Array<ArrayBuffer>[] = [];
  #cutBytes = 0;
  #kept: Uint8Array<ArrayBuffer>[] = [];
  #keptBytes = 0;
  /** Messages of the session that were made, and those of them that the other end has told of. */
  #made = 0;
  #told = 0;
  /** Messages that have come, and how many of them the other end knows of. */
  #received = 0;
  #confirmed = 0;
  #unconfirmedBytes = 0;
  #isDeferred = false;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  get received(): number {
    return this.#received;
  }

  /** Bytes that the other end has not told of, or that have not left yet. */
  get keptBytes(): number {
    return this.#keptBytes + this.#writer.size;
  }

  /** Writes one frame; it leaves at the end of this turn. Answers the frame: a view. */
  frame(kind: number, operation: number, write: (writer: FrameWriter) => void): Uint8Array {
    this.begin(kind, operation);
    try {
      write(this.#writer);
    } catch (error) {
      this.#writer.drop();
      throw error;
    }
    return this.end();
  }

  /** For callers that write a frame in a loop. */
  begin(kind: number, operation: number): FrameWriter {
    this.#writer.begin(kind, operation);
    return this.#writer;
  }

  end(): Uint8Array {
    this.#writer.end();
    const frame = this.#writer.frame();
    this.#soon();
    return frame;
  }

  /** A frame that was made before, as it is. */
  repeat(frame: Uint8Array): void {
    this.#writer.copy(frame);
    this.#soon();
  }

  #soon(): void {
    if (this.#writer.isOverfull) this.#make(this.#writer.takeBefore());
    if (this.#cutBytes + this.#writer.size >= MESSAGE_BYTES_AIM) return this.flush();
    if (this.#isDeferred) return;
    this.#isDeferred = true;
    this.#options.defer(this.#flushDeferred);
  }

  readonly #flushDeferred = (): void => {
    this.#isDeferred = false;
    this.flush();
  };

  /**
   * Ends the message here; it leaves with the others of this turn. Sent at once, it would go out in
   * a write of its own, and the other end would work on it alone.
   */
  cut(): void {
    if (this.#writer.size > 0) this.#make(this.#writer.take());
  }

  flush(): void {
    if (this.#writer.size > 0) {
      if (this.#received > this.#confirmed) this.#tell();
      this.#make(this.#writer.take());
    }
    if (this.#cut.length === 0) return;
    const messages = this.#cut;
    this.#cut = [];
    this.#cutBytes = 0;
    for (const message of messages) this.#socket?.send(message);
  }

  #make(message: Uint8Array<ArrayBuffer>): void {
    this.#made++;
    if (this.#options.isResumable) {
      this.#kept.push(message);
      this.#keptBytes += message.length;
    }
    this.#cut.push(message);
    this.#cutBytes += message.length;
  }

  /** A message of the session has come. */
  count(message: Uint8Array): void {
    this.#received++;
    this.#unconfirmedBytes += message.length;
    const isMuch = this.#unconfirmedBytes >= TELL_BYTES;
    if (isMuch || this.#received - this.#confirmed >= TELL_MESSAGES) {
      this.#tell();
      this.#soon();
    }
  }

  #tell(): void {
    if (!this.#options.isResumable) return;
    this.#confirmed = this.#received;
    this.#unconfirmedBytes = 0;
    this.#writer.begin(KIND.received, 0);
    this.#writer.f64(this.#received);
    this.#writer.end();
  }

  /** Reads how many messages the other end has. */
  hear(reader: FrameReader): void {
    this.#forget(readCount(reader));
  }

  #forget(received: number): void {
    if (received < this.#told || received > this.#made) {
      throw malformed(`${received} messages received of ${this.#told} to ${this.#made}`, 0);
    }
    const gone = this.#kept.splice(0, received - this.#told);
    for (const message of gone) this.#keptBytes -= message.length;
    this.#told = received;
  }

  /** Continues over this connection. Its other end has `received` messages of the session. */
  attach(socket: Socket, received: number): void {
    this.flush();
    this.#forget(received);
    this.#socket = socket;
    for (const message of this.#kept) socket.send(message);
  }

  /** The connection is gone. */
  detach(): void {
    this.#socket = undefined;
  }

  /** A new session: what was not received is forgotten with the old one. */
  reset(): void {
    this.#writer.take();
    this.#socket = undefined;
    this.#cut = [];
    this.#cutBytes = 0;
    this.#kept = [];
    this.#keptBytes = 0;
    this.#made = 0;
    this.#told = 0;
    this.#received = 0;
    this.#confirmed = 0;
    this.#unconfirmedBytes = 0;
  }
}
