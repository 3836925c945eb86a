/**
 * HTTP on bare sockets. Node's own server does far more than a tracker needs and takes several
 * times as long for it. Bounded: bytes of a head, time for it, idle time, connections in all and
 * per address, what waits to be sent.
 *
 * A connection is *reading* (a head is incomplete), *answering* (an answer is being made; what
 * comes meanwhile waits) or *ending* (its last answer is being sent).
 */
import { createServer, type Server, type Socket } from "node:net";
import {
  HTTP_HEAD_BYTES_MAX,
  HTTP_HEAD_MS,
  HTTP_IDLE_MS,
  HTTP_SOCKETS_MAX,
  HTTP_SOCKETS_PER_ADDRESS_MAX,
  HTTP_UNSENT_BYTES_MAX,
} from "../limits.ts";
import { packAddress } from "../wire/address.ts";
import { type Head, readHead } from "./head.ts";
import { type HttpResponse, responseBytes, textResponse } from "./response.ts";

export interface HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly raw: string;
  /** The address of the other end, 4 or 16 bytes. */
  readonly address: string;
}

export interface HttpServerOptions {
  answer(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
  onError(error: unknown): void;
}

const SWEEP_MS = 1_000;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #connections = new Set<Connection>();
  readonly #perAddress = new Map<string, number>();
  #server: Server | undefined = undefined;
  #sweep: NodeJS.Timeout | undefined = undefined;
  /** Connections that were refused because there were too many. */
  refused = 0;

  constructor(options: HttpServerOptions) {
    this.#options = options;
  }

  /** Without a host: all addresses. Answers the port. */
  async listen(host: string | undefined, port: number): Promise<number> {
    const server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
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
    clearInterval(this.#sweep);
    const closed = new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
    for (const connection of this.#connections) connection.end();
    await closed;
  }

  get connections(): number {
    return this.#connections.size;
  }

  #accept(socket: Socket): void {
    const address = packAddress(socket.remoteAddress ?? "");
    const count = address === undefined ? 0 : (this.#perAddress.get(address) ?? 0);
    const isFull =
      this.#connections.size >= HTTP_SOCKETS_MAX || count >= HTTP_SOCKETS_PER_ADDRESS_MAX;
    if (address === undefined || isFull) {
      this.refused++;
      socket.destroy();
      return;
    }
    this.#perAddress.set(address, count + 1);
    const connection = new Connection(socket, address, this.#options, () => {
      this.#connections.delete(connection);
      const left = this.#perAddress.get(address)! - 1;
      if (left === 0) this.#perAddress.delete(address);
      else this.#perAddress.set(address, left);
    });
    this.#connections.add(connection);
  }

  #closeLate(): void {
    const now = performance.now();
    for (const connection of this.#connections) if (connection.isLate(now)) connection.destroy();
  }
}

class Connection {
  readonly #socket: Socket;
  readonly #address: string;
  readonly #options: HttpServerOptions;
  #state: "reading" | "answering" | "ending" = "reading";
  /** What has come and is not answered yet. */
  #text = "";
  /** Since when it is idle, or waits for the rest of a head. */
  #since = performance.now();

  constructor(socket: Socket, address: string, options: HttpServerOptions, onClosed: () => void) {
    this.#socket = socket;
    this.#address = address;
    this.#options = options;
    socket.on("data", (bytes: Buffer) => this.#receive(bytes));
    socket.on("close", onClosed);
    // Whoever breaks the connection off is not told anything.
    socket.on("error", ignore);
  }

  isLate(now: number): boolean {
    if (this.#state === "answering") return false;
    return now - this.#since > (this.#text === "" ? HTTP_IDLE_MS : HTTP_HEAD_MS);
  }

  end(): void {
    if (this.#state === "reading") this.#socket.destroy();
    else this.#state = "ending";
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    if (this.#text === "") this.#since = performance.now();
    this.#text += bytes.toString("latin1", 0, bytes.length);
    if (this.#state === "reading") this.#read();
    else if (this.#text.length > HTTP_HEAD_BYTES_MAX) this.#socket.pause();
  }

  /** Answers one request after the other, as far as they are there. */
  #read(): void {
    let from = 0;
    while (this.#state === "reading") {
      const head = readHead(this.#text, from);
      if (head === undefined) {
        if (this.#text.length - from > HTTP_HEAD_BYTES_MAX) {
          this.#end(textResponse(431, "the head of the request is too long"));
        }
        break;
      }
      if ("status" in head) return this.#end(textResponse(head.status, head.message));
      from = head.end;
      this.#answer(head);
    }
    this.#text = from === this.#text.length ? "" : this.#text.slice(from);
  }

  #answer(head: Head): void {
    const { path, query, raw } = head;
    const answer = this.#options.answer({ path, query, raw, address: this.#address });
    if (!(answer instanceof Promise)) return this.#send(answer, head.isKeptAlive);
    this.#state = "answering";
    answer
      .catch((error): HttpResponse => {
        this.#options.onError(error);
        return textResponse(500, "something went wrong here");
      })
      .then((later) => this.#resume(later, head.isKeptAlive));
  }

  #resume(response: HttpResponse, isKeptAlive: boolean): void {
    if (this.#socket.destroyed) return;
    const isEnding = this.#state === "ending";
    this.#state = "reading";
    this.#send(response, isKeptAlive && !isEnding);
    this.#since = performance.now();
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#text !== "") this.#read();
  }

  #send(response: HttpResponse, isKeptAlive: boolean): void {
    if (!isKeptAlive) return this.#end(response);
    const isTaken = this.#socket.write(responseBytes(response, true));
    if (isTaken || this.#socket.writableLength < HTTP_UNSENT_BYTES_MAX) return;
    // Somebody asks without reading the answers.
    this.#socket.destroy();
    this.#state = "ending";
  }

  #end(response: HttpResponse): void {
    this.#state = "ending";
    this.#since = performance.now();
    this.#socket.end(responseBytes(response, false));
  }
}

const ignore = (): void => {};
