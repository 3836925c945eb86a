/**
 * Reads what a `FrameWriter` wrote; the encodings are described there.
 *
 * The bytes come from a network and are not trusted. Nothing is read beyond the end of a frame,
 * nothing is made by a length or a count that was not held against what is left, and whatever is
 * wrong is one typed error.
 */
import { checkDepth, type JsonBound, JsonCount } from "./json-bound.ts";
import { NameCache } from "./name-cache.ts";
import { malformed } from "./refuse.ts";
import { HEAD_BYTES, LONG, UTF16 } from "./writer.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const names = new NameCache();

/** Characters that are taken four by four; 9 took 55 ns so and 150 ns by the native decoder. */
const COPIED_BYTES_MAX = 64;

export class FrameReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  /** Where the frame ends. */
  #end = 0;
  /** The bounded JSON of the message. */
  #count: JsonCount | undefined = undefined;
  readonly #isTrusted: boolean;
  kind = 0;
  operation = 0;

  /** The JSON of a sender that is trusted is not bounded. */
  constructor(message: Uint8Array, { isTrusted = false } = {}) {
    this.#bytes = message;
    this.#isTrusted = isTrusted;
    this.#view = new DataView(message.buffer, message.byteOffset, message.length);
  }

  /** Goes to the next frame; false at the end of the message. */
  next(): boolean {
    this.#at = this.#end;
    if (this.#at === this.#bytes.length) return false;
    this.#end = this.#bytes.length;
    this.kind = this.u8();
    this.operation = this.u32();
    const length = this.u32();
    if (length > this.left) throw malformed(`a body of ${length} bytes in ${this.left}`, this.#at);
    this.#end = this.#at + length;
    return true;
  }

  /** The whole frame, its head included: a view. */
  get frameBytes(): number {
    return this.#end - this.#at + HEAD_BYTES;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  /** Leaves the rest of the frame unread. */
  skip(): void {
    this.#at = this.#end;
  }

  /** Holds that all of the frame was read. */
  done(): void {
    if (this.left !== 0) throw malformed(`${this.left} bytes too many`, this.#at);
  }

  u8(): number {
    this.#need(1);
    return this.#bytes[this.#at++]!;
  }

  u16(): number {
    this.#need(2);
    const value = this.#view.getUint16(this.#at, true);
    this.#at += 2;
    return value;
  }

  u32(): number {
    this.#need(4);
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  f64(): number {
    this.#need(8);
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  /** Bits of which only those in `known` may be set. */
  flags(known: number): number {
    const flags = this.u8();
    if ((flags & ~known) !== 0) throw malformed(`unknown flags ${flags}`, this.#at - 1);
    return flags;
  }

  /** A number of items, each of which has at least `bytesMin` bytes. */
  count(max: number, bytesMin: number): number {
    const count = this.u32();
    if (count > max) throw malformed(`${count} items, at most ${max} are allowed`, this.#at - 4);
    if (count * bytesMin > this.left) {
      throw malformed(`${count} items in ${this.left} bytes`, this.#at - 4);
    }
    return count;
  }

  /** A view of the message, not a copy. */
  raw(length: number): Uint8Array {
    this.#need(length);
    const at = this.#at;
    this.#at = at + length;
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + at, length);
  }

  blob(): Uint8Array {
    return this.raw(this.u32());
  }

  text(): string {
    const length = this.u16();
    return length === UTF16 ? this.#utf16() : this.#utf8(length);
  }

  short(): string {
    const length = this.u8();
    return length === LONG ? this.text() : this.#utf8(length);
  }

  /** A text that many jobs share: it comes from a cache and is not made each time. */
  name(): string {
    const length = this.u16();
    if (length === UTF16) return this.#utf16();
    this.#need(length);
    const known = names.find(this.#bytes, this.#at, length);
    if (known === undefined) return names.keep(this.#utf8(length));
    this.#at += length;
    return known;
  }

  /** A request says what bounds its JSON; an answer is as long as its frame. */
  json(bound?: JsonBound): unknown {
    const at = this.#at;
    const bytes = this.blob();
    if (bound === undefined || this.#isTrusted) checkDepth(bytes);
    else {
      this.#count ??= new JsonCount();
      this.#count.add(bytes, bound);
    }
    try {
      return JSON.parse(utf8.decode(bytes));
    } catch {
      throw malformed("a text that is not JSON", at);
    }
  }

  /** JSON of an object with fields. */
  object(bound?: JsonBound): Record<string, unknown> {
    const at = this.#at;
    const value = this.json(bound);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw malformed("JSON that is not an object", at);
    }
    return value as Record<string, unknown>;
  }

  fail(what: string): never {
    throw malformed(what, this.#at);
  }

  #need(bytes: number): void {
    if (bytes > this.#end - this.#at) throw malformed("cut off", this.#at);
  }

  #utf8(length: number): string {
    this.#need(length);
    const at = this.#at;
    this.#at = at + length;
    const bytes = this.#bytes;
    if (length <= COPIED_BYTES_MAX && isAscii(bytes, at, length)) return ascii(bytes, at, length);
    try {
      return utf8.decode(bytes.subarray(at, at + length));
    } catch {
      throw malformed("a text that is not UTF-8", at);
    }
  }

  #utf16(): string {
    const length = this.u16();
    this.#need(length * 2);
    let text = "";
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.u16());
    return text;
  }
}

function isAscii(bytes: Uint8Array, at: number, length: number): boolean {
  for (let i = at; i < at + length; i++) if (bytes[i]! > 0x7f) return false;
  return true;
}

/**
 * Texts are joined from pieces only while the engine copies them. From 13 characters on it would
 * keep the pieces and join them at the first look, which took twice as long for a lease's token.
 */
const JOINED_CHARS_MAX = 12;
const PIECE_CHARS = 24;

function ascii(bytes: Uint8Array, from: number, length: number): string {
  if (length > JOINED_CHARS_MAX && length <= PIECE_CHARS) return inOnePiece(bytes, from, length);
  const end = from + length;
  let text = "";
  let at = from;
  for (; at + 4 <= end; at += 4) {
    text += String.fromCharCode(bytes[at]!, bytes[at + 1]!, bytes[at + 2]!, bytes[at + 3]!);
  }
  for (; at < end; at++) text += String.fromCharCode(bytes[at]!);
  return text;
}

/** Bytes beyond the end of the text, or of all bytes, are cut off again. */
function inOnePiece(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(
    bytes[at]!,
    bytes[at + 1]!,
    bytes[at + 2]!,
    bytes[at + 3]!,
    bytes[at + 4]!,
    bytes[at + 5]!,
    bytes[at + 6]!,
    bytes[at + 7]!,
    bytes[at + 8]!,
    bytes[at + 9]!,
    bytes[at + 10]!,
    bytes[at + 11]!,
    bytes[at + 12]!,
    bytes[at + 13]!,
    bytes[at + 14]!,
    bytes[at + 15]!,
    bytes[at + 16]!,
    bytes[at + 17]!,
    bytes[at + 18]!,
    bytes[at + 19]!,
    bytes[at + 20]!,
    bytes[at + 21]!,
    bytes[at + 22]!,
    bytes[at + 23]!,
  ).slice(0, length);
}
