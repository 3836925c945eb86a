/** Connections that are refused before they are requests, or are no longer read. */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { SluiceError } from "@sluice/protocol";
import { LINGER_MS } from "../limits.ts";
import { bodyOf } from "./errors.ts";
import type { BrokenAnswer, ShellOptions } from "./options.ts";

// Not imported, see `listener.ts`.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Node gives the packet as bytes, whatever the types of fastify say. */
type Broken = Error & { code?: string; rawPacket?: unknown };

/** As much of a request as says which address it is for. */
const HEAD_BYTES = 256;

/** Answers what is no HTTP, or took too long. */
export function answerBroken(error: Broken, socket: Socket, say?: ShellOptions["broken"]): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    return void socket.destroy();
  }
  const isSlow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  const status = isSlow ? 408 : error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  const message = isSlow
    ? "the request took too long"
    : status === 431
      ? "the address and the headers of the request are too long"
      : "the request is not HTTP";
  const head = headOf(error.rawPacket);
  const said = say?.({ status, message, head });
  endWith(socket, status, said ?? new SluiceError(isSlow ? "TIMEOUT" : "INVALID", message));
}

function headOf(packet: unknown): string {
  return Buffer.isBuffer(packet) ? packet.toString("latin1", 0, HEAD_BYTES) : "";
}

/**
 * Sends an answer and ends the connection. A client that does not close its own side is cut off
 * soon; at once would be too early, as it could lose the answer.
 */
export function endWith(socket: Duplex, status: number, said: SluiceError | BrokenAnswer): void {
  const isError = said instanceof SluiceError;
  const body = isError ? JSON.stringify(bodyOf(said)) : said.body;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "connection: close",
    `content-type: ${isError ? "application/json" : said.type}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  socket.on("error", () => {});
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
