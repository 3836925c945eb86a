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

export class HttpConnection {
  readonly #socket: Socket;
  readonly #host: string;
  readonly #onAnswer: (answer: Answered) => void;
  readonly #sentAt: number[] = [];
  #rest: Buffer = Buffer.alloc(0);

  private constructor(socket: Socket, host: string, onAnswer: (answer: Answered) => void) {
    this.#socket = socket;
    this.#host = host;
    this.#onAnswer = onAnswer;
    socket.on("data", (bytes: Buffer) => this.#take(bytes));
  }

  static async open(
    address: string,
    onAnswer: (answer: Answered) => void,
  ): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(address);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, "connect");
    return new HttpConnection(socket, host, onAnswer);
  }

  get open(): number {
    return this.#sentAt.length;
  }

  post(path: string, body: string): void {
    this.#sentAt.push(performance.now());
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${Buffer.byteLength(body)}${END_OF_HEAD}${body}`,
    );
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
      const ms = performance.now() - this.#sentAt.shift()!;
      this.#onAnswer({ status, ms, head: text });
    }
  }
}
