/**
 * Bencoding, strict. The decoder is iterative and bounded, refuses what has two spellings (leading
 * zeros, `i-0e`), lengths that reach beyond the text, duplicate keys and anything after the end.
 * Keys of dictionaries are bytes, one per character, in a Map: no key can reach a prototype. Keys
 * out of order are taken, for trackers in the wild send them.
 */
import { BENCODE_BYTES_MAX, BENCODE_DEPTH_MAX } from "../limits.ts";

export type Bencoded = number | bigint | Buffer | Bencoded[] | Map<string, Bencoded>;

/** What can be written; a string is written as its bytes, one per character. */
export type Bencodable =
  | number
  | bigint
  | string
  | Uint8Array
  | readonly Bencodable[]
  | ReadonlyMap<string, Bencodable>;

export class BencodeError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(`${message} at byte ${offset}`);
    this.name = "BencodeError";
    this.offset = offset;
  }
}

const INTEGER_MAX = 2n ** 64n - 1n;
const INTEGER_MIN = -(2n ** 63n);
/** Digits and sign of the longest integer of 64 bits. */
const INTEGER_CHARS_MAX = 20;
const LENGTH_CHARS_MAX = 7;

const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_D = 0x64;
const LETTER_E = 0x65;
const LETTER_I = 0x69;
const LETTER_L = 0x6c;

type Open = { list: Bencoded[] } | { map: Map<string, Bencoded>; key: string | undefined };

export function decode(bytes: Buffer): Bencoded {
  return new Decoder(bytes).decode();
}

class Decoder {
  readonly #bytes: Buffer;
  readonly #open: Open[] = [];
  #at = 0;

  constructor(bytes: Buffer) {
    if (bytes.length > BENCODE_BYTES_MAX) {
      throw new BencodeError(`${bytes.length} bytes are more than ${BENCODE_BYTES_MAX}`, 0);
    }
    this.#bytes = bytes;
  }

  decode(): Bencoded {
    for (;;) {
      const whole = this.#step();
      if (whole === undefined) continue;
      if (this.#at !== this.#bytes.length) throw this.#error("something follows the end");
      return whole;
    }
  }

  /** Reads one token; answers the value when it was the last. */
  #step(): Bencoded | undefined {
    const byte = this.#bytes[this.#at];
    if (byte === LETTER_E) return this.#close();
    const top = this.#open.at(-1);
    if (top !== undefined && "map" in top && top.key === undefined) {
      const key = this.#string().toString("latin1");
      if (top.map.has(key)) throw this.#error(`the key ${JSON.stringify(key)} comes twice`);
      top.key = key;
      return undefined;
    }
    if (byte === LETTER_I) return this.#put(this.#integer());
    if (byte === LETTER_L) return this.#begin({ list: [] });
    if (byte === LETTER_D) return this.#begin({ map: new Map(), key: undefined });
    return this.#put(this.#string());
  }

  #begin(open: Open): undefined {
    if (this.#open.length === BENCODE_DEPTH_MAX) {
      throw this.#error(`nested deeper than ${BENCODE_DEPTH_MAX}`);
    }
    this.#open.push(open);
    this.#at++;
    return undefined;
  }

  #close(): Bencoded | undefined {
    const top = this.#open.pop();
    if (top === undefined) throw this.#error("an end without a beginning");
    if ("list" in top) {
      this.#at++;
      return this.#put(top.list);
    }
    if (top.key !== undefined) throw this.#error("a key without a value");
    this.#at++;
    return this.#put(top.map);
  }

  #put(value: Bencoded): Bencoded | undefined {
    const top = this.#open.at(-1);
    if (top === undefined) return value;
    if ("list" in top) top.list.push(value);
    else {
      top.map.set(top.key!, value);
      top.key = undefined;
    }
    return undefined;
  }

  #integer(): number | bigint {
    const start = this.#at + 1;
    const end = this.#bytes.indexOf(LETTER_E, start);
    if (end === -1 || end - start > INTEGER_CHARS_MAX) throw this.#error("an integer without end");
    const text = this.#bytes.toString("latin1", start, end);
    if (!/^(?:0|-?[1-9][0-9]*)$/.test(text)) throw this.#error(`"${text}" is not an integer`);
    const value = BigInt(text);
    if (value > INTEGER_MAX || value < INTEGER_MIN) throw this.#error(`${text} exceeds 64 bits`);
    this.#at = end + 1;
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }

  #string(): Buffer {
    const bytes = this.#bytes;
    const start = this.#at;
    let at = start;
    let length = 0;
    for (; at - start < LENGTH_CHARS_MAX + 1; at++) {
      const byte = bytes[at];
      if (byte === undefined || byte < ZERO || byte > NINE) break;
      length = length * 10 + byte - ZERO;
    }
    if (at === start || bytes[at] !== COLON) throw this.#error("expected a value");
    if (bytes[start] === ZERO && at - start > 1) throw this.#error("a length with a leading zero");
    const end = at + 1 + length;
    if (end > bytes.length) throw this.#error(`a string of ${length} bytes ends too early`);
    this.#at = end;
    return bytes.subarray(at + 1, end);
  }

  #error(message: string): BencodeError {
    return new BencodeError(message, this.#at);
  }
}

export function encode(value: Bencodable): Buffer {
  const parts: Buffer[] = [];
  write(value, parts, 0);
  return Buffer.concat(parts);
}

/** Depth is bounded by what we write ourselves; beyond it is a bug of ours. */
function write(value: Bencodable, parts: Buffer[], depth: number): void {
  if (depth > BENCODE_DEPTH_MAX) throw new BencodeError("nested too deep to be written", 0);
  if (typeof value === "number" || typeof value === "bigint") {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new BencodeError(`${value} is not an integer`, 0);
    }
    parts.push(Buffer.from(`i${value}e`, "latin1"));
  } else if (typeof value === "string") {
    parts.push(Buffer.from(`${value.length}:${value}`, "latin1"));
  } else if (value instanceof Uint8Array) {
    parts.push(Buffer.from(`${value.length}:`, "latin1"), value as Buffer);
  } else if (value instanceof Map) {
    parts.push(DICTIONARY);
    // Characters are bytes here, so this is the order of the raw bytes.
    for (const key of [...value.keys()].sort()) {
      write(key, parts, depth + 1);
      write(value.get(key)!, parts, depth + 1);
    }
    parts.push(END);
  } else {
    parts.push(LIST);
    for (const item of value as readonly Bencodable[]) write(item, parts, depth + 1);
    parts.push(END);
  }
}

const DICTIONARY = Buffer.from("d");
const LIST = Buffer.from("l");
const END = Buffer.from("e");

/** The whole number under a key, or undefined when it is none. */
export function numberAt(map: ReadonlyMap<string, Bencoded>, key: string): number | undefined {
  const value = map.get(key);
  return typeof value === "number" ? value : undefined;
}

/** The bytes under a key, or undefined when they are none. */
export function bytesAt(map: ReadonlyMap<string, Bencoded>, key: string): Buffer | undefined {
  const value = map.get(key);
  return Buffer.isBuffer(value) ? value : undefined;
}
