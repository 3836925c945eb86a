// A proxy between a program and a server that can be cut.

import { once } from "node:events";
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from "node:net";

export class TcpProxy {
  readonly #target: () => number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where it listens, also when it is closed. */
  port = 0;
  /** What comes waits so long. */
  delayMs = 0;
  /** At most this passes in a millisecond, in each direction of a connection. */
  bytesPerMs = Number.POSITIVE_INFINITY;
  #state: "open" | "cut" | "silent" = "open";

  private constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#join(near));
  }

  /** To a port of loopback, which need not be known yet. */
  static async start(target: () => number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    const listening = once(proxy.#server, "listening");
    proxy.#server.listen(0, "127.0.0.1", () => {
      proxy.port = (proxy.#server.address() as AddressInfo).port;
    });
    await listening;
    return proxy;
  }

  /** All connections break, and no more are made. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nothing passes any more, and neither end is notified. */
  silence(): void {
    this.#state = "silent";
    for (const socket of this.#sockets) socket.pause();
  }

  heal(): void {
    this.#state = "open";
    for (const socket of this.#sockets) socket.resume();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket): void {
    if (this.#state === "cut") return void near.destroy();
    const far = dial(this.#target(), "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      const late: Buffer[] = [];
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on("data", (bytes) => {
        this.#pace(one, bytes.length);
        late.push(bytes);
        const pass = (): void => {
          const first = late.shift()!;
          if (!other.destroyed && !other.write(first)) one.pause();
        };
        // Whichever timer fires first, what came first goes first.
        if (this.delayMs === 0 && late.length === 1) pass();
        else setTimeout(pass, this.delayMs);
      });
      one.on("drain", () => {
        if (this.#state === "open") other.resume();
      });
      one.on("error", () => {});
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    if (this.#state === "open") near.resume();
    else far.pause();
  }

  #pace(socket: Socket, bytes: number): void {
    if (this.bytesPerMs === Number.POSITIVE_INFINITY) return;
    socket.pause();
    const goOn = (): void => void (this.#state === "open" && socket.resume());
    setTimeout(goOn, bytes / this.bytesPerMs);
  }
}
