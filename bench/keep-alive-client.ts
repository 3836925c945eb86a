// One connection that sends requests and does not wait for answers: a load that does not slow down
// when the server does. Node's own client would cost as much as the server.

import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface Answered {
  readonly status: number;
  readonly ms: number;
  // The lines before the body.
  readonly head: string;
}

const END_OF_HEAD = "\r\n\r\n";

export class KeepAliveClient {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #onAnswer: (answer: Answered) => void;
  readonly #dueAt: number[] = [];
  #rest: Buffer = Buffer.alloc(0);
  isOver = false;

  private constructor(socket: Socket, host: string, onAnswer: (answer: Answered) => void) {
    this.#socket = socket;
    this.#host = host;
    this.#onAnswer = onAnswer;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
    socket.once("close", () => {
      this.isOver = true;
    });
  }

  static async open(
    address: string,
    onAnswer: (answer: Answered) => void,
  ): Promise<KeepAliveClient> {
    const { hostname, port, host } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new KeepAliveClient(socket, host, onAnswer);
  }

  // Requests without an answer.
  get open(): number {
    return this.#dueAt.length;
  }

  // An answer's time counts from when the request was due, so that whatever holds up the sender is
  // in the figure and not left out of it.
  post(path: string, body: string, dueAt = performance.now()): void {
    this.#dueAt.push(dueAt);
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}${END_OF_HEAD}${body}`,
    );
  }

  get(path: string): void {
    this.#dueAt.push(performance.now());
    this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${this.#host}${END_OF_HEAD}`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const head = this.#rest.indexOf(END_OF_HEAD);
      if (head === -1) return;
      const text = this.#rest.toString("latin1", 0, head);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      const end = head + END_OF_HEAD.length + length;
      if (this.#rest.length < end) return;
      this.#rest = this.#rest.subarray(end);
      const status = Number(text.slice(9, 12));
      const ms = performance.now() - this.#dueAt.shift()!;
      this.#onAnswer({ status, ms, head: text });
    }
  }
}
