/** A SOCKS5 proxy that relays UDP to a port of the loopback, and notes where it should go. */
import { createSocket, type Socket as Packets } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { targetOf, wrapPacket } from "../upstream/socks.ts";

export class UdpProxy implements AsyncDisposable {
  readonly targets: string[] = [];
  relays = 0;
  /** The code of its answer to UDP ASSOCIATE. */
  reply = 0;
  readonly #server: Server;
  readonly #to: number;
  readonly #password: string | undefined;
  readonly #controls = new Set<Socket>();

  private constructor(server: Server, to: number, password: string | undefined) {
    this.#server = server;
    this.#to = to;
    this.#password = password;
    server.on("connection", (socket: Socket) => {
      this.#controls.add(socket.on("error", () => {}));
      void this.#serve(socket).catch(() => socket.destroy());
    });
  }

  static async open(to: number, password?: string): Promise<UdpProxy> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new UdpProxy(server, to, password);
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  endRelays(): void {
    for (const control of this.#controls) control.destroy();
    this.#controls.clear();
  }

  async #serve(control: Socket): Promise<void> {
    const read = async (): Promise<Buffer> => ((await once(control, "data")) as [Buffer])[0];
    await read();
    control.write(Buffer.from([5, this.#password === undefined ? 0 : 2]));
    if (this.#password !== undefined) {
      const login = await read();
      const user = login.subarray(2, 2 + login[1]!);
      const isGood = login.subarray(3 + user.length).toString() === this.#password;
      control.write(Buffer.from([1, isGood ? 0 : 1]));
    }
    const request = await read();
    const relay = await this.#relay(control);
    // Zeros for the address: that of the proxy.
    const bound = targetOf("0.0.0.0", relay.address().port);
    control.write(Buffer.concat([Buffer.from([5, request[1] === 3 ? this.reply : 7, 0]), bound]));
  }

  async #relay(control: Socket): Promise<Packets> {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    control.on("close", () => socket.close());
    await once(socket, "listening");
    this.relays++;
    let client = 0;
    socket.on("message", (bytes, from) => {
      if (from.port === this.#to) {
        socket.send(wrapPacket(targetOf("127.0.0.1", this.#to), bytes), client, "127.0.0.1");
        return;
      }
      client = from.port;
      const end = 5 + bytes[4]!;
      this.targets.push(`${bytes.toString("latin1", 5, end)}:${bytes.readUInt16BE(end)}`);
      socket.send(bytes.subarray(end + 2), this.#to, "127.0.0.1");
    });
    return socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endRelays();
    this.#server.close();
    await once(this.#server, "close");
  }
}
