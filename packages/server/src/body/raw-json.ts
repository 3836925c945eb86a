/** A JSON value as the bytes that were sent: valid, and never parsed here. */
export class RawJson {
  readonly bytes: Uint8Array;
  /** Levels of nested lists and objects. */
  readonly depth: number;

  constructor(bytes: Uint8Array, depth: number) {
    this.bytes = bytes;
    this.depth = depth;
  }
}
