/**
 * From info hashes to swarm numbers, in 256 open tables of numbers. A `Map` from text takes about
 * 130 bytes a hash and blocks for 117 ms when one of a million keys grows; this takes 10 and grows
 * one small table at a time.
 *
 * Strangers choose the hashes, so places come from a sum with random factors: who does not know
 * them cannot make hashes that all fall into one place.
 */
import { randomBytes } from "node:crypto";

const SHARDS = 256;
const SLOTS_FIRST = 16;
/** Above this share of used slots a table grows. */
const LOAD_MAX = 0.75;
/** Two bytes at a time: then each factor of 32 bits spreads them over all higher bits. */
const WORDS = 10;

export class HashIndex {
  readonly #tables = Array.from({ length: SHARDS }, () => new Int32Array(SLOTS_FIRST));
  readonly #used = new Int32Array(SHARDS);
  readonly #factors = new Int32Array(new Uint8Array(randomBytes(4 * WORDS)).buffer);
  /** The sum of each swarm's hash, by swarm number. */
  #sums = new Int32Array(1024);

  /** The swarm of a hash, or -1. `isIt` says whether a swarm is that of the hash. */
  find(hash: string, isIt: (swarm: number, hash: string) => boolean): number {
    const sum = this.#sum(hash);
    const table = this.#tables[shardOf(sum)]!;
    const mask = table.length - 1;
    for (let slot = homeOf(table, sum); ; slot = (slot + 1) & mask) {
      const swarm = table[slot]! - 1;
      if (swarm === -1) return -1;
      if (this.#sums[swarm] === sum && isIt(swarm, hash)) return swarm;
    }
  }

  /** The hash must not be there yet. */
  add(hash: string, swarm: number): void {
    if (swarm >= this.#sums.length) this.#sums = grown(this.#sums);
    const sum = this.#sum(hash);
    this.#sums[swarm] = sum;
    const shard = shardOf(sum);
    if (++this.#used[shard]! > this.#tables[shard]!.length * LOAD_MAX) this.#growTable(shard);
    insert(this.#tables[shard]!, sum, swarm);
  }

  /** Entries behind the gap move up, so that no search stops at it. */
  remove(swarm: number): void {
    const sum = this.#sums[swarm]!;
    const table = this.#tables[shardOf(sum)]!;
    const mask = table.length - 1;
    let gap = homeOf(table, sum);
    while (table[gap] !== swarm + 1) gap = (gap + 1) & mask;
    this.#used[shardOf(sum)]!--;
    for (let slot = (gap + 1) & mask; table[slot] !== 0; slot = (slot + 1) & mask) {
      const home = homeOf(table, this.#sums[table[slot]! - 1]!);
      if (((slot - home) & mask) < ((slot - gap) & mask)) continue;
      table[gap] = table[slot]!;
      gap = slot;
    }
    table[gap] = 0;
  }

  #growTable(shard: number): void {
    const old = this.#tables[shard]!;
    const table = new Int32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) insert(table, this.#sums[entry - 1]!, entry - 1);
    this.#tables[shard] = table;
  }

  #sum(hash: string): number {
    let sum = 0;
    for (let i = 0; i < WORDS; i++) {
      const word = (hash.charCodeAt(2 * i) << 8) | hash.charCodeAt(2 * i + 1);
      sum = (sum + Math.imul(this.#factors[i]!, word)) | 0;
    }
    return sum;
  }
}

/** The highest bits, which depend on every bit of the hash and of the factors. */
function homeOf({ length }: Int32Array, sum: number): number {
  return sum >>> (Math.clz32(length) + 1);
}

function shardOf(sum: number): number {
  return (sum >>> 8) & (SHARDS - 1);
}

function insert(table: Int32Array, sum: number, swarm: number): void {
  const mask = table.length - 1;
  let slot = homeOf(table, sum);
  while (table[slot] !== 0) slot = (slot + 1) & mask;
  table[slot] = swarm + 1;
}

/** Twice as long. */
export function grown(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(numbers.length * 2);
  longer.set(numbers);
  return longer;
}
