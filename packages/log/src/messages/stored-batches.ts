/** Batches that are read again from the messages of a log, wherever those are stored. */
import { invalid } from "@sluice/protocol";
import { checkRange } from "../block-cache.ts";
import type { Position } from "../log.ts";
import type { Chain } from "./chain.ts";
import { flawedMessage, type MessageStore, storeDamaged } from "./damage.ts";
import { bodyOf, decodeMessage, FACTS, type MessageHead, readHead } from "./message.ts";
import { MessageCache } from "./message-cache.ts";
import type { Spans } from "./spans.ts";

export interface StoredBatchesOptions {
  readonly store: MessageStore;
  readonly cacheBytes: number;
  readonly spans: Spans;
  readonly chain: Chain;
  /** The message at a place of the log; undefined: there is none. */
  readonly fetch: (sequence: Position) => Promise<Uint8Array | undefined>;
  /** What more can be said of an error: which server it was, say. */
  readonly explain?: (error: unknown) => Promise<unknown>;
}

export class StoredBatches {
  readonly #options: StoredBatchesOptions;
  readonly #cache: MessageCache;
  /** Messages that are being read, by sequence: callers that want the same share one read. */
  readonly #loading = new Map<Position, Promise<Uint8Array>>();

  constructor(options: StoredBatchesOptions) {
    this.#options = options;
    this.#cache = new MessageCache(options.cacheBytes);
  }

  /** A message that was just stored is likely to be read soon. */
  keep(sequence: Position, message: Uint8Array): void {
    this.#cache.put(sequence, message);
  }

  read(position: Position, offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    if (!this.#options.spans.has(position)) throw notKept(position);
    const message = this.#cache.get(position);
    if (message === undefined) return this.#read(position, offset, length);
    const { lengthBytes, partBytes } = headOf(position, message);
    checkRange(lengthBytes, offset, length);
    if (offset + length > Math.min(partBytes, lengthBytes)) {
      return this.#read(position, offset, length);
    }
    return bodyOf(message).subarray(offset, offset + length);
  }

  async #read(position: Position, offset: number, length: number): Promise<Uint8Array> {
    const first = await this.#load(position);
    const { lengthBytes, partBytes } = headOf(position, first);
    checkRange(lengthBytes, offset, length);
    const bytes = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const at = (offset + done) % partBytes;
      const index = (offset + done - at) / partBytes;
      const message = index === 0 ? first : await this.#load(position + index);
      const piece = bodyOf(message).subarray(at, at + length - done);
      if (piece.length === length) return piece;
      bytes.set(piece, done);
      done += piece.length;
    }
    return bytes;
  }

  #load(sequence: Position): Promise<Uint8Array> | Uint8Array {
    const known = this.#cache.get(sequence) ?? this.#loading.get(sequence);
    if (known !== undefined) return known;
    const { explain = async (error) => error } = this.#options;
    const loading = this.#fetch(sequence)
      .catch(async (error) => Promise.reject(await explain(error)))
      .finally(() => this.#loading.delete(sequence));
    this.#loading.set(sequence, loading);
    return loading;
  }

  async #fetch(sequence: Position): Promise<Uint8Array> {
    const { store, spans, chain, fetch } = this.#options;
    const message = await fetch(sequence);
    if (message === undefined) {
      if (!spans.has(sequence)) throw notKept(sequence);
      throw storeDamaged(store, sequence, "the message is missing");
    }
    const head = decodeMessage(message, sequence);
    if (typeof head === "string") throw flawedMessage(store, sequence, head);
    chain.checkAgain(sequence, message);
    if (head.kind === FACTS) this.#cache.put(sequence, message);
    return message;
  }
}

function notKept(position: Position): Error {
  return invalid("position", "a position that is kept", position);
}

/** The head of an intact message at which a batch begins. */
function headOf(position: Position, message: Uint8Array): MessageHead {
  const head = readHead(message);
  if (head.kind === FACTS && head.index === 0) return head;
  throw invalid("position", "a position that append returned", position);
}
