// Stands between a program and a server, and can be cut.

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
  #state: "open" | "cut" | "silent" = "open";

  private constructor(target: () => number) {
    this.#target = target;
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#join(near));
  }

  /** To a port of loopback, which need not be known yet. */
  static async start(target: () => number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** All connections break, and no more are made. */
  cut(): void {
    this.#state = "cut";
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Nothing comes through any more, and nobody is told. */
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
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on("data", (bytes) => {
        if (!other.destroyed && !other.write(bytes)) one.pause();
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
}
