/**
 * The nodes as this one hears of them. A node lives as long as its beats arrive, by the clock of
 * the node that listens: no two clocks are ever compared.
 *
 * A node that cannot hear must not judge. Its own beats come back to it, and its own entry comes
 * back through the watch of the registry: while both do, what is silent is dead. When one does not,
 * it is deaf; when both do again, the time in which it may have missed something counts against
 * no node.
 */

import { CALLERS, DEAF_SHARE, FLOWING_MS, SUSPECT_SHARE } from "../limits.ts";
import type { Beat, NodeEntry, NodeName } from "./entries.ts";

interface Heard {
  entry: NodeEntry;
  /** When the last beat arrived, by our own clock. */
  movedAt: number;
}

export interface Member extends NodeEntry {
  readonly id: string;
  readonly isAlive: boolean;
  readonly silentMs: number;
}

export class Members {
  readonly #own: NodeName;
  readonly #leaseMs: number;
  readonly #heard = new Map<string, Heard>();
  /** From when on silence counts. */
  #judgedFrom = Number.NEGATIVE_INFINITY;
  #revision = 0;
  #entryAt = Number.NEGATIVE_INFINITY;

  constructor(own: NodeName, leaseMs: number) {
    this.#own = own;
    this.#leaseMs = leaseMs;
  }

