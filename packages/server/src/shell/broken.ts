/** Connections that are refused before they are requests, or are no longer read. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SluiceError } from "@sluice/protocol";
import { LINGER_MS } from "../limits.ts";
import { bodyOf } from "./errors.ts";

/** Answers what is no HTTP, or took too long. */
export function answerBroken(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    return void socket.destroy();
  }
  const isSlow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const status = isSlow ? 408 : error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  const message = isSlow ? "the request took too long" : "the request is not HTTP";
  endWith(socket, status, new SluiceError(isSlow ? "TIMEOUT" : "INVALID", message));
}

/**
 * Sends an answer and ends the connection. A client that does not close its own side is cut off
 * soon; at once would be too early, as it could lose the answer.
 */
export function endWith(socket: Duplex, status: number, error: SluiceError): void {
  const body = JSON.stringify(bodyOf(error));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.on("error", () => {});
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
