import type { SluiceError } from "@sluice/protocol";
import type { Batch, Position } from "../log.ts";
import { Chain } from "./chain.ts";
import { flawedMessage, type MessageStore, storeDamaged } from "./damage.ts";
import {
  BREAK,
  bodyOf,
  decodeMessage,
  FACTS,
  FENCE,
  type MessageHead,
  partsOf,
} from "./message.ts";

interface Unfinished {
  readonly head: MessageHead;
  readonly parts: Uint8Array[];
}

/**
 * Puts batches together again from the messages of a stream, which come in order and without a gap.
 * Any message of another writer ends what an owner may write: of its own messages one has not found
 * its place, so those behind it were never confirmed and are passed over. So is a batch of which
 * only the first parts stand before. All else that does not chain is damage: a batch whose chain is
 * that of another history, and one whose owner's fence is not there as a whole, since an owner
 * writes nothing before its fence is stored.
 */
export class BatchReader {
  readonly #store: MessageStore;
  /** Where the owner of that time began, or was ended; undefined: nothing was read yet. */
  #fence: Position | undefined;
  /** How many messages of its fence were found. */
  #found = 0;
  /** Fences that were found whole. */
  readonly #whole = new Set<Position>();
  #first: Position | undefined;
  #unfinished: Unfinished | undefined;
  readonly chain: Chain;
  /** Messages that were skipped. */
  skipped = 0;
  /** Messages of the batch that was answered last. */
  lastParts = 0;

  constructor(store: MessageStore) {
    this.#store = store;
    this.chain = new Chain(store);
  }

  /** Answers the batch that the message completes. */
  take(sequence: Position, message: Uint8Array): Batch | undefined {
    const head = decodeMessage(message, sequence);
    if (typeof head === "string") throw flawedMessage(this.#store, sequence, head);
    this.#first ??= sequence;
    const batch = this.#read(sequence, head, message);
    this.chain.add(sequence, message);
    return batch;
  }

  #read(sequence: Position, head: MessageHead, message: Uint8Array): Batch | undefined {
    if (head.kind === BREAK) return this.#passFence(sequence);
    if (head.kind === FENCE) return this.#takeFence(sequence, head);
    this.#fence ??= head.fence;
    if (head.fence > this.#fence) throw this.#damaged(sequence, "the fence before it is missing");
    if (head.fence >= this.#first! && !this.#whole.has(head.fence)) {
      throw this.#damaged(sequence, "the fence of its owner is not whole");
    }
    if (head.fence < this.#fence) return this.#skip();
    this.chain.check(sequence, head.chain);
    if (head.kind === FACTS) return this.#takePart(sequence, head, bodyOf(message));
    if (this.#unfinished !== undefined) throw this.#damaged(sequence, "a part is missing");
    return undefined;
  }

  #takeFence(sequence: Position, { fence, index, partBytes }: MessageHead): undefined {
    if (fence !== this.#fence) this.#passFence(sequence);
    if (index === this.#found) this.#found++;
    if (this.#found === Math.max(partBytes, 1)) this.#whole.add(fence);
    return undefined;
  }

  #passFence(sequence: Position): undefined {
    this.#fence = sequence;
    this.#found = 0;
    this.skipped += this.#unfinished?.parts.length ?? 0;
    this.#unfinished = undefined;
    return undefined;
  }

  #skip(): undefined {
    this.skipped++;
    return undefined;
  }

  #takePart(sequence: Position, head: MessageHead, body: Uint8Array): Batch | undefined {
    const begun = this.#unfinished;
    const { index, position, lengthBytes } = head;
    if (index !== (begun?.parts.length ?? 0)) {
      // What a trim has left begins with a whole batch, so its first part cannot be older.
      throw this.#damaged(sequence, "a part is missing");
    }
    if (begun !== undefined && (begun.head.position !== position || differs(begun.head, head))) {
      throw this.#damaged(sequence, "a part belongs to another batch");
    }
    const parts = begun?.parts ?? [];
    if (index + 1 < partsOf(head)) {
      parts.push(body);
      this.#unfinished = { head, parts };
      return undefined;
    }
    this.#unfinished = undefined;
    this.lastParts = parts.length + 1;
    if (parts.length === 0) return { position, facts: body };
    return { position, facts: Buffer.concat([...parts, body], lengthBytes) };
  }

  #damaged(sequence: Position, what: string): SluiceError {
    return storeDamaged(this.#store, sequence, what);
  }
}

function differs(one: MessageHead, other: MessageHead): boolean {
  return one.lengthBytes !== other.lengthBytes || one.partBytes !== other.partBytes;
}
