/**
 * Peers in browsers, by info hash. They have no address that others could call: a peer is its
 * connection, and meets others by offers and answers that are handed on. The first connection that
 * shows a peer id in a swarm has it until it closes.
 */
import { WEB_HASHES_PER_SOCKET_MAX } from "../limits.ts";

/** One connection of a browser. */
export interface WebPeer {
  /** The hashes that it takes part in. */
  readonly hashes: Map<string, string>;
  send(message: object): void;
}

interface Member {
  readonly peer: WebPeer;
  isSeeder: boolean;
}

export interface WebCounts {
  readonly complete: number;
  readonly incomplete: number;
}

export class WebSwarms {
  readonly #swarms = new Map<string, Map<string, Member>>();
  readonly #peersPerHash: number;
  peers = 0;

  constructor(peersPerHash: number) {
    this.#peersPerHash = peersPerHash;
  }

  /** Undefined, or why it cannot take part. */
  join(peer: WebPeer, hash: string, peerId: string, isSeeder: boolean): string | undefined {
    const swarm = this.#swarms.get(hash) ?? new Map<string, Member>();
    const member = swarm.get(peerId);
    if (member !== undefined && member.peer !== peer) return "this peer id is in use";
    const known = peer.hashes.get(hash);
    if (known !== undefined && known !== peerId) return "another peer id than before";
    if (member !== undefined) member.isSeeder = isSeeder;
    else {
      if (peer.hashes.size >= WEB_HASHES_PER_SOCKET_MAX) return "too many hashes on one connection";
      if (swarm.size >= this.#peersPerHash) return "this swarm is full";
      swarm.set(peerId, { peer, isSeeder });
      peer.hashes.set(hash, peerId);
      this.#swarms.set(hash, swarm);
      this.peers++;
    }
    return undefined;
  }

  isSeeder(hash: string, peerId: string): boolean {
    return this.#swarms.get(hash)?.get(peerId)?.isSeeder === true;
  }

  leave(peer: WebPeer, hash: string): void {
    const peerId = peer.hashes.get(hash);
    const swarm = this.#swarms.get(hash);
    if (peerId === undefined || swarm === undefined) return;
    peer.hashes.delete(hash);
    swarm.delete(peerId);
    this.peers--;
    if (swarm.size === 0) this.#swarms.delete(hash);
  }

  leaveAll(peer: WebPeer): void {
    for (const hash of [...peer.hashes.keys()]) this.leave(peer, hash);
  }

  find(hash: string, peerId: string): WebPeer | undefined {
    return this.#swarms.get(hash)?.get(peerId)?.peer;
  }

  /** Some others of the swarm, from a random place on. */
  *others(hash: string, self: WebPeer, count: number): Generator<WebPeer> {
    const members = [...(this.#swarms.get(hash)?.values() ?? [])];
    const from = Math.floor(Math.random() * members.length);
    let given = 0;
    for (let i = 0; i < members.length && given < count; i++) {
      const { peer } = members[(from + i) % members.length]!;
      if (peer === self) continue;
      given++;
      yield peer;
    }
  }

  counts(hash: string): WebCounts {
    const swarm = this.#swarms.get(hash);
    let complete = 0;
    for (const { isSeeder } of swarm?.values() ?? []) if (isSeeder) complete++;
    return { complete, incomplete: (swarm?.size ?? 0) - complete };
  }
}
