/** A client of a UDP tracker, for tests. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { announceRequest, connectRequest } from "../udp/packets.ts";
import { type AnnounceFields, hashOf, peerOf, portOfPeer } from "./scene.ts";

const EVENTS = ["", "completed", "started", "stopped"];

export class UdpClient implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #port: number;
  readonly #host: string;
  #connectionId: Buffer = Buffer.alloc(8);

  private constructor(socket: Socket, port: number, host: string) {
    this.#socket = socket;
    this.#port = port;
    this.#host = host;
  }

  static async open(port: number, host = "127.0.0.1"): Promise<UdpClient> {
    const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
    socket.bind(0, host);
    await once(socket, "listening");
    return new UdpClient(socket, port, host);
  }

  /** Sends bytes and waits for the next packet. */
  async ask(packet: Buffer): Promise<Buffer> {
    const answer = once(this.#socket, "message");
    this.send(packet);
    const [bytes] = (await answer) as [Buffer];
    return bytes;
  }

  send(packet: Buffer): void {
    this.#socket.send(packet, this.#port, this.#host);
  }

  async connect(): Promise<Buffer> {
    const answer = await this.ask(connectRequest(7));
    this.#connectionId = answer.subarray(8, 16);
    return answer;
  }

  packet(fields: AnnounceFields): Buffer {
    const { hash = "hash", peer = "peer", left = 1, event = "" } = fields;
    const { port = portOfPeer(peer) } = fields;
    return announceRequest({
      connectionId: this.#connectionId,
      transaction: 8,
      announce: {
        hash: hashOf(hash),
        peerId: peerOf(peer),
        address: "",
        port,
        left,
        uploaded: 0,
        downloaded: 0,
        event: EVENTS.indexOf(event) as 0 | 1 | 2 | 3,
        key: 0,
        numwant: Number(fields.numwant ?? -1),
      },
      ip: fields.ip as string | undefined,
      path: String(fields.path ?? ""),
    });
  }

  announce(fields: AnnounceFields = {}): Promise<Buffer> {
    return this.ask(this.packet(fields));
  }

  scrape(hashes: readonly string[]): Promise<Buffer> {
    const head = Buffer.alloc(16);
    this.#connectionId.copy(head);
    head.writeUInt32BE(2, 8);
    head.writeUInt32BE(9, 12);
    return this.ask(Buffer.concat([head, Buffer.from(hashes.map(hashOf).join(""), "latin1")]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }
}
