import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a server that can be cut and opened again. */
export class Cutter implements AsyncDisposable {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #target: number;
  isOpen = true;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((near) => {
      if (!this.isOpen) return void near.destroy();
      this.#join(near, connect(this.#target, "127.0.0.1"));
    });
  }

  static async open(target: number): Promise<Cutter> {
    const cutter = new Cutter(target);
    cutter.#server.listen(0, "127.0.0.1");
    await once(cutter.#server, "listening");
    return cutter;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Where new connections go. */
  set target(port: number) {
    this.#target = port;
  }

  /** Cuts every connection; what was on its way is lost. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  #join(near: Socket, far: Socket): void {
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.cut();
    await once(this.#server, "close");
  }
}
