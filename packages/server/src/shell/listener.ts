/**
 * The web server itself: its timeouts, so that slow clients cannot hold it, and how many may be
 * connected. Node closes what takes too long, looking once a second.
 */
import type { IncomingMessage, RequestListener, Server, ServerOptions } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { type ServerLimits, SluiceError } from "@sluice/protocol";
import {
  CONNECTIONS_CHECK_MS,
  HEADER_BYTES_MAX,
  HEADERS_MAX,
  SOCKET_SILENCE_MS,
  UNANSWERED_MAX,
} from "../limits.ts";
import { isLoopback } from "./origin.ts";

/** An import of `node:http` would load its WebSocket and `fetch` too: 30 ms of a start. */
const { createServer } = process.getBuiltinModule("node:http");

/** Certificates as PEM texts. */
export interface TlsOptions {
  cert: string | Buffer;
  key: string | Buffer;
  /** Clients must show a certificate that one of these has signed. */
  ca?: string | Buffer | readonly (string | Buffer)[] | undefined;
}

export function newServer(
  listener: RequestListener,
  limits: ServerLimits,
  tls: TlsOptions | undefined,
): Server {
  const options: ServerOptions = {
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false,
  };
  const handle = boundUnanswered(listener);
  const server = tls === undefined ? createServer(options, handle) : secure(options, tls, handle);
  server.maxHeadersCount = HEADERS_MAX;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.maxConnections = limits.connectionsMax;
  server.setTimeout(SOCKET_SILENCE_MS);
  countByAddress(server, limits.connectionsPerAddressMax);
  return server;
}

/** What a server with TLS takes: checked, and nothing but data. */
export interface SecureOptions {
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  readonly ca?: string;
  readonly requestCert?: boolean;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: "TLSv1.2";
}

export function secureOptions(tls: TlsOptions): SecureOptions {
  const { cert, key, ca } = tls;
  if (cert === undefined || key === undefined) {
    const field = cert === undefined ? "tls.cert" : "tls.key";
    const message = `${field} is missing: a server with TLS needs a certificate and its key`;
    throw new SluiceError("INVALID", message, { field });
  }
  const client = ca === undefined ? {} : { ca: ca as string, requestCert: true };
  const secured = {
    cert,
    key,
    ...client,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
  } as const;
  try {
    createSecureContext(secured);
  } catch (error) {
    const message = `tls must be a certificate and its key as PEM: ${(error as Error).message}`;
    throw new SluiceError("INVALID", message, { field: "tls" }, { cause: error });
  }
  return secured;
}

function secure(options: ServerOptions, tls: TlsOptions, listener: RequestListener): TlsServer {
  const server = createTlsServer({ ...options, ...secureOptions(tls) }, listener);
  // A client without a certificate, or with plain HTTP: no answer is possible.
  server.on("tlsClientError", (_, socket) => socket.destroy());
  return server;
}

/** Closes a connection on which too many requests are sent before the first is answered. */
function boundUnanswered(listener: RequestListener): RequestListener {
  const unanswered = new WeakMap<Socket, number>();
  return (request, response) => {
    const { socket } = request;
    // Requests of one read are all parsed, though one of them has closed the connection.
    if (socket.destroyed) return;
    const count = (unanswered.get(socket) ?? 0) + 1;
    if (count > UNANSWERED_MAX) return void socket.destroy();
    unanswered.set(socket, count);
    response.once("close", () => unanswered.set(socket, unanswered.get(socket)! - 1));
    listener(request, response);
  };
}

/** What a connection that is counted no more says; by server, address and port. */
const LEAVING = new WeakMap<Server, Map<string, () => void>>();

function countByAddress(server: Server, max: number): void {
  const counts = new Map<string, number>();
  const leaving = new Map<string, () => void>();
  LEAVING.set(server, leaving);
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    if (isLoopback(address.replace(/^::ffff:/, ""))) return;
    const count = (counts.get(address) ?? 0) + 1;
    if (count > max) return void socket.destroy();
    counts.set(address, count);
    const end = endOf(socket);
    const leave = (): void => {
      if (leaving.get(end) !== leave) return;
      leaving.delete(end);
      const left = counts.get(address)! - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    };
    leaving.set(end, leave);
    socket.once("close", leave);
  });
}

/** The connection has become a stream: those have bounds of their own. */
export function countApart(server: Server, { socket }: IncomingMessage): void {
  LEAVING.get(server)?.get(endOf(socket))?.();
}

/** With TLS there are two sockets for a connection, whose other end is the same. */
function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
