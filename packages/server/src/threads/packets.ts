/**
 * What the main thread and a thread that holds connections say to each other. A packet is about one
 * connection, and has the head of a frame of the stream: its kind, the number of the connection in
 * place of the operation, and the bytes that follow. Packets of one turn of the event loop travel
 * as one message, whose memory the other end takes over.
 */
import type { MessagePort } from "node:worker_threads";
import type { FrameReader } from "@sluice/protocol/wire";

export const PACKET = {
  /** A client has connected; JSON of both addresses follows. */
  opened: 0x01,
  /** Bytes of a connection, as they come and as they are to go. */
  bytes: 0x02,
  /** The client sends no more bytes; or the server does not. */
  ended: 0x03,
  /** All bytes of the server have left, and their end. */
  finished: 0x04,
  /** So many bytes of the server have left. */
  left: 0x05,
  /** The connection is gone, with a reason for people. */
  closed: 0x06,
  /** A message of a stream. */
  message: 0x07,
  /** No more messages come: the reason is for people. */
  silent: 0x08,
  /** The thread works: the answer to `asked`. */
  answered: 0x09,

  /** The connection is a stream from now on. */
  upgrade: 0x10,
  /** The client of the stream has greeted. */
  greeted: 0x11,
  /** Nothing more is to be read for now; and it is again. */
  pause: 0x12,
  resume: 0x13,
  /** The stream ends, with a code of RFC 6455 and a reason. */
  close: 0x14,
  destroy: 0x15,
  /** So many bytes of packets were handled: as many more may come. */
  took: 0x16,
  /** Whether the thread works. */
  asked: 0x17,
} as const;

const HEAD_BYTES = 9;
const NOTHING = new Uint8Array(0);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class PacketPort {
  readonly #port: Pick<MessagePort, "postMessage">;
  #kinds: number[] = [];
  #connections: number[] = [];
  #bodies: Uint8Array[] = [];
  #bytes = 0;
  #isDeferred = false;
  /** Bytes that the other end has not said that it took; only a thread is bounded by them. */
  untakenBytes = 0;
  /** Called for each packet. */
  onsent: () => void = () => {};

  constructor(port: Pick<MessagePort, "postMessage">) {
    this.#port = port;
  }

  /** Leaves at the end of this turn. The body must not change until then. */
  send(kind: number, connection: number, body: Uint8Array = NOTHING): void {
    this.#kinds.push(kind);
    this.#connections.push(connection);
    this.#bodies.push(body);
    const bytes = HEAD_BYTES + body.length;
    this.#bytes += bytes;
    this.untakenBytes += bytes;
    if (!this.#isDeferred) {
      this.#isDeferred = true;
      setImmediate(this.#flushDeferred);
    }
    this.onsent();
  }

  readonly #flushDeferred = (): void => {
    this.#isDeferred = false;
    this.flush();
  };

  flush(): void {
    if (this.#bodies.length === 0) return;
    const batch = new Uint8Array(Buffer.allocUnsafeSlow(this.#bytes).buffer);
    const view = new DataView(batch.buffer);
    let at = 0;
    for (const [index, body] of this.#bodies.entries()) {
      batch[at] = this.#kinds[index]!;
      view.setUint32(at + 1, this.#connections[index]!, true);
      view.setUint32(at + 5, body.length, true);
      batch.set(body, at + HEAD_BYTES);
      at += HEAD_BYTES + body.length;
    }
    this.#kinds = [];
    this.#connections = [];
    this.#bodies = [];
    this.#bytes = 0;
    this.#port.postMessage(batch, [batch.buffer]);
  }
}

/**
 * The body of the packet that is read. What waits must not keep the memory of a whole batch, which
 * has the bytes of other connections: a body that is the smaller part of its batch is copied.
 */
export function bodyOf(reader: FrameReader, batch: Uint8Array): Uint8Array {
  const body = reader.raw(reader.left);
  return body.length >= batch.length / 2 ? body : body.slice();
}

export function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}

export function numberOf(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat64(0, true);
}

export function textBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Where the two ends of a connection are. */
export interface Ends {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly remoteFamily: string | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
}

/** A request that asks for a stream, and what a thread needs of it for the handshake. */
export interface UpgradeRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** Bytes of the connection that the main thread had when it decided. */
  readonly seenBytes: number;
}

const LENGTH_BYTES = 4;

/** The request as JSON, and the bytes that came behind it. */
export function upgradeBytes(request: UpgradeRequest, head: Uint8Array): Uint8Array {
  const json = textBytes(JSON.stringify(request));
  const bytes = new Uint8Array(LENGTH_BYTES + json.length + head.length);
  new DataView(bytes.buffer).setUint32(0, json.length, true);
  bytes.set(json, LENGTH_BYTES);
  bytes.set(head, LENGTH_BYTES + json.length);
  return bytes;
}

export function upgradeOf(bytes: Uint8Array): { request: UpgradeRequest; head: Buffer } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = LENGTH_BYTES + view.getUint32(0, true);
  return {
    request: JSON.parse(textOf(bytes.subarray(LENGTH_BYTES, end))) as UpgradeRequest,
    head: Buffer.from(bytes.subarray(end)),
  };
}

const CODE_BYTES = 2;

/** Why a stream ends: a code of RFC 6455 and a reason. */
export function closeBytes(code: number, reason: string): Uint8Array {
  const text = textBytes(reason);
  const bytes = new Uint8Array(CODE_BYTES + text.length);
  new DataView(bytes.buffer).setUint16(0, code, true);
  bytes.set(text, CODE_BYTES);
  return bytes;
}

export function closeOf(bytes: Uint8Array): { code: number; reason: string } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return { code: view.getUint16(0, true), reason: textOf(bytes.subarray(CODE_BYTES)) };
}
