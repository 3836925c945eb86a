/** A tracker over UDP that notes what it is sent, and answers as a test says. */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { announceAnswer, connectAnswer } from "../udp/packets.ts";

export const ID = Buffer.from("connect!");
const PEERS = Buffer.from("\x0a\x01\x01\x01\x1a\xe1", "latin1");

export type Answer = (packet: Buffer, transaction: number) => Buffer[];

export class UdpUpstream implements AsyncDisposable {
  readonly #socket: Socket;
  readonly announces: Buffer[] = [];
  connects = 0;
  answer: Answer = (_packet, transaction) => [good(transaction)];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (packet: Buffer, from: RemoteInfo) => {
      const transaction = packet.readUInt32BE(12);
      const isConnect = packet.readUInt32BE(8) === 0;
      if (isConnect) this.connects++;
      else this.announces.push(packet);
      const answers = isConnect
        ? [connectAnswer(transaction, ID)]
        : this.answer(packet, transaction);
      for (const answer of answers) socket.send(answer, from.port, from.address);
    });
  }

  static async open(): Promise<UdpUpstream> {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new UdpUpstream(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }
}

export function good(transaction: number): Buffer {
  return announceAnswer(transaction, { interval: 900, complete: 4, incomplete: 2, peers: PEERS });
}
