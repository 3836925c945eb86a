/**
 * The local peers by info hash. A peer is its address and its port: the same ones again replace it,
 * others neither move nor remove it.
 *
 * Every newcomer finds room. Where an address has its share of a swarm, its own oldest peer goes;
 * where the swarm is full, the peer of it that has been silent for longest; where all is full, an
 * old one of those that a hand which walks over all rows passes. IPv6 addresses count by their /64,
 * which is what one customer has.
 */
import { HASHES_MAX, PEERS_MAX } from "../limits.ts";
import { type Announce, COMPLETED, networkOf, PAUSED } from "../wire/announce.ts";
import { grown, HashIndex } from "./hash-index.ts";
import { LargeSwarm } from "./large-swarm.ts";
import { PARTIAL, PeerRows, SEEDER } from "./peer-rows.ts";
import { RowLists } from "./row-lists.ts";

/** The peers of one hash, as its number; -1 is none. */
export type Swarm = number;

export interface SwarmsOptions {
  readonly peersPerHash: number;
  /** Of one address, and of one hash. */
  readonly peersPerAddress: number;
  readonly peersMax?: number;
  readonly hashesMax?: number;
}

export type OnGone = (hash: string, address: string, port: number) => void;

/** Up to this many members are looked through one by one. */
const SCAN_MAX = 16;
/** Rows that the hand looks at to find one to evict. */
const HAND_ROWS = 64;
const SIZE_FIRST = 1024;

/** The facts of one swarm. */
const LIST = 0;
const COUNT = 1;
const SEEDERS = 2;
const PARTIALS = 3;
const FACTS_SHIFT = 2;

export class Swarms {
  readonly rows = new PeerRows();
  readonly #options: Required<SwarmsOptions>;
  readonly #index = new HashIndex();
  readonly #lists = new RowLists();
  readonly #large = new Map<Swarm, LargeSwarm>();
  /**
   * By swarm where its members are, and the counts: side by side, since an announce asks for all
   * of them and each column of its own would be one more wait for memory.
   */
  #facts = new Int32Array(SIZE_FIRST << FACTS_SHIFT);
  /** By swarm the logarithm of the room for its members. */
  #size = new Int32Array(SIZE_FIRST);
  #freeSwarms: Swarm[] = [];
  #swarmsEnd = 0;
  #hashes = 0;
  #peers = 0;
  #peersV4 = 0;
  #allSeeders = 0;
  #hand = 0;
  /** The hash that was asked for last, and its swarm. */
  #foundHash = "";
  #found: Swarm = -1;
  /** Peers that had to make room. */
  evicted = 0;
  /** Called for each of them. */
  onEvicted: OnGone = () => {};

  constructor(options: SwarmsOptions) {
    this.#options = { peersMax: PEERS_MAX, hashesMax: HASHES_MAX, ...options };
  }

  get hashes(): number {
    return this.#hashes;
  }

  get peers(): number {
    return this.#peers;
  }

  get peersV4(): number {
    return this.#peersV4;
  }

  get allSeeders(): number {
    return this.#allSeeders;
  }

