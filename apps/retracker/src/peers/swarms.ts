/**
 * The local peers by info hash. Hashes lie in 256 maps by their first byte: one map of a million
 * keys blocks for 117 ms when it grows, one of 256 does not.
 */
import { HASHES_MAX, PEERS_MAX, PEERS_PER_HASH_MAX } from "../limits.ts";
import { type Announce, COMPLETED } from "../wire/announce.ts";
import { PeerRows } from "./peer-rows.ts";

/** The peers of one hash. */
export interface Swarm {
  readonly members: number[];
  /** From peer id to its place among the members, once they are too many to look through. */
  places: Map<string, number> | undefined;
  seeders: number;
}

/** Up to this many members are looked through one by one. */
const SCAN_MAX = 12;
const SHARDS = 256;

export class Swarms {
  readonly rows = new PeerRows();
  readonly #shards = Array.from({ length: SHARDS }, () => new Map<string, Swarm>());
  #hashes = 0;
  #peers = 0;
  /** The hash that was asked for last, and its swarm. */
  #foundHash = "";
  #found: Swarm | undefined = undefined;

  get hashes(): number {
    return this.#hashes;
  }

  get peers(): number {
    return this.#peers;
  }

  /** One announce asks several times for one hash; among a million each time is a slow one. */
  find(hash: string): Swarm | undefined {
    if (hash === this.#foundHash) return this.#found;
    const swarm = this.#shards[hash.charCodeAt(0)]!.get(hash);
    this.#note(hash, swarm);
    return swarm;
  }

  /** Stores what a peer says of itself; answers its row, or -1 when there is no room for it. */
  put(announce: Announce, second: number): number {
    const swarm = this.find(announce.hash) ?? this.#make(announce.hash);
    if (swarm === undefined) return -1;
    const place = this.#place(swarm, announce.peerId);
    const row = place === -1 ? this.#join(swarm, announce) : swarm.members[place]!;
    if (row === -1) return -1;
    const was = this.rows.isSeeder(row);
    const is = announce.event === COMPLETED || announce.left === 0;
    if (was !== is) swarm.seeders += is ? 1 : -1;
    this.rows.update(row, announce, is, second);
    return row;
  }

  rowOf(hash: string, peerId: string): number {
    const swarm = this.find(hash);
    if (swarm === undefined) return -1;
    const place = this.#place(swarm, peerId);
    return place === -1 ? -1 : swarm.members[place]!;
  }

  /** False when there was no such peer. */
  remove(hash: string, peerId: string): boolean {
    const swarm = this.find(hash);
    const place = swarm === undefined ? -1 : this.#place(swarm, peerId);
    if (place === -1) return false;
    this.#leave(hash, swarm!, place);
    return true;
  }

  /** Removes peers of one shard that were last seen before a second. */
  purge(shard: number, before: number, onGone: (hash: string, peerId: string) => void): void {
    for (const [hash, swarm] of this.#shards[shard]!) {
      for (let place = swarm.members.length - 1; place >= 0; place--) {
        const row = swarm.members[place]!;
        if (this.rows.seenAt(row) >= before) continue;
        const peerId = this.rows.peerIdOf(row);
        this.#leave(hash, swarm, place);
        onGone(hash, peerId);
      }
    }
  }

  *entries(): Generator<[hash: string, swarm: Swarm]> {
    for (const shard of this.#shards) yield* shard;
  }

  /** Puts stored blocks back. Damaged counts cannot be: they are counted again. */
  restore(index: number, bytes: Buffer): void {
    this.rows.restore(index, bytes, (row) => {
      const swarm = this.find(this.rows.hashOf(row)) ?? this.#make(this.rows.hashOf(row));
      if (swarm === undefined) return;
      this.#add(swarm, row, this.rows.peerIdOf(row));
      if (this.rows.isSeeder(row)) swarm.seeders++;
    });
  }

  #note(hash: string, swarm: Swarm | undefined): void {
    this.#foundHash = hash;
    this.#found = swarm;
  }

  #make(hash: string): Swarm | undefined {
    if (this.#hashes >= HASHES_MAX || this.#peers >= PEERS_MAX) return undefined;
    const swarm: Swarm = { members: [], places: undefined, seeders: 0 };
    this.#shards[hash.charCodeAt(0)]!.set(hash, swarm);
    this.#note(hash, swarm);
    this.#hashes++;
    return swarm;
  }

  #join(swarm: Swarm, { hash, peerId }: Announce): number {
    if (swarm.members.length >= PEERS_PER_HASH_MAX || this.#peers >= PEERS_MAX) return -1;
    const row = this.rows.take(hash, peerId);
    this.#add(swarm, row, peerId);
    return row;
  }

  #add(swarm: Swarm, row: number, peerId: string): void {
    const { members } = swarm;
    members.push(row);
    this.#peers++;
    if (swarm.places !== undefined) swarm.places.set(peerId, members.length - 1);
    else if (members.length > SCAN_MAX) {
      swarm.places = new Map(members.map((member, i) => [this.rows.peerIdOf(member), i]));
    }
  }

  #place({ members, places }: Swarm, peerId: string): number {
    if (places !== undefined) return places.get(peerId) ?? -1;
    for (let i = 0; i < members.length; i++) {
      if (this.rows.hasPeerId(members[i]!, peerId)) return i;
    }
    return -1;
  }

  /** The last member takes the place of the one that leaves. */
  #leave(hash: string, swarm: Swarm, place: number): void {
    const { members, places } = swarm;
    const row = members[place]!;
    places?.delete(this.rows.peerIdOf(row));
    if (this.rows.isSeeder(row)) swarm.seeders--;
    this.rows.release(row);
    this.#peers--;
    const last = members.pop()!;
    if (last !== row) {
      members[place] = last;
      places?.set(this.rows.peerIdOf(last), place);
    }
    if (members.length === 0) {
      this.#shards[hash.charCodeAt(0)]!.delete(hash);
      this.#note("", undefined);
      this.#hashes--;
    }
  }
}
