/**
 * JSON of a request is parsed in one piece, before the right to make the request is checked. So
 * what parsing costs is bounded first, for all requests of one message together: the bytes, the
 * values, and the names that differ. A name that was not seen before costs as much as 15 values.
 */
import { SluiceError } from "../errors.ts";
import { JSON_BYTES_MAX, JSON_DEPTH_MAX, JSON_NAMES_MAX, JSON_VALUES_MAX } from "../limits.ts";
import { malformed } from "./refuse.ts";

/** What the JSON belongs to, for the error, and how long it may be. */
export interface JsonBound {
  readonly name: string;
  readonly bytesMax: number;
}

/** Counts the JSON of one message, or of one frame. */
export class JsonCount {
  #bytes = 0;
  #values = 0;
  #names = 0;
  readonly #round = nextRound();

  /** The part of a message's bounds that it takes: at most 1. */
  get load(): number {
    return Math.max(
      this.#bytes / JSON_BYTES_MAX,
      this.#values / JSON_VALUES_MAX,
      this.#names / JSON_NAMES_MAX,
    );
  }

  /** Refuses JSON that is too much, by itself or with what came before it. */
  add(json: Uint8Array, { name, bytesMax }: JsonBound): void {
    const bytes = this.#bytes + json.length;
    if (json.length > bytesMax) throw tooLarge(name, bytesMax, "bytes");
    if (bytes > JSON_BYTES_MAX) throw tooLarge(name, JSON_BYTES_MAX, "bytes");
    this.#scan(json, name);
    this.#bytes = bytes;
  }

  /** Commas and opening brackets outside of texts are values, texts before a colon are names. */
  #scan(json: Uint8Array, call: string): void {
    const { length } = json;
    let values = this.#values;
    let names = this.#names;
    let depth = 0;
    let textAt = 0;
    let textEnd = 0;
    for (let i = 0; i < length; i++) {
      switch (json[i]) {
        case QUOTE:
          textAt = ++i;
          for (; i < length && json[i] !== QUOTE; i++) if (json[i] === BACKSLASH) i++;
          textEnd = i;
          break;
        case COLON:
          if (isNew(json, textAt, textEnd, this.#round) && ++names > JSON_NAMES_MAX) {
            throw tooLarge(call, JSON_NAMES_MAX, "different names");
          }
          break;
        case OPEN:
        case OPEN_LIST:
          if (++depth > JSON_DEPTH_MAX) throw tooDeep(i);
          if (++values > JSON_VALUES_MAX) throw tooLarge(call, JSON_VALUES_MAX, "values");
          break;
        case COMMA:
          if (++values > JSON_VALUES_MAX) throw tooLarge(call, JSON_VALUES_MAX, "values");
          break;
        case CLOSE:
        case CLOSE_LIST:
          depth--;
      }
    }
    this.#values = values;
    this.#names = names;
  }
}

/** Refuses JSON that is nested too deep, however long it is. */
export function checkDepth(json: Uint8Array): void {
  let depth = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === QUOTE) {
      for (i++; i < json.length && json[i] !== QUOTE; i++) if (json[i] === BACKSLASH) i++;
    } else if (byte === OPEN || byte === OPEN_LIST) {
      if (++depth > JSON_DEPTH_MAX) throw tooDeep(i);
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth--;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/**
 * Names that were seen, by a hash: the round in which a name with this hash was seen last. Of
 * 24,000 names some share a hash, and 20,000 are counted. The hash depends on a secret, so a client
 * cannot choose names that share one.
 */
const SLOTS = 2 ** 16;
const seen = new Uint32Array(SLOTS);
const SECRET = Math.floor(Math.random() * 2 ** 32);
const FACTOR = Math.floor(Math.random() * 2 ** 30) * 2 + 1;
let rounds = 0;

function nextRound(): number {
  if (++rounds === 2 ** 32) {
    seen.fill(0);
    rounds = 1;
  }
  return rounds;
}

/** Longer names always count as new ones. */
const HASHED_BYTES_MAX = 64;

function isNew(json: Uint8Array, from: number, end: number, round: number): boolean {
  if (end - from > HASHED_BYTES_MAX) return true;
  let hash = SECRET;
  for (let i = from; i < end; i++) hash = Math.imul(hash ^ json[i]!, FACTOR) ^ (hash >>> 13);
  const slot = (hash ^ (hash >>> 16)) & (SLOTS - 1);
  if (seen[slot] === round) return false;
  seen[slot] = round;
  return true;
}

function tooLarge(name: string, limit: number, unit: string): SluiceError {
  const message = `the arguments of ${name} must have at most ${limit} ${unit} as JSON; send fewer at a time`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { field: name, limit });
}

function tooDeep(at: number): SluiceError {
  return malformed(`JSON nested deeper than ${JSON_DEPTH_MAX}`, at);
}
