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
    throw new SluiceError("DISCONNECTED", "there is no WebSocket here");
  }
  return opened(new WebSocket(url), url);
};

/** The connection, once it is there. */
function opened(ws: WebSocketLike, url: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  ws.binaryType = "arraybuffer";
  let isClosed = false;
  const socket: Socket = {
    onmessage: () => {},
    onclose: () => {},
    ondrain: () => {},
    get bufferedBytes() {
      return ws.bufferedAmount;
    },
    send: (message) => ws.send(message),
    close: (code, reason) => {
      ws.close(code === 1000 || code >= OWN_CODES ? code : 1000, reason);
      over(reason);
    },
  };
  const over = (reason: string): void => {
    if (isClosed) return;
    isClosed = true;
    reject(unreachable(url, reason));
    socket.onclose(reason);
  };
  ws.addEventListener("open", () => resolve(socket));
  ws.addEventListener("message", ({ data }) => {
    if (isClosed) return;
    // Text is nothing that a server of ours says: empty bytes are refused further up.
    socket.onmessage(data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(0));
  });
  ws.addEventListener("error", ({ message }) => {
    if (message !== undefined && message !== "") over(message);
  });
  ws.addEventListener("close", ({ code, reason }) => over(closeText(code, reason)));
  return promise;
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
