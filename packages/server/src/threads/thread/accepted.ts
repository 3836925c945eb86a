/**
 * A connection in the thread that holds it. It is in one of these states.
 *
 * secret   TLS is being agreed on: nothing is passed on yet
 * bytes    what comes and goes is HTTP, which the main thread reads and writes
 * stream   what comes and goes are messages; the main thread has said so
 * gone     the main thread knows of its end
 */
import type { Socket } from "node:net";
import type { WebSocketServer } from "ws";
import { WsSocket } from "../../stream/ws-socket.ts";
import {
  closeOf,
  type Ends,
  numberBytes,
  PACKET,
  type PacketPort,
  textBytes,
  upgradeOf,
} from "../packets.ts";

/** How much must have left before it is reported: the main thread waits for megabytes. */
const TELL_BYTES = 64 * 1024;

export interface AcceptedParts {
  readonly id: number;
  readonly port: PacketPort;
  readonly webSockets: WebSocketServer;
  readonly raw: Socket;
  /** Its end is reported. */
  readonly onGone: () => void;
}

export class Accepted {
  readonly #id: number;
  readonly #port: PacketPort;
  readonly #webSockets: WebSocketServer;
  readonly #raw: Socket;
  readonly #onGone: () => void;
  #socket: Socket | undefined = undefined;
  #stream: WsSocket | undefined = undefined;
  /** By the main thread, or for all connections of this thread. */
  #isPaused = false;
  #isHeld = false;
  /** Of the client, that the main thread has. */
  #passedBytes = 0;
  /** Of the main thread: those of a stream, and those that have left and are not reported. */
  #givenBytes = 0;
  #leftBytes = 0;

  constructor({ id, port, webSockets, raw, onGone }: AcceptedParts) {
    this.#id = id;
    this.#port = port;
    this.#webSockets = webSockets;
    this.#raw = raw;
    this.#onGone = onGone;
    // What is wrong with a connection ends it.
    raw.on("error", () => {});
    raw.once("close", () => {
      if (this.#socket === undefined) this.#gone();
    });
    port.send(PACKET.opened, id, textBytes(JSON.stringify(endsOf(raw))));
  }

  /** The bytes of the client can be read: at once, or when TLS is agreed on. */
  ready(socket: Socket): void {
    this.#socket = socket;
    if (socket !== this.#raw) socket.on("error", () => {});
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.once("close", () => this.#gone());
    socket.on("finish", () => this.#port.send(PACKET.finished, this.#id));
    if (this.#isHeld) socket.pause();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#passedBytes += bytes.length;
    this.#port.send(PACKET.bytes, this.#id, bytes);
  };

  readonly #onEnd = (): void => this.#port.send(PACKET.ended, this.#id);

  #gone(): void {
    this.#port.send(PACKET.closed, this.#id);
    this.#onGone();
  }

  /** A packet of the main thread. */
  handle(kind: number, body: Uint8Array): void {
    switch (kind) {
      case PACKET.bytes:
        return this.#write(body);
      case PACKET.message:
        this.#givenBytes += body.length;
        return this.#stream?.send(body);
      case PACKET.pause:
        this.#isPaused = true;
        return this.#flow();
      case PACKET.resume:
        this.#isPaused = false;
        return this.#flow();
      case PACKET.ended:
        return void (this.#socket ?? this.#raw).end();
      case PACKET.destroy:
        return void (this.#socket ?? this.#raw).destroy();
      case PACKET.upgrade:
        return this.#upgrade(body);
      case PACKET.greeted:
        return this.#stream?.greeted();
      case PACKET.close: {
        const { code, reason } = closeOf(body);
        return this.#stream?.close(code, reason);
      }
      default:
        throw new Error(`the main thread sent a packet of the unknown kind ${kind}`);
    }
  }

  /** Nothing more is read while the main thread has much to read already. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#flow();
  }

  #flow(): void {
    const reader = this.#stream ?? this.#socket;
    if (this.#isPaused || this.#isHeld) reader?.pause();
    else reader?.resume();
  }

  #write(bytes: Uint8Array): void {
    // Before TLS is agreed on, no answer is possible.
    if (this.#socket === undefined) return void this.#raw.destroy();
    this.#socket.write(bytes, () => this.#left(bytes.length));
  }

  #left(bytes: number): void {
    this.#leftBytes += bytes;
    if (this.#leftBytes < TELL_BYTES) return;
    this.#port.send(PACKET.left, this.#id, numberBytes(this.#leftBytes));
    this.#leftBytes = 0;
  }

  #upgrade(body: Uint8Array): void {
    const socket = this.#socket;
    const { request, head } = upgradeOf(body);
    if (socket === undefined || socket.destroyed) return;
    // A client sends nothing between its request and the answer.
    if (request.seenBytes !== this.#passedBytes) return void socket.destroy();
    socket.off("data", this.#onData);
    socket.off("end", this.#onEnd);
    this.#isPaused = false;
    this.#leftBytes = 0;
    socket.resume();
    const asked = request as unknown as Parameters<WebSocketServer["handleUpgrade"]>[0];
    this.#webSockets.handleUpgrade(asked, socket, head, (ws) => {
      const stream = new WsSocket(ws, socket);
      this.#stream = stream;
      stream.onmessage = (message) => this.#port.send(PACKET.message, this.#id, message);
      stream.ondrain = () => this.#drained(stream);
      stream.onclose = (reason) => this.#port.send(PACKET.silent, this.#id, textBytes(reason));
      this.#flow();
    });
  }

  #drained(stream: WsSocket): void {
    const unsent = stream.bufferedBytes;
    const left = this.#givenBytes - unsent;
    // What is counted as unsent has the heads of WebSocket too.
    if (left <= 0) return;
    this.#givenBytes = unsent;
    this.#left(left);
  }
}

function endsOf(socket: Socket): Ends {
  const { remoteAddress, remotePort, remoteFamily, localAddress, localPort } = socket;
  return { remoteAddress, remotePort, remoteFamily, localAddress, localPort };
}
