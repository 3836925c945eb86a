import assert from "node:assert/strict";
import { SluiceError, shown } from "@sluice/protocol";
import { idOf, jobAt, numberAt } from "./job-ids.ts";
import { LEASE_SECRET_BYTES } from "./limits.ts";

/**
 * The tokens of leases: the job's id, the number of the delivery and a seal, `ag.1.6fzP0aL-wq`. A
 * seal is 60 bits of a keyed hash of the other two, so that a token cannot be guessed: only the
 * worker that got a job can end it. The key is in the log. A restart and a partition that moves to
 * another node keep it, and with it every token.
 *
 * A token with another seal is refused with JOB_NOT_FOUND, whether or not there is such a job or
 * such a lease: a guess learns nothing. So is one without a seal, as older versions gave it out.
 * Its job returns when the lease runs out.
 */
export interface Token {
  job: number;
  lease: number;
}

/** Six bits each; all of them may be in an address and in a file name. */
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const SEAL_CHARS = 10;
const DOT = ".".charCodeAt(0);
/** Two numbers of 11 digits at most, the length before the first and two dots. */
const TOKEN_CHARS_MAX = 1 + 2 * 11 + 2 + SEAL_CHARS;

/** What fits into one block beside its length: most jobs and every usual count of deliveries. */
const SHORT_JOB_MAX = 2 ** 32 - 1;
const SHORT_LEASE_MAX = 2 ** 24 - 1;
const SHORT = 7 << 24;
const LONG = 16 << 24;

export class LeaseTokens {
  readonly #key = new Int32Array(4);
  #hasKey = false;
  readonly #words = new Int32Array(6);
  readonly #hash: Hash = { low: 0, high: 0 };
  /** A token is made in one piece: joined from parts it would be copied at the first look. */
  readonly #text = Buffer.alloc(TOKEN_CHARS_MAX);

  /** From now on tokens are sealed with this secret. */
  use(secret: Uint8Array): void {
    assert.equal(secret.length, LEASE_SECRET_BYTES, "the secret of leases");
    const view = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
    for (let i = 0; i < 4; i++) this.#key[i] = view.getInt32(4 * i, true);
    this.#hasKey = true;
  }

  /** The token of a delivery; `id` is that of the job, for those who have it at hand. */
  of(job: number, lease: number, id: string = idOf(job)): string {
    const { low, high } = this.#seal(job, lease);
    const text = this.#text;
    let at = put(text, 0, id);
    text[at++] = DOT;
    at = put(text, at, lease.toString(36));
    text[at++] = DOT;
    for (let i = 0; i < 5; i++) {
      const shift = 26 - 6 * i;
      text[at + i] = CODES[(low >>> shift) & 63]!;
      text[at + 5 + i] = CODES[(high >>> shift) & 63]!;
    }
    return text.toString("latin1", 0, at + SEAL_CHARS);
  }

  parse(token: unknown): Token {
    if (typeof token !== "string") throw noToken(token);
    const dot = token.indexOf(".");
    const second = dot === -1 ? -1 : token.indexOf(".", dot + 1);
    const end = second === -1 ? token.length : second;
    const job = dot === -1 ? 0 : jobAt(token, dot);
    const lease = job === 0 ? 0 : numberAt(token, dot + 1, end);
    if (lease === 0) throw noToken(token);
    if (!this.#isSealed(token, end + 1, job, lease)) throw unknownLease(token);
    return { job, lease };
  }

  #isSealed(token: string, from: number, job: number, lease: number): boolean {
    if (token.length !== from + SEAL_CHARS) return false;
    const { low, high } = this.#seal(job, lease);
    // All of it is compared, so that the time tells nothing.
    let differs = 0;
    for (let i = 0; i < 5; i++) {
      const shift = 26 - 6 * i;
      differs |= token.charCodeAt(from + i) ^ CODES[(low >>> shift) & 63]!;
      differs |= token.charCodeAt(from + 5 + i) ^ CODES[(high >>> shift) & 63]!;
    }
    return differs === 0;
  }

