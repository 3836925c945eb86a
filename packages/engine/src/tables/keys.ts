/**
 * Gives each (prefix, key) a small number, and finds it again: lane keys, gate names, dedupe keys.
 *
 * A key is kept as bytes, never as the caller's string: that may be a slice of a whole request,
 * which it would keep alive. Keys without a unit above 255 take one byte for each unit, all others
 * two. So every JavaScript string comes back as it was, half a surrogate pair too; WTF-8, which
 * does that as well, took 200 ns to find a key of 20 bytes that are not ASCII, this takes 60.
 */
import { ARENA_MASK, Arena } from "./arena.ts";
import { Buckets } from "./buckets.ts";
import { Table } from "./table.ts";

/** Enough for every key of 64 KiB in UTF-8; at two bytes each, the largest block of the arena. */
const KEY_UNITS_MAX = 65536;

/** Units made into a string at a time: they are passed as arguments, on the stack. */
const UNITS_MAX = 4096;

// Fields of an entry: half a cache line.
const HASH = 0;
const NEXT = 1;
const PREFIX = 2;
/** Length and width of the key, see `encode`; never 0 in an entry that is in use. */
const FORM = 3;
/** What the table's owner keeps with the key. */
const VALUE = 4;
/**
 * The words of a short key, or the address of a longer one in the arena: a short one, among a
 * million, is found with one cache miss less.
 */
const KEY = 5;
const KEY_WORDS = 3;
const INTS = 8;

export class KeyTable {
  readonly #entries = new Table(INTS);
  readonly #buckets = new Buckets(this.#entries, NEXT);
  readonly #arena = new Arena();
  readonly #secret: number;
  readonly #factor: number;
  /** The key in hand. */
  readonly #words = new Int32Array(KEY_UNITS_MAX / 2);

  /**
   * The seed is drawn outside, at random where keys come from strangers: without it they cannot
   * work out keys that all fall into one bucket. What the table answers does not depend on it.
   */
  constructor(seed = 0) {
    this.#secret = finish(seed | 0);
    this.#factor = finish((seed / 2 ** 32) ^ 0x5bd1e995) | 1;
  }

  /** Many keys are to come. */
  reserve(): void {
    this.#entries.reserve();
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Buckets in use: what growth costs is how far one call moves this. */
  get buckets(): number {
    return this.#buckets.count;
  }

  /** Memory held, used or not. */
  get bytes(): number {
    return this.#entries.bytes + this.#buckets.bytes + this.#arena.bytes + this.#words.byteLength;
  }

  /** The entry of this key, or 0. */
  find(prefix: number, key: string): number {
    const form = encode(key, this.#words);
    return form < 0 ? 0 : this.#search(prefix, form, this.#hash(prefix, form));
  }

  /** The entry of this key, made if there is none. */
  intern(prefix: number, key: string): number {
    const form = encode(key, this.#words);
    if (form < 0) throw new Error(`a key may have ${KEY_UNITS_MAX} units at most`);
    const hash = this.#hash(prefix, form);
    const found = this.#search(prefix, form, hash);
    return found === 0 ? this.#create(prefix, form, hash) : found;
  }

  remove(entry: number): void {
    const chunk = this.#entries.i;
    const at = this.#inUse(entry);
    this.#buckets.remove(chunk[at + HASH]!, entry);
    const form = chunk[at + FORM]!;
    if (wordsOf(form) > KEY_WORDS) this.#arena.free(chunk[at + KEY]!, bytesOf(form));
    this.#entries.free(entry);
  }

  keyOf(entry: number): string {
    const chunk = this.#entries.i;
    const at = this.#inUse(entry);
    const form = chunk[at + FORM]!;
    if (wordsOf(form) <= KEY_WORDS) return decode(chunk, at + KEY, form);
    const address = chunk[at + KEY]!;
    return decode(this.#arena.chunkOf(address), address & ARENA_MASK, form);
  }

  /** What was kept with the entry last; 0 for a new one. */
  valueOf(entry: number): number {
    return this.#entries.i[entry * INTS + VALUE]!;
  }

  setValue(entry: number, value: number): void {
    this.#entries.i[entry * INTS + VALUE] = value;
  }

  prefixOf(entry: number): number {
    return this.#entries.i[this.#inUse(entry) + PREFIX]!;
  }

  /** Where the entry's fields start in its chunk. */
  #inUse(entry: number): number {
    const at = entry * INTS;
    if (!this.#entries.i[at + FORM]) throw new Error(`no entry ${entry}`);
    return at;
  }

  #search(prefix: number, form: number, hash: number): number {
    const entries = this.#entries;
    const buckets = this.#buckets;
    let entry = buckets.first(hash);
    while (entry !== 0) {
      const chunk = entries.i;
      const at = entry * INTS;
      const alike =
        chunk[at + HASH] === hash && chunk[at + PREFIX] === prefix && chunk[at + FORM] === form;
      if (alike && this.#sameKey(at + KEY, form)) return entry;
      entry = buckets.next(entry);
    }
    return 0;
  }

  /** Whether the key in hand is the one that an entry holds in its field at `at`. */
  #sameKey(at: number, form: number): boolean {
    const chunk = this.#entries.i;
    if (wordsOf(form) <= KEY_WORDS) return this.#sameWords(chunk, at, form);
    const address = chunk[at]!;
    return this.#sameWords(this.#arena.chunkOf(address), address & ARENA_MASK, form);
  }

  #sameWords(chunk: Int32Array, from: number, form: number): boolean {
    const words = this.#words;
    const count = wordsOf(form);
    for (let word = 0, at = from; word < count; word++, at++) {
      if (chunk[at] !== words[word]) return false;
    }
    return true;
  }

  #create(prefix: number, form: number, hash: number): number {
    const entry = this.#entries.alloc();
    const chunk = this.#entries.i;
    const at = entry * INTS;
    chunk[at + HASH] = hash;
    chunk[at + PREFIX] = prefix;
    chunk[at + FORM] = form;
    this.#store(at + KEY, form);
    const buckets = this.#buckets;
    buckets.add(hash, entry);
    let moved = buckets.split();
    while (moved !== 0) {
      const next = buckets.next(moved);
      buckets.place(this.#entries.i[moved * INTS + HASH]!, moved);
      moved = next;
    }
    return entry;
  }

  #store(field: number, form: number): void {
    const words = this.#words;
    const count = wordsOf(form);
    let chunk = this.#entries.i;
    let at = field;
    if (count > KEY_WORDS) {
      const address = this.#arena.alloc(bytesOf(form));
      chunk[field] = address;
      chunk = this.#arena.chunkOf(address);
      at = address & ARENA_MASK;
    }
    for (let word = 0; word < count; word++, at++) chunk[at] = words[word]!;
  }

  /**
   * MurmurHash3 with a secret in each word and a secret factor: the plain one has collisions that
   * no seed parts. HalfSipHash-1-3 would be safer still, at 48 ns against 30 for 16 bytes.
   */
  #hash(prefix: number, form: number): number {
    const words = this.#words;
    const secret = this.#secret;
    const factor = this.#factor;
    const count = wordsOf(form);
    let hash = finish(prefix ^ secret) ^ form;
    for (let at = 0; at < count; at++) {
      let word = Math.imul(words[at]! ^ secret, 0xcc9e2d51);
      word = (word << 15) | (word >>> 17);
      hash ^= Math.imul(word, factor);
      hash = (hash << 13) | (hash >>> 19);
      hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
    }
    return finish(hash);
  }
}