  /** One announce asks several times for one hash; among a million each time is a slow one. */
  find(hash: string): Swarm {
    if (hash === this.#foundHash) return this.#found;
    const swarm = this.#index.find(hash, this.#isOf);
    this.#note(hash, swarm);
    return swarm;
  }

  count(swarm: Swarm): number {
    return swarm === -1 ? 0 : this.#facts[(swarm << FACTS_SHIFT) + COUNT]!;
  }

  seeders(swarm: Swarm): number {
    return swarm === -1 ? 0 : this.#facts[(swarm << FACTS_SHIFT) + SEEDERS]!;
  }

  /** Those that have all they want, and not all there is. */
  partial(swarm: Swarm): number {
    return swarm === -1 ? 0 : this.#facts[(swarm << FACTS_SHIFT) + PARTIALS]!;
  }

  /** The row of a member by its place. */
  member(swarm: Swarm, place: number): number {
    return this.#lists.get(this.#listOf(swarm), place);
  }

  /**
   * Stores what a peer says of itself; answers its row, or -1 when its hash finds no room. `known`
   * is its row so far, for a caller that has looked it up.
   */
  put(announce: Announce, second: number, known = this.rowAt(announce)): number {
    const row = known === -1 ? this.#join(announce) : known;
    if (row === -1) return -1;
    const isSeeder = announce.event === COMPLETED || announce.left === 0;
    const isPartial = !isSeeder && announce.event === PAUSED;
    this.#flag(this.find(announce.hash), this.rows.flagsOf(row), -1);
    this.rows.update(row, announce, isSeeder ? SEEDER : isPartial ? PARTIAL : 0, second);
    this.#flag(this.find(announce.hash), this.rows.flagsOf(row), 1);
    return row;
  }

  /** The row of the peer at an address and a port, or -1. */
  rowAt({ hash, address, port }: Pick<Announce, "hash" | "address" | "port">): number {
    const swarm = this.find(hash);
    if (swarm === -1) return -1;
    const large = this.#large.get(swarm);
    if (large !== undefined) return large.rowAt(address, port);
    const count = this.count(swarm);
    for (let place = 0; place < count; place++) {
      const row = this.member(swarm, place);
      if (this.rows.isAt(row, address, port)) return row;
    }
    return -1;
  }

  remove(row: number): void {
    this.#leave(this.find(this.rows.hashOf(row)), row);
  }

  /** Removes those of some rows that were last seen before a second. */
  purge(from: number, to: number, before: number, onGone: OnGone): void {
    for (let row = from; row < Math.min(to, this.rows.end); row++) {
      if (!this.rows.isUsed(row) || this.rows.seenAt(row) >= before) continue;
      this.#tellGone(row, onGone);
    }
  }

  *entries(): Generator<[hash: string, swarm: Swarm]> {
    for (let swarm = 0; swarm < this.#swarmsEnd; swarm++) {
      if (this.count(swarm) > 0) yield [this.rows.hashOf(this.member(swarm, 0)), swarm];
    }
  }

  /** Puts stored rows back. Damaged counts cannot be: they are counted again. */
  restore(index: number, bytes: Buffer): void {
    this.rows.restore(index, bytes, (row) => {
      const hash = this.rows.hashOf(row);
      const known = this.find(hash);
      const isFull = this.count(known) >= this.#options.peersPerHash;
      const swarm = isFull ? -1 : known === -1 ? this.#make(hash) : known;
      if (swarm === -1) return this.rows.forget(row);
      this.#add(swarm, row);
      this.#flag(swarm, this.rows.flagsOf(row), 1);
    });
  }

  #listOf(swarm: Swarm): number {
    return this.#facts[(swarm << FACTS_SHIFT) + LIST]!;
  }

  readonly #isOf = (swarm: Swarm, hash: string): boolean =>
    this.rows.hasHash(this.member(swarm, 0), hash);

