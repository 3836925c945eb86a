/**
 * SipHash-2-4: a short keyed hash that cannot be foretold without the key. The key has 128 bits,
 * the hash 64. It is written over pairs of 32-bit integers because the compiler keeps those in
 * registers: a message of one block took 50 ns this way, and 160 ns when carries were computed
 * as floating point numbers.
 *
 * A block is eight bytes as two words, the low one first. The last block of a message has its
 * length in bytes, modulo 256, in its highest byte; the caller puts it there.
 */
export interface Hash {
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
