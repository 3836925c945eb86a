import { crc32 } from "node:zlib";
import type { Anchor, Position } from "../log.ts";
import { type MessageStore, storeDamaged } from "./damage.ts";
import { checksumOf } from "./message.ts";

const CHUNK = 4096;

/**
 * One number for the whole history of a stream: the checksums of all its messages, each added to
 * the number before it. An owner writes it into each batch, so a replica that has kept another
 * history is found by the next batch behind the difference, though each of its messages is whole
 * and in its place. Behind the newest batch an anchor takes over: what an owner has noted elsewhere
 * of a batch that was confirmed.
 *
 * Every message counts, even if it is skipped. What precedes a trim is gone, so the first batch
 * behind it is trusted. The number behind each message is kept, 4 bytes a message, so that
 * one that is read again is known to be the same.
 */
export class Chain {
  readonly #store: MessageStore;
  /** Undefined while nothing is known of what has been trimmed. */
  #value: number | undefined;
  #last: Position = 0;
  /** The numbers behind the messages from `#first` on. */
  #first: Position = 0;
  readonly #chunks = new Map<number, Uint32Array>();

  constructor(store: MessageStore) {
    this.#store = store;
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
    throw storeDamaged(
      this.#store,
      sequence,
      "it does not continue the history of the message before it",
    );
  }

  add(sequence: Position, message: Uint8Array): void {
    // Nothing was trimmed, so nothing is unknown.
    if (sequence === 1) this.#value ??= 0;
    this.#last = sequence;
    if (this.#value === undefined) return;
    if (this.#first === 0) this.#first = sequence;
    this.#value = chained(this.#value, message);
    this.#put(sequence, this.#value);
  }

  /** The number behind a message; undefined when it is not known. */
  at(sequence: Position): number | undefined {
    if (sequence < this.#first || sequence > this.#last) return undefined;
    return this.#chunks.get(Math.floor(sequence / CHUNK))?.[sequence % CHUNK];
  }

  /** A message that is read again must be the one that was there. */
  checkAgain(sequence: Position, message: Uint8Array): void {
    const before = this.at(sequence - 1);
    if (before === undefined || chained(before, message) === this.at(sequence)) return;
    throw storeDamaged(this.#store, sequence, "a different message was here before");
  }

  /** All was read: the anchor must be in it. One that was trimmed away says nothing. */
  checkAnchor({ position, chain }: Anchor): void {
    if (position > this.#last) {
      const what = `it ends there, but sequence ${position} was confirmed`;
      throw storeDamaged(this.#store, this.#last, what);
    }
    const found = this.at(position);
    if (found === undefined || found === chain) return;
    throw storeDamaged(this.#store, position, "a different message was confirmed here");
  }

  /** Whole chunks only: what is left costs little. */
  forget(before: Position): void {
    const first = Math.floor(before / CHUNK);
    for (const index of this.#chunks.keys()) if (index < first) this.#chunks.delete(index);
    this.#first = Math.max(this.#first, first * CHUNK);
  }

  #put(sequence: Position, value: number): void {
    const index = Math.floor(sequence / CHUNK);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = new Uint32Array(CHUNK);
      this.#chunks.set(index, chunk);
    }
    chunk[sequence % CHUNK] = value;
  }
}

const checksum = new Uint8Array(4);
const checksumView = new DataView(checksum.buffer);

/** The chain's number behind this message. */
export function chained(value: number, message: Uint8Array): number {
  checksumView.setUint32(0, checksumOf(message), true);
  return crc32(checksum, value);
}
