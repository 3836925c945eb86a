/**
 * Room for byte strings of up to 128 KiB, in chunks that are allocated as needed and never moved.
 *
 * An address counts 4-byte words: the chunk in its upper 16 bits, the word in its lower 16. Blocks
 * come in classes, steps of 8 bytes up to 64, then powers of two and the halves between (96, 128,
 * 192, ...): at most a third is lost to rounding, and 7 bytes of a short key. A freed block waits
 * in the list of its class, linked through its first word, and is never joined with its neighbours:
 * the memory held is the sum of the most that each class ever needed at once.
 */

/** Words per chunk, as a shift: 256 KiB, allocated in well under 0.1 ms. */
const CHUNK_SHIFT = 16;
const CHUNK_WORDS = 1 << CHUNK_SHIFT;
export const ARENA_MASK = CHUNK_WORDS - 1;

/** 8 classes of up to 64 bytes, then two for each doubling up to 131,072. */
const CLASSES = 30;

export class Arena {
  readonly #chunks: Int32Array[] = [];
  /** Address of the first free block of each class, or 0. */
  readonly #free = new Int32Array(CLASSES);
  /** The unused rest of the last chunk, as addresses. */
  #next = 0;
  #end = 0;

  constructor() {
    this.#grow();
    // Address 0 means "none", so the first chunk starts one smallest block later.
    this.#next = 2;
  }

  get bytes(): number {
    return this.#chunks.length * CHUNK_WORDS * 4;
  }

  /** The chunk of an address; its words start at `address & ARENA_MASK`. */
  chunkOf(address: number): Int32Array {
    return this.#chunks[address >>> CHUNK_SHIFT]!;
  }

  /** A block of at least so many bytes, with anything in it. */
  alloc(bytes: number): number {
    const size = classOf(bytes);
    const address = this.#free[size]!;
    if (address !== 0) {
      this.#free[size] = this.chunkOf(address)[address & ARENA_MASK]!;
      return address;
    }
    const words = wordsOf(size);
    if (this.#next + words > this.#end) {
      this.#giveAwayRest();
      this.#grow();
    }
    const fresh = this.#next;
    this.#next += words;
    return fresh | 0;
  }

  /** `bytes` as it was given to `alloc`. */
  free(address: number, bytes: number): void {
    this.#release(address, classOf(bytes));
  }

  #release(address: number, size: number): void {
    this.chunkOf(address)[address & ARENA_MASK] = this.#free[size]!;
    this.#free[size] = address;
  }

  /** What is left of the last chunk goes to the free lists, the largest blocks first. */
  #giveAwayRest(): void {
    for (let size = CLASSES - 1; size >= 0; size--) {
      const words = wordsOf(size);
      for (; this.#next + words <= this.#end; this.#next += words) this.#release(this.#next, size);
    }
  }

  #grow(): void {
    this.#next = this.#chunks.length * CHUNK_WORDS;
    this.#end = this.#next + CHUNK_WORDS;
    this.#chunks.push(new Int32Array(CHUNK_WORDS));
  }
}

function classOf(bytes: number): number {
  if (bytes <= 64) return bytes === 0 ? 0 : (bytes - 1) >>> 3;
  const last = bytes - 1;
  const power = 31 - Math.clz32(last);
  return 8 + (power - 6) * 2 + ((last >>> (power - 1)) & 1);
}

function wordsOf(size: number): number {
  if (size < 8) return (size + 1) * 2;
  return (3 + (size & 1)) << (3 + ((size - 8) >>> 1));
}
