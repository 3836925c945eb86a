/**
 * Reads what a `ByteWriter` wrote; the encodings are described there.
 *
 * The bytes come from a disk and are not trusted. Nothing is read beyond their end, nothing is made
 * by a length that was not held against it, and whatever is wrong with them is one of two errors:
 * `LOG_DAMAGED` for what no version writes, `LOG_VERSION` for what a later one may.
 */
import { isUtf8 } from "node:buffer";
import { SluiceError } from "@sluice/protocol";
import { NameCache } from "@sluice/protocol/wire";
import { ESCAPE } from "./byte-writer.ts";

/** The part of a varint that integer arithmetic handles, and the most that may be above it. */
const LOW = 2 ** 28;
const HIGH_MAX = 2 ** 25 - 1;

/** Bytes up to which a loop that looks for ASCII is as cheap as `isUtf8` with its view: 65 ns. */
const SHORT_BYTES_MAX = 64;

const names = new NameCache();

export class ByteReader {
  readonly bytes: Uint8Array;
  /** The next byte. */
  at = 0;
  /** The same bytes, always of one class, so that the engine of JavaScript compiles for one. */
  readonly #buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.at === this.#buffer.length;
  }

  u8(): number {
    const at = this.at;
    if (at >= this.#buffer.length) throw this.damaged("cut off");
    this.at = at + 1;
    return this.#buffer[at]!;
  }

  varint(): number {
    const first = this.u8();
    return first < 0x80 ? first : this.#varintFrom(first);
  }

  number(): number {
    const first = this.u8();
    if (first < 0x80) return first;
    return first === ESCAPE && this.#isEscape() ? this.f64() : this.#varintFrom(first);
  }

  time(base: number): number {
    const first = this.u8();
    if (first === ESCAPE && this.#isEscape()) return this.f64();
    const zigzag = first < 0x80 ? first : this.#varintFrom(first);
    return zigzag % 2 === 0 ? base + zigzag / 2 : base - (zigzag + 1) / 2;
  }

  text(): string {
    const first = this.u8();
    if (first === ESCAPE && this.#isEscape()) return this.#utf16();
    const length = this.#fits(first < 0x80 ? first : this.#varintFrom(first));
    return this.#utf8(length);
  }

  /** A text that many facts have: it comes from a cache and is not made each time. */
  name(): string {
    const at = this.at;
    const length = this.u8();
    if (length < 0x80) {
      this.#fits(length);
      const known = names.find(this.#buffer, this.at, length);
      if (known !== undefined) {
        this.at += length;
        return known;
      }
    }
    this.at = at;
    return names.keep(this.text());
  }

  names(): string[] {
    const count = this.varint();
    const texts: string[] = [];
    // Each has a byte at least: a count that is not true ends at the end of the bytes.
    for (let i = 0; i < count; i++) texts.push(this.name());
    return texts;
  }

  /** A view of the bytes, not a copy. */
  raw(length: number): Uint8Array {
    const { buffer, byteOffset } = this.#buffer;
    const view = new Uint8Array(buffer, byteOffset + this.at, this.#fits(length));
    this.at += length;
    return view;
  }

  /** A number of four bytes. */
  u32(): number {
    const at = this.at;
    this.at += this.#fits(4);
    return this.#buffer.readUInt32LE(at);
  }

  skip(length: number): void {
    this.at += this.#fits(length);
  }

  /** A view of bytes that were written with their number. */
  blob(): Uint8Array {
    return this.raw(this.varint());
  }

  json(): unknown {
    const at = this.at;
    const text = this.text();
    try {
      return JSON.parse(text);
    } catch (cause) {
      this.at = at;
      throw this.damaged("a text that is not JSON", cause);
    }
  }

  /** JSON of an object with fields. */
  object(): object {
    const value = this.json();
    if (typeof value !== "object" || value === null)
      throw this.damaged("JSON that is not an object");
    return value;
  }

  f64(): number {
    const at = this.at;
    this.at += this.#fits(8);
    return this.#buffer.readDoubleLE(at);
  }

  /** Bits of which only those in `known` may be set. */
  flags(known: number): number {
    const flags = this.varint();
    if (flags > 0x7fff_ffff || (flags & ~known) !== 0) throw this.newer(`flags ${flags}`);
    return flags;
  }

  isTrue(): boolean {
    return this.flags(1) === 1;
  }

  /** The bytes are not what any version has written. */
  damaged(what: string, cause?: unknown): SluiceError {
    const message = `the log is damaged: ${what} at byte ${this.at}`;
    return new SluiceError("LOG_DAMAGED", message, { offset: this.at }, { cause });
  }

  /** A later version may have written this. */
  newer(what: string): SluiceError {
    const message = `the log has ${what} before byte ${this.at}, unknown to this version`;
    return new SluiceError("LOG_VERSION", message, { offset: this.at });
  }

  #varintFrom(first: number): number {
    let low = first & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      const byte = this.u8();
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return this.#ended(byte, low);
    }
    let high = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.u8();
      high |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (high > HIGH_MAX) break;
      return this.#ended(byte, high * LOW + low);
    }
    throw this.damaged("a number above 2^53");
  }

  #ended(lastByte: number, value: number): number {
    if (lastByte === 0) throw this.damaged("a number with bytes to spare");
    return value;
  }

  /** Steps over the second byte of the escape, if it is one. */
  #isEscape(): boolean {
    if (this.at >= this.#buffer.length || this.#buffer[this.at] !== 0) return false;
    this.at++;
    return true;
  }

  #fits(length: number): number {
    if (length > this.#buffer.length - this.at) throw this.damaged("cut off");
    return length;
  }

  #utf8(length: number): string {
    const buffer = this.#buffer;
    const at = this.at;
    if (length <= SHORT_BYTES_MAX && isAscii(buffer, at, length)) {
      this.at = at + length;
      return buffer.toString("latin1", at, at + length);
    }
    if (!isUtf8(this.raw(length))) {
      this.at = at;
      throw this.damaged("a text that is not UTF-8");
    }
    return buffer.toString("utf8", at, at + length);
  }

  #utf16(): string {
    const length = this.varint();
    if (length % 2 !== 0) throw this.damaged("half a UTF-16 unit");
    const at = this.at;
    this.at += this.#fits(length);
    return this.#buffer.toString("utf16le", at, at + length);
  }
}

function isAscii(bytes: Uint8Array, at: number, length: number): boolean {
  for (let i = at; i < at + length; i++) if (bytes[i]! > 0x7f) return false;
  return true;
}