  #seal(job: number, lease: number): Hash {
    assert.ok(this.#hasKey, "leases have no secret yet");
    const words = this.#words;
    let count = 1;
    words[0] = job;
    if (job <= SHORT_JOB_MAX && lease <= SHORT_LEASE_MAX) words[1] = SHORT | lease;
    else {
      count = 3;
      words[1] = job / 2 ** 32;
      words[2] = lease;
      words[3] = lease / 2 ** 32;
      words[4] = 0;
      words[5] = LONG;
    }
    sipHash(this.#key, words, count, this.#hash);
    return this.#hash;
  }
}

/** Copies a text of ASCII; answers where it ends. */
function put(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function noToken(token: unknown): SluiceError {
  const message = `lease must be the token of a lease, got ${shown(token)}`;
  return new SluiceError("INVALID", message, { field: "lease", value: token });
}

function unknownLease(token: string): SluiceError {
  const message = `there is no job with the lease ${shown(token)}`;
  return new SluiceError("JOB_NOT_FOUND", message, { field: "lease", value: token });
}

/**
 * SipHash-2-4: a short keyed hash that is unpredictable without the key. The key has 128 bits,
 * the hash 64. It is written over pairs of 32-bit integers because the compiler keeps those in
 * registers: a message of one block took 50 ns this way, and 160 ns when carries were computed
 * as floating point numbers.
 *
 * A block is eight bytes as two words, the low one first. The last block of a message has its
 * length in bytes, modulo 256, in its highest byte; the caller puts it there.
 */
interface Hash {
  low: number;
  high: number;
}

/** Hashes the first `count` blocks of `words` under the four words of the key. */
export function sipHash(key: Int32Array, words: Int32Array, count: number, into: Hash): void {
  const k0 = key[0]!;
  const k1 = key[1]!;
  const k2 = key[2]!;
  const k3 = key[3]!;
  let v0 = k0 ^ 0x70736575;
  let w0 = k1 ^ 0x736f6d65;
  let v1 = k2 ^ 0x6e646f6d;
  let w1 = k3 ^ 0x646f7261;
  let v2 = k0 ^ 0x6e657261;
  let w2 = k1 ^ 0x6c796765;
  let v3 = k2 ^ 0x79746573;
  let w3 = k3 ^ 0x74656462;
  const mixed = 2 * count;
  for (let round = 0; round < mixed + 4; round++) {
    // Two rounds for each block, then four more.
    if ((round & 1) === 0 && round <= mixed) {
      if (round > 0) {
        v0 ^= words[round - 2]!;
        w0 ^= words[round - 1]!;
      }
      if (round < mixed) {
        v3 ^= words[round]!;
        w3 ^= words[round + 1]!;
      } else v2 ^= 0xff;
    }
    let sum = (v0 + v1) | 0;
    w0 = (w0 + w1 + carry(v0, v1, sum)) | 0;
    v0 = sum;
    let turned = (v1 << 13) | (w1 >>> 19);
    w1 = ((w1 << 13) | (v1 >>> 19)) ^ w0;
    v1 = turned ^ v0;
    sum = (v2 + v3) | 0;
    w2 = (w2 + w3 + carry(v2, v3, sum)) | 0;
    v2 = sum;
    turned = (v3 << 16) | (w3 >>> 16);
    w3 = ((w3 << 16) | (v3 >>> 16)) ^ w2;
    v3 = turned ^ v2;
    // From here on the halves of the first have changed places, and below those of the third.
    sum = (w0 + v3) | 0;
    const high = (v0 + w3 + carry(w0, v3, sum)) | 0;
    v0 = sum;
    w0 = high;
    turned = (v3 << 21) | (w3 >>> 11);
    w3 = ((w3 << 21) | (v3 >>> 11)) ^ w0;
    v3 = turned ^ v0;
    sum = (v2 + v1) | 0;
    w2 = (w2 + w1 + carry(v2, v1, sum)) | 0;
    v2 = sum;
    turned = (v1 << 17) | (w1 >>> 15);
    w1 = ((w1 << 17) | (v1 >>> 15)) ^ w2;
    v1 = turned ^ v2;
    turned = v2;
    v2 = w2;
    w2 = turned;
  }
  into.low = v0 ^ v1 ^ v2 ^ v3;
  into.high = w0 ^ w1 ^ w2 ^ w3;
}

/** 1 if the sum of two words does not fit into one. */
function carry(a: number, b: number, sum: number): number {
  return ((a & b) | ((a | b) & ~sum)) >>> 31;
}
