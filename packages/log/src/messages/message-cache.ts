import type { Position } from "../log.ts";

/** Messages that were read and found intact, the first in leave first, half of them at once. */
export class MessageCache {
  readonly #bytesMax: number;
  #young = new Map<Position, Uint8Array>();
  #old = new Map<Position, Uint8Array>();
  #youngBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(sequence: Position): Uint8Array | undefined {
    return this.#young.get(sequence) ?? this.#old.get(sequence);
  }

  put(sequence: Position, message: Uint8Array): void {
    if (this.get(sequence) !== undefined) return;
    this.#young.set(sequence, message);
    this.#youngBytes += message.length;
    if (this.#youngBytes <= this.#bytesMax / 2) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}
