/**
 * Writes frames one after the other into messages. All numbers are little-endian.
 *
 * A message is a view of a block that is never written again, so the sender need not copy it. The
 * next message follows it in the same block.
 *
 * The encodings, which the reader shares:
 *
 * text    a u16 of the bytes and UTF-8; or 0xffff, a u16 of the units and UTF-16 for half a
 *         surrogate pair, which UTF-8 cannot hold and a key may
 * short   the same with a u8 for the bytes, and 0xff before a text: ids and tokens of leases
 * blob    a u32 of the bytes, and the bytes
 * json    a blob of JSON as UTF-8
 */
import { SluiceError } from "../errors.ts";
import { JSON_NAMES_MAX } from "../limits.ts";
import { type JsonBound, JsonCount } from "./json-bound.ts";

export const UTF16 = 0xffff;
export const LONG = 0xff;

/** A kind, the operation and the number of bytes that follow. */
export const HEAD_BYTES = 9;

const BLOCK_BYTES = 1024 * 1024;

/** Characters that are copied one by one; beyond it the native encoder is faster. */
const COPIED_CHARS_MAX = 40;

/** What a frame may have of JSON that is copied unread: five bytes are one name at most. */
const COPIED_LOAD_BYTES = 5 * JSON_NAMES_MAX;

const utf8 = new TextEncoder();

const { Buffer: nodeBuffer } = globalThis as {
  Buffer?: { allocUnsafeSlow(bytes: number): Uint8Array<ArrayBuffer> };
};

/** Node can leave out the zeros: only what was written is ever sent. */
function allocate(bytes: number): Uint8Array<ArrayBuffer> {
  if (nodeBuffer === undefined) return new Uint8Array(bytes);
  return new Uint8Array(nodeBuffer.allocUnsafeSlow(bytes).buffer);
}

export class FrameWriter {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #at = 0;
  /** Where the message begins, and the frame in it. */
  #message = 0;
  #frame = 0;
  /** The bounded JSON of the frame, and what that of the frames before it takes of the bounds. */
  #count: JsonCount | undefined = undefined;
  #loadBefore = 0;

  /** Bytes of the message so far. */
  get size(): number {
    return this.#at - this.#message;
  }

  /** Bytes of the frame so far, its head included. */
  get frameSize(): number {
    return this.#at - this.#frame;
  }

  begin(kind: number, operation: number): void {
    this.room(HEAD_BYTES);
    this.#next();
    this.#bytes[this.#at] = kind;
    this.#view.setUint32(this.#at + 1, operation, true);
    this.#at += HEAD_BYTES;
  }

  end(): void {
    this.#view.setUint32(this.#frame + 5, this.#at - this.#frame - HEAD_BYTES, true);
  }

  /** Forgets the frame that was begun. */
  drop(): void {
    this.#at = this.#frame;
    this.#count = undefined;
  }

  #next(): void {
    this.#frame = this.#at;
    if (this.#count !== undefined) this.#loadBefore += this.#count.load;
    this.#count = undefined;
  }

  /** A frame that was written before, as it is. */
  copy(frame: Uint8Array): void {
    this.#next();
    this.#loadBefore += frame.length / COPIED_LOAD_BYTES;
    this.raw(frame);
  }

  /** The frame that was ended last: a view. */
  frame(): Uint8Array {
    return this.#bytes.subarray(this.#frame, this.#at);
  }

  /** The message: a view. The next one begins behind it. */
  take(): Uint8Array<ArrayBuffer> {
    this.#loadBefore = 0;
    this.#count = undefined;
    return this.#takeTo(this.#at);
  }

  /** More JSON than a message may have, where the frame that was ended last is not all of it. */
  get isOverfull(): boolean {
    if (this.#frame === this.#message) return false;
    return this.#loadBefore + (this.#count?.load ?? 0) > 1;
  }

  /** The message without the frame that was ended last, which begins the next one. */
  takeBefore(): Uint8Array<ArrayBuffer> {
    this.#loadBefore = 0;
    return this.#takeTo(this.#frame);
  }

  #takeTo(end: number): Uint8Array<ArrayBuffer> {
    const message = this.#bytes.subarray(this.#message, end);
    this.#message = end;
    return message;
  }

  u8(value: number): void {
    this.room(1);
    this.#bytes[this.#at++] = value;
  }

  u16(value: number): void {
    this.room(2);
    this.#view.setUint16(this.#at, value, true);
    this.#at += 2;
  }

  u32(value: number): void {
    this.room(4);
    this.#view.setUint32(this.#at, value, true);
    this.#at += 4;
  }

  f64(value: number): void {
    this.room(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  /** Reserves the place of a number that is known later. */
  place(): number {
    this.u32(0);
    return this.#at - 4 - this.#frame;
  }

  setPlace(place: number, value: number): void {
    this.#view.setUint32(this.#frame + place, value, true);
  }

  raw(bytes: Uint8Array): void {
    this.room(bytes.length);
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  blob(bytes: Uint8Array): void {
    this.u32(bytes.length);
    this.raw(bytes);
  }

  text(text: string): void {
    const { length } = text;
    if (length <= COPIED_CHARS_MAX) {
      this.room(2 + length);
      if (this.#ascii(text, this.#at + 2)) {
        this.#view.setUint16(this.#at - length - 2, length, true);
        return;
      }
    }
    if (text.isWellFormed()) this.#utf8(text);
    else this.#utf16(text);
  }

  short(text: string): void {
    const { length } = text;
    this.room(1 + length);
    if (length < LONG && this.#ascii(text, this.#at + 1)) {
      this.#bytes[this.#at - length - 1] = length;
      return;
    }
    this.u8(LONG);
    this.text(text);
  }

  /** A request says what bounds its JSON, and is refused here as it would be at the other end. */
  json(value: unknown, bound?: JsonBound): void {
    const bytes = utf8.encode(JSON.stringify(value));
    if (bound !== undefined) {
      this.#count ??= new JsonCount();
      this.#count.add(bytes, bound);
    }
    this.blob(bytes);
  }

  /** Copies a text to `at` and moves behind it; false when it is not ASCII. */
  #ascii(text: string, at: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      bytes[at + i] = code;
    }
    this.#at = at + text.length;
    return true;
  }

  #utf8(text: string): void {
    const bytes = utf8.encode(text);
    if (bytes.length >= UTF16) throw tooLong(bytes.length);
    this.u16(bytes.length);
    this.raw(bytes);
  }

  #utf16(text: string): void {
    if (text.length > 0xffff) throw tooLong(text.length * 2);
    this.u16(UTF16);
    this.u16(text.length);
    for (let i = 0; i < text.length; i++) this.u16(text.charCodeAt(i));
  }

  /**
   * Continues in a new block when this one lacks room, with the message so far. A caller that knows
   * how much a frame takes asks before the first byte: then there is little to copy.
   */
  room(bytes: number): void {
    if (this.#bytes.length - this.#at >= bytes) return;
    const written = this.#bytes.subarray(this.#message, this.#at);
    const size = Math.max(BLOCK_BYTES, 2 * (written.length + bytes));
    const next = allocate(size);
    next.set(written, 0);
    this.#frame -= this.#message;
    this.#at = written.length;
    this.#message = 0;
    this.#bytes = next;
    this.#view = new DataView(next.buffer);
  }
}

function tooLong(bytes: number): SluiceError {
  const message = `a text must have fewer than ${UTF16} bytes, got ${bytes}`;
  return new SluiceError("INVALID", message, { field: "text", value: bytes });
}
