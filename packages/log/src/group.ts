import { type FrameFields, frameBytes, viewOf, writeFrame } from "./frame.ts";
import { GROUP_BYTES_MAX } from "./limits.ts";
import type { Position } from "./log.ts";
import { HEADER_BYTES, type SegmentHeader, writeHeader } from "./segment.ts";

/** Small groups are the most frequent: a first append of this size needs no growth. */
const BYTES_AT_FIRST = 64 * 1024;

type Resolve = (position: Position) => void;
type Reject = (error: Error) => void;

/** Frames that are written and synced together, gathered while the group before is in flight. */
export class Group {
  readonly start: Position;
  /** Base of the segment that the group is written to. */
  readonly base: Position;
  /** Whether the group's bytes begin with the header of a new segment. */
  readonly beginsSegment: boolean;
  /** Synced also when appends are not: what it says must be durable before what follows from it. */
  mustSync = false;
  lengthBytes = 0;
  #bytes: Buffer;
  #view: DataView;
  readonly #positions: Position[] = [];
  readonly #resolves: Resolve[] = [];
  readonly #rejects: Reject[] = [];

  /** `spare` is the memory of a group that is done. */
  constructor(start: Position, base: Position, header?: SegmentHeader, spare?: Buffer) {
    this.start = start;
    this.base = base;
    this.beginsSegment = header !== undefined;
    this.#bytes = spare ?? Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
    this.#view = viewOf(this.#bytes);
    if (header === undefined) return;
    writeHeader(this.#view, header);
    this.lengthBytes = HEADER_BYTES;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.lengthBytes);
  }

  /** Memory worth keeping for a later group; a huge frame's is not. */
  get spare(): Buffer | undefined {
    return this.#bytes.length <= GROUP_BYTES_MAX ? this.#bytes : undefined;
  }

  hasRoomFor(bytes: number): boolean {
    return this.lengthBytes + bytes <= GROUP_BYTES_MAX;
  }

  /** Answers the frame's checksum. */
  put(fields: FrameFields, body: Uint8Array): number {
    const bytes = frameBytes(body.length);
    this.#reserve(bytes);
    const checksum = writeFrame(this.#bytes, this.#view, this.lengthBytes, fields, body);
    this.lengthBytes += bytes;
    return checksum;
  }

  wait(position: Position): Promise<Position> {
    this.#positions.push(position);
    return new Promise((resolve, reject) => {
      this.#resolves.push(resolve);
      this.#rejects.push(reject);
    });
  }

  confirm(): void {
    for (const [index, resolve] of this.#resolves.entries()) resolve(this.#positions[index]!);
  }

  refuse(error: Error): void {
    for (const reject of this.#rejects) reject(error);
  }

  #reserve(bytes: number): void {
    const wanted = this.lengthBytes + bytes;
    if (wanted <= this.#bytes.length) return;
    const doubled = Math.min(GROUP_BYTES_MAX, this.#bytes.length * 2);
    const grown = Buffer.allocUnsafeSlow(Math.max(doubled, wanted));
    grown.set(this.bytes);
    this.#bytes = grown;
    this.#view = viewOf(grown);
  }
}