  /** A beat of a node. Answers whether that is news: a beat that says the same is none. */
  hear({ id, entry, isGone }: Beat, now: number): boolean {
    const known = this.#heard.get(id);
    const isSame = known?.entry.incarnation === entry.incarnation;
    if (isGone) return isSame && this.#heard.delete(id);
    if (isSame && entry.beat <= known.entry.beat) return false;
    // Of two processes with one name the one that was started later counts while it lives.
    const isOlder = known !== undefined && !isSame && entry.startedAt < known.entry.startedAt;
    if (isOlder && this.#isFresh(known, now)) return false;
    const isOwn = id === this.#own.node && entry.incarnation === this.#own.incarnation;
    if (isOwn) this.#hearOwn(now, () => this.#heard.set(id, { entry, movedAt: now }));
    const isNews = isOwn || !this.#isSameAs(known, entry, now);
    this.#heard.set(id, { entry, movedAt: now });
    return isNews;
  }

  /** Our own entry has come back from the registry. */
  hearEntry(revision: number, now: number): void {
    this.#hearOwn(now, () => {
      this.#revision = revision;
      this.#entryAt = now;
    });
  }

  /** The revision of our own entry that was heard last; 0: none was. */
  get revision(): number {
    return this.#revision;
  }

  /** A node that was deaf does not hold against others what it could not hear. */
  #hearOwn(now: number, hear: () => void): void {
    const wasHearing = this.isHearing(now);
    const heardAt = this.#heardOwnAt();
    hear();
    if (wasHearing || !this.isHearing(now)) return;
    const later = (at: number): number => Math.min(now, at + now - heardAt);
    this.#judgedFrom = heardAt === Number.NEGATIVE_INFINITY ? now : later(this.#judgedFrom);
    for (const [id, heard] of this.#heard) {
      if (id !== this.#own.node) heard.movedAt = later(heard.movedAt);
    }
  }

  /** When both of our own came back last. */
  #heardOwnAt(): number {
    const own = this.#heard.get(this.#own.node);
    if (own === undefined || own.entry.incarnation !== this.#own.incarnation) {
      return Number.NEGATIVE_INFINITY;
    }
    return Math.min(own.movedAt, this.#entryAt);
  }

  /** A node that has been silent for long is not shown any more. */
  forget(id: string): void {
    this.#heard.delete(id);
  }

  #isSameAs(known: Heard | undefined, entry: NodeEntry, now: number): boolean {
    if (known === undefined || !this.#isFresh(known, now)) return false;
    const { incarnation, isDraining, keysRead, unreached } = known.entry;
    return (
      entry.incarnation === incarnation &&
      entry.isDraining === isDraining &&
      entry.keysRead === keysRead &&
      entry.unreached.join() === unreached.join()
    );
  }

  /** Whether our own beats and our own entry come back to us, and with them what others say. */
  isHearing(now: number): boolean {
    return now - this.#heardOwnAt() < this.#leaseMs * DEAF_SHARE;
  }

  /**
   * Whether nodes that are connected to other NATS servers than we are heard, and all say that the
   * registry waits for them too: then it waits for a leader, and another server would not help.
   */
  waitsElsewhere(now: number): boolean {
    const server = this.#heard.get(this.#own.node)?.entry.nats;
    const isHeard = ({ movedAt }: Heard): boolean => now - movedAt < this.#leaseMs * DEAF_SHARE;
    const elsewhere = [...this.#heard.values()].filter(
      (one) => one.entry.nats !== server && isHeard(one),
    );
    return elsewhere.length > 0 && elsewhere.every(({ entry }) => entry.registryWaits === true);
  }

  /** Whether this very start of a node lives. One of which nothing was heard has its lease too. */
  isAlive({ node, incarnation }: NodeName, now: number): boolean {
    const heard = this.#heard.get(node);
    if (heard === undefined) return now - this.#judgedFrom < this.#leaseMs;
    return heard.entry.incarnation === incarnation && this.#isFresh(heard, now);
  }

  /** Nodes that live still, and are silent for so long that they may be dead. */
  suspects(now: number): string[] {
    const suspectMs = this.#leaseMs * SUSPECT_SHARE;
    const isLate = (one: Heard): boolean =>
      now - Math.max(one.movedAt, this.#judgedFrom) >= suspectMs;
    const late = [...this.#heard].filter(([, one]) => this.#isFresh(one, now) && isLate(one));
    return late.map(([id]) => id).filter((id) => id !== this.#own.node);
  }

  nameOf(node: string): NodeName | undefined {
    const heard = this.#heard.get(node);
    return heard && { node, incarnation: heard.entry.incarnation };
  }

  addressOf(node: string): string | undefined {
    return this.#heard.get(node)?.entry.address;
  }

  /** Those that can take what a node gives away. */
  heirsOf(node: string, now: number): string[] {
    const others = [...this.#heard].filter(([id]) => id !== node);
    const open = others.filter(([, one]) => !one.entry.isDraining && this.#isFresh(one, now));
    return open.map(([id]) => id);
  }

  /**
   * The node that could take a partition whose log does not answer its owner: one whose own logs
   * answer, the same for as long as they do, and of several the one that has the least.
   */
  refugeFrom(node: string, named: string | undefined, now: number): string | undefined {
    const open = new Set(this.placeable(now));
    const flowing = this.heirsOf(node, now).filter((id) => {
      const { lives } = this.#heard.get(id)!.entry;
      return open.has(id) && lives.every(({ lagMs }) => lagMs < FLOWING_MS);
    });
    if (named !== undefined && flowing.includes(named)) return named;
    const count = (id: string): number => this.#heard.get(id)!.entry.lives.length;
    return flowing.sort((a, b) => count(a) - count(b) || (a < b ? -1 : 1))[0];
  }

  /** Those that partitions may be given to; when all that live drain, they serve on. */
  placeable(now: number): string[] {
    const living = [...this.#heard].filter(([, heard]) => this.#isFresh(heard, now));
    const staying = living.filter(([, { entry }]) => !entry.isDraining);
    const open = (staying.length > 0 ? staying : living).map(([id]) => id);
    const callers = Math.min(CALLERS, living.length - 1);
    const isAway = (id: string): boolean => {
      const missing = living.filter(([, { entry }]) => entry.unreached.includes(id)).length;
      return callers > 0 && missing > callers / 2;
    };
    const reached = open.filter((id) => !isAway(id));
    // If all nodes miss each other, none is better than another.
    return (reached.length > 0 ? reached : open).sort();
  }

  all(now: number): Member[] {
    const members = [...this.#heard].map(([id, heard]) => ({
      ...heard.entry,
      id,
      isAlive: this.#isFresh(heard, now),
      silentMs: now - heard.movedAt,
    }));
    return members.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #isFresh({ movedAt }: Heard, now: number): boolean {
    return now - Math.max(movedAt, this.#judgedFrom) < this.#leaseMs;
  }
}
