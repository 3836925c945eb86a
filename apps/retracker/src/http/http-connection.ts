/**
 * One connection of a client. It is *reading* (a head is incomplete), *answering* (an answer is
 * being made; what comes meanwhile waits), *held back* (its address asks too much), *ending* (its
 * last answer is being sent) or *handed over* (it speaks WebSocket, and another part has it).
 */
import type { Socket } from "node:net";
import {
  HTTP_HEAD_BYTES_MAX,
  HTTP_HEAD_MS,
  HTTP_IDLE_MS,
  HTTP_REQUESTS_PER_SOCKET_MAX,
  HTTP_SOCKETS_MAX,
  HTTP_SOCKETS_PER_ADDRESS_MAX,
  HTTP_UNSENT_BYTES_MAX,
} from "../limits.ts";
import { type Head, readHead } from "./head.ts";
import { type HttpResponse, responseBytes, textResponse } from "./response.ts";

export interface HttpRequest {
  readonly path: string;
  readonly query: string;
  readonly raw: string;
  readonly mark: string | undefined;
  /** The address of the other end, 4 or 16 bytes. */
  readonly address: string;
}

export interface HttpLimits {
  readonly headBytesMax: number;
  readonly headMs: number;
  readonly idleMs: number;
  readonly requestsPerSocketMax: number;
  readonly socketsMax: number;
  readonly socketsPerAddressMax: number;
  readonly unsentBytesMax: number;
}

export const LIMITS: HttpLimits = {
  headBytesMax: HTTP_HEAD_BYTES_MAX,
  headMs: HTTP_HEAD_MS,
  idleMs: HTTP_IDLE_MS,
  requestsPerSocketMax: HTTP_REQUESTS_PER_SOCKET_MAX,
  socketsMax: HTTP_SOCKETS_MAX,
  socketsPerAddressMax: HTTP_SOCKETS_PER_ADDRESS_MAX,
  unsentBytesMax: HTTP_UNSENT_BYTES_MAX,
};

export interface HttpServerOptions {
  answer(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
  onError(error: unknown): void;
  /** Takes over the connection of a client that wants WebSocket; false when there is none here. */
  upgrade?(request: HttpRequest, socket: Socket): boolean;
  /** Milliseconds that a request of this address has to wait. */
  hold?(address: string): number;
  /** A proxy speaks for many clients: only the connections in all bound it. */
  isProxy?(address: string): boolean;
  /** Other limits than the usual ones, for tests that cannot wait. */
  readonly limits?: HttpLimits;
}

const CONNECTION = Symbol("connection");

type ClientSocket = Socket & { [CONNECTION]: HttpConnection };

/** The connection of a socket that one was made for. */
export function connectionOf(socket: Socket): HttpConnection {
  return (socket as ClientSocket)[CONNECTION];
}

export class HttpConnection {
  /** The address of the other end, 4 or 16 bytes. */
  readonly address: string;
  readonly #socket: Socket;
  readonly #options: HttpServerOptions;
  readonly #limits: HttpLimits;
  #state: "reading" | "answering" | "held back" | "ending" | "handed over" = "reading";
  /** Received data that is not answered yet. */
  #text = "";
  /** Since when it is idle, or waits for the rest of a head, or for its last answer to be taken. */
  #since = performance.now();
  #requests = 0;
  /** The next request has waited as long as it had to. */
  #isDue = false;
  /** The other side has closed its half: it sends nothing more. */
  #isHalfClosed = false;

  constructor(socket: Socket, address: string, options: HttpServerOptions) {
    this.#socket = socket;
    this.address = address;
    this.#options = options;
    this.#limits = options.limits ?? LIMITS;
    (socket as ClientSocket)[CONNECTION] = this;
    socket.on("data", HttpConnection.#onData);
    socket.on("end", HttpConnection.#onEnd);
    // A client that breaks off gets no answer.
    socket.on("error", ignore);
  }

  /** The same functions for all sockets: closures for each would be waste to collect. */
  static readonly #onData = function (this: Socket, bytes: Buffer): void {
    connectionOf(this).#receive(bytes);
  };

  static readonly #onEnd = function (this: Socket): void {
    connectionOf(this).#halfClose();
  };

