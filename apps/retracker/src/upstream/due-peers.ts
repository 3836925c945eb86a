/** When which peer is to be looked at again: buckets of a few seconds each, one place per peer. */
import type { PeerEntry } from "./registry.ts";

export const BUCKET_MS = 5_000;

export class DuePeers {
  readonly #buckets = new Map<number, Set<PeerEntry>>();

  /** Moves a peer to a time. */
  set(peer: PeerEntry, at: number): void {
    this.remove(peer);
    peer.slot = Math.ceil(at / BUCKET_MS);
    const bucket = this.#buckets.get(peer.slot);
    if (bucket === undefined) this.#buckets.set(peer.slot, new Set([peer]));
    else bucket.add(peer);
  }

  remove(peer: PeerEntry): void {
    const bucket = this.#buckets.get(peer.slot);
    bucket?.delete(peer);
    if (bucket?.size === 0) this.#buckets.delete(peer.slot);
    peer.slot = -1;
  }

  /** Takes out peers whose time has come, at most so many; the others stay for the next call. */
  takeDue(now: number, most: number): PeerEntry[] {
    const due: PeerEntry[] = [];
    const last = Math.floor(now / BUCKET_MS);
    for (const [slot, bucket] of this.#buckets) {
      if (slot > last) continue;
      for (const peer of bucket) {
        if (due.length === most) return due;
        due.push(peer);
        this.remove(peer);
      }
    }
    return due;
  }
}
