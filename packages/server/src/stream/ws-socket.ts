import type { Writable } from "node:stream";
import type { WebSocket } from "ws";
import {
  GREETING_MESSAGES_MAX,
  MESSAGES_BURST,
  MESSAGES_PER_SECOND_MAX,
  PING_MESSAGES,
  STREAM_CLOSE_MS,
} from "../limits.ts";
import { RequestBucket } from "../request-bucket.ts";
import type { ServerSocket } from "./session.ts";

/** A connection of `ws` as the stream sees it. */
export class WsSocket implements ServerSocket {
  readonly #ws: WebSocket;
  readonly #below: Writable;
  #isCorked = false;
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  /** Told of every message, before anybody else. */
  onheard: () => void = () => {};
  /** Messages that may still come before the welcome; afterwards the bucket decides. */
  #greetings = GREETING_MESSAGES_MAX;
  #messages: RequestBucket | undefined = undefined;
  #isClosed = false;

  constructor(ws: WebSocket, below: Writable) {
    this.#ws = ws;
    this.#below = below;
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (!this.#count(1)) return;
      if (!isBinary) return this.close(1003, "only binary messages are understood");
      this.onheard();
      this.onmessage(data);
    });
    ws.on("ping", () => void this.#count(PING_MESSAGES));
    ws.on("pong", () => void this.#count(PING_MESSAGES));
    ws.on("close", (code, reason) => this.#closed(`${code} ${reason.toString()}`));
    // What is wrong with a connection ends it, and its close reports it.
    ws.on("error", () => {});
  }

  greeted(): void {
    this.#messages = new RequestBucket(MESSAGES_PER_SECOND_MAX, undefined, MESSAGES_BURST);
  }

  /** False: there were too many, and the connection is closed. */
  #count(messages: number): boolean {
    if (this.#messages === undefined) this.#greetings--;
    const isFine =
      this.#messages === undefined ? this.#greetings >= 0 : this.#messages.take(messages) === 0;
    if (isFine) return true;
    // A client that keeps sending after that is ignored until the end.
    if (this.#isClosed) this.#ws.terminate();
    else this.close(1008, "too many messages");
    return false;
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  /** All messages of one turn of the event loop go to the operating system in one write. */
  send(message: Uint8Array): void {
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#below.cork();
      process.nextTick(this.#uncork);
    }
    this.#ws.send(message, this.#sent);
  }

  readonly #uncork = (): void => this.push();

  push(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#below.uncork();
  }

  readonly #sent = (): void => this.ondrain();

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#ws.close(code, reason);
    this.#closed(reason);
    setTimeout(() => this.#ws.terminate(), STREAM_CLOSE_MS).unref();
  }

  pause(): void {
    this.#ws.pause();
  }

  resume(): void {
    this.#ws.resume();
  }

  #closed(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose(reason);
  }
}