/** Every bit of the input changes half the bits of the output. */
function finish(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/**
 * Packs the key into words, what is left of the last one 0. Answers twice its units and two, and
 * one more if they take two bytes each: a key has only one such form, so that the form tells keys
 * apart, and none has 0.
 */
function encode(key: string, words: Int32Array): number {
  const units = key.length;
  if (units > KEY_UNITS_MAX) return -1;
  const whole = units & ~3;
  let seen = 0;
  let unit = 0;
  for (; unit < whole; unit += 4) {
    const a = key.charCodeAt(unit);
    const b = key.charCodeAt(unit + 1);
    const c = key.charCodeAt(unit + 2);
    const d = key.charCodeAt(unit + 3);
    seen |= a | b | c | d;
    words[unit >>> 2] = a | (b << 8) | (c << 16) | (d << 24);
  }
  let last = 0;
  for (let shift = 0; unit < units; unit++, shift += 8) {
    const a = key.charCodeAt(unit);
    seen |= a;
    last |= a << shift;
  }
  words[whole >>> 2] = last;
  if (seen < 0x100) return units * 2 + 2;
  encodeWide(key, words);
  return units * 2 + 3;
}

function encodeWide(key: string, words: Int32Array): void {
  const whole = key.length & ~1;
  for (let unit = 0; unit < whole; unit += 2) {
    words[unit >>> 1] = key.charCodeAt(unit) | (key.charCodeAt(unit + 1) << 16);
  }
  if (whole < key.length) words[whole >>> 1] = key.charCodeAt(whole);
}

/** Bytes of a key of this form. */
function bytesOf(form: number): number {
  return ((form >>> 1) - 1) << (form & 1);
}

/** Words of a key of this form. */
function wordsOf(form: number): number {
  return (bytesOf(form) + 3) >>> 2;
}

/** Bytes that `decodeShort` reads: the words of a key that needs no place in the arena. */
const SHORT_UNITS_MAX = 4 * KEY_WORDS;

function decode(words: Int32Array, start: number, form: number): string {
  const units = (form >>> 1) - 1;
  if (units <= SHORT_UNITS_MAX && (form & 1) === 0) return decodeShort(words, start, units);
  const perWord = form & 1 ? 1 : 2;
  const bits = form & 1 ? 16 : 8;
  const mask = (1 << bits) - 1;
  const spot = (1 << perWord) - 1;
  let text = "";
  for (let from = 0; from < units; from += UNITS_MAX) {
    const batch = new Array<number>(Math.min(UNITS_MAX, units - from));
    for (let at = 0; at < batch.length; at++) {
      const unit = from + at;
      batch[at] = (words[start + (unit >>> perWord)]! >>> ((unit & spot) * bits)) & mask;
    }
    text += String.fromCharCode(...batch);
  }
  return text;
}

/** Without a list of its units, which is garbage: a key of 8 took 22 ns so, and 32 ns with one. */
function decodeShort(words: Int32Array, start: number, units: number): string {
  const a = words[start]!;
  const b = words[start + 1]!;
  const c = words[start + 2]!;
  return String.fromCharCode(
    a & 0xff,
    (a >>> 8) & 0xff,
    (a >>> 16) & 0xff,
    a >>> 24,
    b & 0xff,
    (b >>> 8) & 0xff,
    (b >>> 16) & 0xff,
    b >>> 24,
    c & 0xff,
    (c >>> 8) & 0xff,
    (c >>> 16) & 0xff,
    c >>> 24,
  ).slice(0, units);
}
