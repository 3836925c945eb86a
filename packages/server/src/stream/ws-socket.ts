import type { Writable } from "node:stream";
import { FRAME_BYTES_MAX } from "@sluice/protocol/wire";
import { type WebSocket, WebSocketServer } from "ws";
import {
  FRAGMENTS_MAX,
  GREETING_MESSAGES_MAX,
  MESSAGES_BURST,
  MESSAGES_PER_SECOND_MAX,
  PING_MESSAGES,
  STREAM_CLOSE_MS,
} from "../limits.ts";
import { RequestBucket } from "../request-bucket.ts";
import type { StreamSocket } from "./session.ts";

/** Makes connections of `ws` from upgrades. */
export function newWebSockets(): WebSocketServer {
  return new WebSocketServer({
    noServer: true,
    // A kilobyte that becomes a megabyte when it is unpacked is not let in.
    perMessageDeflate: false,
    maxPayload: FRAME_BYTES_MAX,
    maxFragments: FRAGMENTS_MAX,
    clientTracking: false,
  });
}

/** A connection of `ws` as the stream sees it. */
export class WsSocket implements StreamSocket {
  readonly #ws: WebSocket;
  readonly #below: Writable;
  #isCorked = false;
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  onheard: () => void = () => {};
  onover: () => void = () => {};
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
    ws.on("close", (code, reason) => {
      this.#closed(`${code} ${reason.toString()}`);
      this.onover();
    });
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

  terminate(): void {
    this.#ws.terminate();
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
