import type { WebSocket } from "ws";
import type { ServerSocket } from "./session.ts";

/** How long the other end may take to agree to the end before it is cut off. */
const CLOSE_MS = 1000;

/** A connection of `ws` as the stream sees it. */
export class WsSocket implements ServerSocket {
  readonly #ws: WebSocket;
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  /** Told of every message, before anybody else. */
  onheard: () => void = () => {};
  #isClosed = false;

  constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return this.close(1003, "only binary messages are understood");
      this.onheard();
      this.onmessage(data);
    });
    ws.on("close", (code, reason) => this.#closed(`${code} ${reason.toString()}`));
    // What is wrong with a connection ends it, and that is told by its close.
    ws.on("error", () => {});
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(message: Uint8Array): void {
    this.#ws.send(message, this.#sent);
  }

  readonly #sent = (): void => this.ondrain();

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#ws.close(code, reason);
    this.#closed(reason);
    setTimeout(() => this.#ws.terminate(), CLOSE_MS).unref();
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
