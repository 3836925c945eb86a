/**
 * A connection that another thread holds, as the main thread sees it: a duplex of bytes, which the
 * HTTP server takes for a socket. When it becomes a stream, whole messages come and go in place of
 * bytes: the other thread does what WebSocket asks for.
 */
import type { IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import type { StreamSocket } from "../stream/session.ts";
import {
  closeBytes,
  type Ends,
  numberOf,
  PACKET,
  type PacketPort,
  textOf,
  upgradeBytes,
} from "./packets.ts";

/** Bytes of an answer that may be on their way before its sender waits. */
const UNSENT_BYTES_MAX = 256 * 1024;

type Written = (error?: Error | null) => void;

export interface ThreadConnectionParts {
  readonly id: number;
  readonly port: PacketPort;
  readonly ends: Ends;
}

export class ThreadConnection extends Duplex implements Ends {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly remoteFamily: string | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly #id: number;
  readonly #port: PacketPort;
  #stream: ThreadStream | undefined = undefined;
  #receivedBytes = 0;
  #unsentBytes = 0;
  #isPaused = false;
  /** Called when there is room for more. */
  #written: Written | undefined = undefined;
  #finished: Written | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor({ id, port, ends }: ThreadConnectionParts) {
    super({ allowHalfOpen: true });
    this.#id = id;
    this.#port = port;
    this.remoteAddress = ends.remoteAddress;
    this.remotePort = ends.remotePort;
    this.remoteFamily = ends.remoteFamily;
    this.localAddress = ends.localAddress;
    this.localPort = ends.localPort;
  }

  /** A packet about this connection; its bytes are not written again. */
  handle(kind: number, body: Uint8Array): void {
    if (this.#stream !== undefined) this.#stream.handle(kind, body);
    else if (this.destroyed) return;
    else if (kind === PACKET.bytes) this.#receive(body);
    else if (kind === PACKET.ended) this.push(null);
    else if (kind === PACKET.left) this.#left(numberOf(body));
    else if (kind === PACKET.finished) this.#finish();
    if (kind === PACKET.closed) this.destroy();
  }

  #receive(bytes: Uint8Array): void {
    this.#timer?.refresh();
    this.#receivedBytes += bytes.length;
    if (this.push(bytes) || this.#isPaused) return;
    this.#isPaused = true;
    this.#port.send(PACKET.pause, this.#id);
  }

  #left(bytes: number): void {
    this.#timer?.refresh();
    this.#unsentBytes -= bytes;
    if (this.#unsentBytes >= UNSENT_BYTES_MAX) return;
    const written = this.#written;
    this.#written = undefined;
    written?.();
  }

  #finish(): void {
    const finished = this.#finished;
    this.#finished = undefined;
    finished?.();
  }

  /** Messages go and come from now on; the request has been found to be in order. */
  upgrade(request: IncomingMessage, head: Uint8Array): StreamSocket {
    this.setTimeout(0);
    this.#isPaused = false;
    const { method, url, headers } = request;
    const early = this.read() as Buffer | null;
    const seen = { method, url, headers, seenBytes: this.#receivedBytes };
    const behind = early === null ? head : Buffer.concat([head, early]);
    this.#port.send(PACKET.upgrade, this.#id, upgradeBytes(seen, behind));
    this.#stream = new ThreadStream(this.#id, this.#port);
    return this.#stream;
  }

  // What an HTTP server expects of a socket.

  setTimeout(ms: number, callback?: () => void): this {
    clearTimeout(this.#timer);
    this.#timer = ms === 0 ? undefined : setTimeout(() => this.emit("timeout"), ms).unref();
    if (callback !== undefined && ms === 0) this.off("timeout", callback);
    else if (callback !== undefined) this.once("timeout", callback);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  override _read(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#port.send(PACKET.resume, this.#id);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: Written): void {
    this.#timer?.refresh();
    // The writer may use the memory again; the packet leaves later.
    this.#port.send(PACKET.bytes, this.#id, Uint8Array.prototype.slice.call(chunk));
    this.#unsentBytes += chunk.length;
    if (this.#unsentBytes < UNSENT_BYTES_MAX) written();
    else this.#written = written;
  }

  override _final(finished: Written): void {
    this.#finished = finished;
    this.#port.send(PACKET.ended, this.#id);
  }

  override _destroy(error: Error | null, destroyed: Written): void {
    clearTimeout(this.#timer);
    this.#port.send(PACKET.destroy, this.#id);
    destroyed(error);
  }
}

class ThreadStream implements StreamSocket {
  readonly #id: number;
  readonly #port: PacketPort;
  #isClosed = false;
  bufferedBytes = 0;
  onmessage: (message: Uint8Array) => void = () => {};
  onclose: (reason: string) => void = () => {};
  ondrain: () => void = () => {};
  onheard: () => void = () => {};
  onover: () => void = () => {};

  constructor(id: number, port: PacketPort) {
    this.#id = id;
    this.#port = port;
  }

  handle(kind: number, body: Uint8Array): void {
    if (kind === PACKET.message) this.#receive(body);
    else if (kind === PACKET.left) this.#left(numberOf(body));
    else if (kind === PACKET.silent) this.#closed(textOf(body));
    else if (kind === PACKET.closed) {
      this.#closed(textOf(body));
      this.onover();
    }
  }

  #receive(message: Uint8Array): void {
    if (this.#isClosed) return;
    this.onheard();
    this.onmessage(message);
  }

  #left(bytes: number): void {
    this.bufferedBytes -= bytes;
    this.ondrain();
  }

  #closed(reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose(reason);
  }

  send(message: Uint8Array): void {
    this.bufferedBytes += message.length;
    this.#port.send(PACKET.message, this.#id, message);
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return;
    this.#port.send(PACKET.close, this.#id, closeBytes(code, reason));
    this.#closed(reason);
  }

  terminate(): void {
    this.#port.send(PACKET.destroy, this.#id);
  }

  greeted(): void {
    this.#port.send(PACKET.greeted, this.#id);
  }

  push(): void {
    this.#port.flush();
  }

  pause(): void {
    this.#port.send(PACKET.pause, this.#id);
  }

  resume(): void {
    this.#port.send(PACKET.resume, this.#id);
  }
}
