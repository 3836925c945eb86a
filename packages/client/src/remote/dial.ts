import { SluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";

/** Opens a connection; rejects when there is none. */
export type Dial = (url: string) => Promise<Socket>;

/** As browsers have it, and Node too. */
export interface WebSocketLike {
  binaryType: string;
  readonly bufferedAmount: number;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(
    type: "open" | "close" | "error" | "message",
    listener: (event: { data?: unknown; code?: number; reason?: string; message?: string }) => void,
  ): void;
}

/** Codes that a program may close with: 1000, and those from 3000 on. */
const OWN_CODES = 3000;

export const dialWebSocket: Dial = (url) => {
  const { WebSocket } = globalThis as unknown as {
    WebSocket?: new (url: string) => WebSocketLike;
  };
  if (WebSocket === undefined) {
    throw new SluiceError(
      "DISCONNECTED",
      "this runtime has no WebSocket; use Node 22, Bun, Deno or a browser",
    );
  }
  return opened(new WebSocket(url), url);
};

/** The connection, once it is there. */
function opened(ws: WebSocketLike, url: string): Promise<Socket> {
  ws.binaryType = "arraybuffer";
  const dialing = new Dialing(url, ws, (code, reason) =>
    ws.close(code === 1000 || code >= OWN_CODES ? code : 1000, reason),
  );
  ws.addEventListener("open", () => dialing.open());
  ws.addEventListener("message", ({ data }) =>
    dialing.message(data instanceof ArrayBuffer ? new Uint8Array(data) : undefined),
  );
  ws.addEventListener("error", ({ message }) => {
    if (message !== undefined && message !== "") dialing.over(message);
  });
  ws.addEventListener("close", ({ code, reason }) => dialing.over(closeText(code, reason)));
  return dialing.socket;
}

const NO_BYTES = new Uint8Array(0);

/** A connection that is made, is open, and ends once, whichever side ends it. */
export class Dialing {
  readonly socket: Promise<Socket>;
  readonly #url: string;
  readonly #socket: Socket;
  readonly #settle: PromiseWithResolvers<Socket> = Promise.withResolvers();
  #isOver = false;

  constructor(
    url: string,
    ws: Pick<WebSocketLike, "bufferedAmount" | "send">,
    close: (code: number, reason: string) => void,
  ) {
    this.#url = url;
    this.socket = this.#settle.promise;
    this.#socket = {
      onmessage: () => {},
      onclose: () => {},
      ondrain: () => {},
      get bufferedBytes() {
        return ws.bufferedAmount;
      },
      send: (message) => ws.send(message),
      close: (code, reason) => {
        close(code, reason);
        this.over(reason);
      },
    };
  }

  open(): void {
    this.#settle.resolve(this.#socket);
  }

  /** Text is nothing that a server of ours says: empty bytes are refused further up. */
  message(bytes: Uint8Array | undefined): void {
    if (!this.#isOver) this.#socket.onmessage(bytes ?? NO_BYTES);
  }

  over(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settle.reject(unreachable(this.#url, reason));
    this.#socket.onclose(reason);
  }
}

/** What a connection ends with that got no close frame: a killed server, or the network. */
const NO_CLOSE_FRAME = 1006;

/** Why a connection ended, for people. */
export function closeText(code: number | undefined, reason: string | undefined): string {
  if (code === NO_CLOSE_FRAME) return "connection reset";
  return `${code ?? ""} ${reason ?? ""}`.trim();
}

export function unreachable(url: string, reason: string): SluiceError {
  const why = reason === "" ? "" : `: ${reason}`;
  const message = `no Sluice server can be reached at ${url}${why}`;
  return new SluiceError("DISCONNECTED", message, { url });
}

/** It was up, and is no more. */
export function connectionLost(url: string, reason: string): SluiceError {
  return new SluiceError("DISCONNECTED", `lost the connection to ${url}: ${reason}`, { url });
}