  #note(hash: string, swarm: Swarm): void {
    this.#foundHash = hash;
    this.#found = swarm;
  }

  #join(announce: Announce): number {
    const { hash, address, port } = announce;
    if (this.#peers >= this.#options.peersMax) this.#evictAnywhere(false);
    const known = this.find(hash);
    if (known !== -1) this.#makeRoom(known, address);
    // The one that made room may have been the last of this hash.
    const swarm = this.find(hash) === -1 ? this.#make(hash) : this.find(hash);
    if (swarm === -1 || this.#peers >= this.#options.peersMax) return -1;
    const row = this.rows.take({ hash, address, port });
    this.#add(swarm, row);
    return row;
  }

  #makeRoom(swarm: Swarm, address: string): void {
    const { peersPerHash, peersPerAddress } = this.#options;
    const count = this.count(swarm);
    if (count >= peersPerAddress) {
      const own = this.#rowsFrom(swarm, networkOf(address));
      if (own.length >= peersPerAddress) return this.#evict(oldestOf(this.rows, own));
    }
    if (count < peersPerHash) return;
    // A bound that was lowered leaves small swarms above it.
    const large = this.#large.get(swarm);
    const all = large === undefined ? this.#rowsFrom(swarm, "") : undefined;
    this.#evict(all === undefined ? large!.oldest(this.#members(swarm)) : oldestOf(this.rows, all));
  }

  #rowsFrom(swarm: Swarm, network: string): readonly number[] {
    const large = this.#large.get(swarm);
    if (large !== undefined) return large.rowsFrom(network);
    const isHere = (row: number): boolean => network === "" || this.rows.isFrom(row, network);
    return [...this.#members(swarm)].filter(isHere);
  }

  *#members(swarm: Swarm): Generator<number> {
    for (let place = 0; place < this.count(swarm); place++) yield this.member(swarm, place);
  }

  #evict(row: number): void {
    this.evicted++;
    this.#tellGone(row, this.onEvicted);
  }

  /** Of the next rows the one that has been silent for longest; `isAlone`: only of lonely ones. */
  #evictAnywhere(isAlone: boolean): void {
    const rows: number[] = [];
    for (let i = 0; i < HAND_ROWS; i++) {
      if (++this.#hand >= this.rows.end) this.#hand = 0;
      if (!this.rows.isUsed(this.#hand)) continue;
      const isWanted = !isAlone || this.count(this.find(this.rows.hashOf(this.#hand))) === 1;
      if (isWanted) rows.push(this.#hand);
    }
    if (rows.length > 0) this.#evict(oldestOf(this.rows, rows));
  }

  #tellGone(row: number, onGone: OnGone): void {
    const hash = this.rows.hashOf(row);
    const address = this.rows.addressOf(row);
    const port = this.rows.portOf(row);
    this.#leave(this.find(hash), row);
    onGone(hash, address, port);
  }

  #make(hash: string): Swarm {
    if (this.#hashes >= this.#options.hashesMax) this.#evictAnywhere(true);
    if (this.#hashes >= this.#options.hashesMax) return -1;
    const swarm = this.#freeSwarms.pop() ?? this.#swarmsEnd++;
    if (swarm === this.#size.length) this.#grow();
    const at = swarm << FACTS_SHIFT;
    this.#facts.fill(0, at, at + (1 << FACTS_SHIFT));
    this.#facts[at + LIST] = this.#lists.take(0);
    this.#size[swarm] = 0;
    this.#index.add(hash, swarm);
    this.#note(hash, swarm);
    this.#hashes++;
    return swarm;
  }

  #grow(): void {
    this.#facts = grown(this.#facts);
    this.#size = grown(this.#size);
  }

  #add(swarm: Swarm, row: number): void {
    const count = this.count(swarm);
    const size = this.#size[swarm]!;
    if (count === 1 << size) {
      this.#facts[(swarm << FACTS_SHIFT) + LIST] = this.#lists.resize(
        this.#listOf(swarm),
        size,
        size + 1,
        count,
      );
      this.#size[swarm] = size + 1;
    }
    this.#lists.set(this.#listOf(swarm), count, row);
    this.rows.setPlace(row, count);
    this.#facts[(swarm << FACTS_SHIFT) + COUNT] = count + 1;
    this.#peers++;
    if (this.rows.isV4(row)) this.#peersV4++;
    const large = this.#large.get(swarm);
    if (large !== undefined) large.add(row);
    else if (count === SCAN_MAX) {
      this.#large.set(swarm, new LargeSwarm(this.rows, this.#members(swarm)));
    }
  }

  #flag(swarm: Swarm, flags: number, by: 1 | -1): void {
    if (flags === 0) return;
    if ((flags & SEEDER) !== 0) {
      this.#facts[(swarm << FACTS_SHIFT) + SEEDERS]! += by;
      this.#allSeeders += by;
    } else this.#facts[(swarm << FACTS_SHIFT) + PARTIALS]! += by;
  }

  /** The last member takes the place of the one that leaves. */
  #leave(swarm: Swarm, row: number): void {
    this.#large.get(swarm)?.remove(row);
    this.#flag(swarm, this.rows.flagsOf(row), -1);
    if (this.rows.isV4(row)) this.#peersV4--;
    const count = --this.#facts[(swarm << FACTS_SHIFT) + COUNT]!;
    const place = this.rows.placeOf(row);
    const last = this.member(swarm, count);
    if (last !== row) {
      this.#lists.set(this.#listOf(swarm), place, last);
      this.rows.setPlace(last, place);
    }
    this.#peers--;
    if (count === 0) this.#drop(swarm);
    this.rows.release(row);
  }

  #drop(swarm: Swarm): void {
    this.#index.remove(swarm);
    this.#lists.release(this.#listOf(swarm), this.#size[swarm]!);
    this.#large.delete(swarm);
    this.#freeSwarms.push(swarm);
    this.#note("", -1);
    this.#hashes--;
  }
}

function oldestOf(rows: PeerRows, some: readonly number[]): number {
  let oldest = some[0]!;
  for (const row of some) if (rows.seenAt(row) < rows.seenAt(oldest)) oldest = row;
  return oldest;
}
