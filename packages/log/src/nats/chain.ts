import { crc32 } from "node:zlib";
import type { Anchor, Position } from "../log.ts";
import { streamDamaged } from "./errors.ts";
import { checksumOf } from "./message.ts";

/**
 * One number for the whole history of a stream: the checksums of all its messages, each added to
 * the number before it. An owner writes it into each batch, so a replica that has kept another
 * history is found by the next batch behind the difference, though each of its messages is whole
 * and in its place. Behind the newest batch an anchor takes over: what an owner has noted elsewhere
 * of a batch that was confirmed.
 *
 * Every message counts, those that are passed over too. What precedes a trim is gone, so the first
 * batch behind it is believed.
 */
export class Chain {
  readonly #stream: string;
  readonly #anchor: Anchor | undefined;
  /** Undefined while nothing is known of what has been trimmed. */
  #value: number | undefined;
  #first: Position | undefined;
  #last: Position = 0;

  constructor(stream: string, anchor?: Anchor) {
    this.#stream = stream;
    this.#anchor = anchor;
  }

  /** Behind the last message that was added. */
  get value(): number {
    return this.#value ?? 0;
  }

  /** The message says that this is the number of all before it. */
  check(sequence: Position, stated: number | undefined): void {
    if (stated === undefined) return;
    this.#value ??= stated;
    if (stated === this.#value) return;
    throw streamDamaged(
      this.#stream,
      sequence,
      "it follows another history than the one before it",
    );
  }

  add(sequence: Position, message: Uint8Array): void {
    if (this.#first === undefined) {
      this.#first = sequence;
      // Nothing was trimmed, so nothing is unknown.
      if (sequence === 1) this.#value ??= 0;
    }
    this.#last = sequence;
    if (this.#value === undefined) return;
    this.#value = chained(this.#value, message);
    if (this.#anchor?.position !== sequence || this.#anchor.chain === this.#value) return;
    throw streamDamaged(this.#stream, sequence, "another message than this one was confirmed");
  }

  /** The replay is over: the anchor must have been in it. */
  checkEnd(): void {
    const anchor = this.#anchor;
    if (anchor === undefined || anchor.position <= this.#last) return;
    const what = `it ends before sequence ${anchor.position}, which was confirmed`;
    throw streamDamaged(this.#stream, this.#last, what);
  }
}

const checksum = new Uint8Array(4);
const checksumView = new DataView(checksum.buffer);

/** The chain's number behind this message. */
export function chained(value: number, message: Uint8Array): number {
  checksumView.setUint32(0, checksumOf(message), true);
  return crc32(checksum, value);
}
