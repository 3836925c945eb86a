/**
 * HTTP on bare sockets. Node's own server does far more than a tracker needs: with the same routes
 * it took 36 to 46 µs of processor time an announce with keep-alive, where this takes 21 to 24, and
 * 86 to 96 with a connection each, where this takes 53 to 67. Bounded: bytes of a head, time for
 * it, idle time, connections in all and per address, requests of one, what waits to be sent.
 */
import { createServer, type Server, type Socket } from "node:net";
import { packAddress } from "../wire/address.ts";
import { connectionOf, HttpConnection, type HttpServerOptions, LIMITS } from "./http-connection.ts";
import { SocketCounts } from "./socket-counts.ts";

const SWEEP_MS = 1_000;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #connections = new Set<HttpConnection>();
  readonly #counts = new SocketCounts();
  /** One function for all sockets: a closure for each would be waste to collect. */
  readonly #onClose: (this: Socket) => void;
  #server: Server | undefined = undefined;
  #sweep: NodeJS.Timeout | undefined = undefined;
  /** Connections that were refused because there were too many. */
  refused = 0;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const close = (connection: HttpConnection): void => this.#closed(connection);
    this.#onClose = function (this: Socket) {
      close(connectionOf(this));
    };
  }

  /** Without a host: all addresses. Answers the port. */
  async listen(host: string | undefined, port: number): Promise<number> {
    // A client that has said all may have closed its side; its answer is sent nevertheless.
    const server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ port, host, backlog: 1024 }, () => {
        server.off("error", reject);
        server.on("error", (error) => this.#options.onError(error));
        resolve();
      });
    });
    this.#sweep = setInterval(() => this.#closeLate(), SWEEP_MS).unref();
    return (server.address() as { port: number }).port;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
    for (const connection of this.#connections) connection.end();
    await closed;
    // Until then it closes those whose other side does not end.
    clearInterval(this.#sweep);
  }

  get connections(): number {
    return this.#connections.size;
  }

  #accept(socket: Socket): void {
    const { socketsMax, socketsPerAddressMax } = this.#options.limits ?? LIMITS;
    const { isProxy } = this.#options;
    const address = packAddress(socket.remoteAddress ?? "");
    const isOver =
      address === undefined ||
      (this.#counts.of(address) >= socketsPerAddressMax && isProxy?.(address) !== true);
    if (isOver || this.#connections.size >= socketsMax) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#counts.opened(address);
    const connection = new HttpConnection(socket, address, this.#options);
    this.#connections.add(connection);
    socket.on("close", this.#onClose);
  }

  #closed(connection: HttpConnection): void {
    this.#connections.delete(connection);
    this.#counts.closed(connection.address);
  }

  #closeLate(): void {
    const now = performance.now();
    for (const connection of this.#connections) if (connection.isLate(now)) connection.destroy();
  }
}
