import type { Position } from "../log.ts";

const CHUNK = 4096;

/**
 * The checksum of each message that was replayed or stored, 4 bytes a message, so that a message
 * that is read again is the one that was there before.
 */
export class Checksums {
  readonly #chunks = new Map<number, Uint32Array>();

  get(sequence: Position): number | undefined {
    return this.#chunks.get(Math.floor(sequence / CHUNK))?.[sequence % CHUNK];
  }

  put(sequence: Position, checksum: number): void {
    const index = Math.floor(sequence / CHUNK);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = new Uint32Array(CHUNK);
      this.#chunks.set(index, chunk);
    }
    chunk[sequence % CHUNK] = checksum;
  }

  /** Whole chunks only: what is left costs little. */
  forget(before: Position): void {
    for (const index of this.#chunks.keys()) {
      if ((index + 1) * CHUNK > before) break;
      this.#chunks.delete(index);
    }
  }
}