  isLate(now: number): boolean {
    if (this.#state !== "reading" && this.#state !== "ending") return false;
    const { idleMs, headMs } = this.#limits;
    return now - this.#since > (this.#text === "" ? idleMs : headMs);
  }

  /** The server closes: an answer that is being made or sent is the last one. */
  end(): void {
    if (this.#state === "answering" || this.#state === "ending") this.#isHalfClosed = true;
    else this.#socket.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    // Read and dropped: what is left unread would turn the last answer into a reset.
    if (this.#state === "ending") return;
    if (this.#text === "") this.#since = performance.now();
    this.#text += bytes.toString("latin1");
    if (this.#state === "reading") this.#read();
    else if (this.#text.length > this.#limits.headBytesMax) this.#socket.pause();
  }

  #halfClose(): void {
    this.#isHalfClosed = true;
    // What was answered before may still be on its way out.
    if (this.#state === "reading") this.#socket.end();
  }

  /** Answers one request after the other, as far as they are there. */
  #read(): void {
    let from = 0;
    while (this.#state === "reading") {
      const head = readHead(this.#text, from);
      if (head === undefined) {
        if (this.#text.length - from > this.#limits.headBytesMax) {
          this.#refuse(tooLong());
        }
        break;
      }
      if ("status" in head) return this.#refuse(textResponse(head.status, head.message));
      if (head.end - from > this.#limits.headBytesMax) return this.#refuse(tooLong());
      if (this.#isHeldBack()) break;
      from = head.end;
      if (head.isUpgrade && this.#handOver(head)) return;
      this.#answer(head, from === this.#text.length);
    }
    this.#text = from === this.#text.length ? "" : this.#text.slice(from);
  }

  /** Whether the next request has to wait; it is read again when its time has come. */
  #isHeldBack(): boolean {
    const ms = this.#isDue ? 0 : (this.#options.hold?.(this.address) ?? 0);
    this.#isDue = false;
    if (ms === 0) return false;
    this.#state = "held back";
    setTimeout(() => {
      this.#isDue = true;
      this.#goOn();
    }, ms).unref();
    return true;
  }

  /** A client waits for the answer before it sends more, so no data after the head is lost. */
  #handOver({ path, query, raw, mark, end }: Head): boolean {
    const { upgrade } = this.#options;
    if (upgrade === undefined || end !== this.#text.length) return false;
    const socket = this.#socket;
    for (const event of ["data", "end", "error"]) socket.removeAllListeners(event);
    const isTaken = upgrade({ path, query, raw, mark, address: this.address }, socket);
    if (!isTaken) socket.on("error", ignore).destroy();
    this.#state = "handed over";
    this.#text = "";
    return true;
  }

  #answer(head: Head, isLast: boolean): void {
    const { path, query, raw, mark } = head;
    const isKeptAlive = head.isKeptAlive && ++this.#requests < this.#limits.requestsPerSocketMax;
    let answer: HttpResponse | Promise<HttpResponse>;
    try {
      answer = this.#options.answer({ path, query, raw, mark, address: this.address });
    } catch (error) {
      answer = this.#failed(error);
    }
    const { isHead } = head;
    if (!(answer instanceof Promise)) return this.#send(answer, isKeptAlive, isLast, isHead);
    this.#state = "answering";
    answer
      .catch((error): HttpResponse => this.#failed(error))
      .then((later) => this.#resume(later, isKeptAlive, isHead));
  }

  #failed(error: unknown): HttpResponse {
    this.#options.onError(error);
    return textResponse(500, "internal error");
  }

  #resume(response: HttpResponse, isKeptAlive: boolean, isHead: boolean): void {
    if (this.#socket.destroyed) return;
    const isWanted = isKeptAlive && (!this.#isHalfClosed || this.#text !== "");
    this.#send(response, isWanted, this.#text === "", isHead);
    this.#goOn();
  }

  #goOn(): void {
    if (this.#socket.destroyed) return;
    if (this.#socket.isPaused()) this.#socket.resume();
    if (this.#state === "ending") return;
    this.#state = "reading";
    this.#since = performance.now();
    if (this.#text !== "") this.#read();
    if (this.#isHalfClosed && this.#state === "reading") this.#socket.end();
  }

  #send(response: HttpResponse, isKeptAlive: boolean, isLast: boolean, isHead = false): void {
    const socket = this.#socket;
    // Only the answers of several requests at once would wait for each other.
    if (this.#requests === 2) socket.setNoDelay(true);
    const isTaken = socket.write(responseBytes(response, isKeptAlive, isHead), "latin1");
    if (!isKeptAlive) return this.#close(isLast);
    if (isTaken || socket.writableLength < this.#limits.unsentBytesMax) return;
    // The client sends requests without reading the answers.
    this.#state = "ending";
    socket.destroy();
  }

  /**
   * Where the system has taken the whole answer and nothing unread is left, closing at once sends
   * both the answer and the end. It saves a third of the time that `end` takes: a shutdown, and
   * the wait for the other side's end.
   */
  #close(isLast: boolean): void {
    this.#state = "ending";
    this.#since = performance.now();
    if (isLast && this.#socket.writableLength === 0) this.#socket.destroy();
    else this.#socket.end();
  }

  /** More of what is refused may be on its way. */
  #refuse(response: HttpResponse): void {
    this.#text = "";
    this.#send(response, false, false);
  }
}

const ignore = (): void => {};

const tooLong = (): HttpResponse => textResponse(431, "the head of the request is too long");
