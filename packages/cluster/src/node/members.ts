/**
 * The nodes as this one hears of them. A node lives as long as its entry moves, by the clock of
 * whoever listens: no two clocks are ever compared.
 *
 * Whoever cannot hear must not judge. The own entry comes back through the same watch, in order
 * with all others: while it does, what is silent is dead; when it does not, we are deaf, and when
 * it does again, everybody gets a fresh lease.
 */

import { CALLERS, DEAF_SHARE } from "../limits.ts";
import type { NodeEntry, NodeName } from "./entries.ts";

interface Heard {
  entry: NodeEntry;
  revision: number;
  /** When the entry last moved, by our own clock. */
  movedAt: number;
}

export interface Member extends NodeEntry {
  readonly id: string;
  readonly revision: number;
  readonly isAlive: boolean;
  readonly silentMs: number;
}

export class Members {
  readonly #own: NodeName;
  readonly #leaseMs: number;
  readonly #heard = new Map<string, Heard>();
  /** From when on silence counts. */
  #judgedFrom = 0;

  constructor(own: NodeName, leaseMs: number) {
    this.#own = own;
    this.#leaseMs = leaseMs;
  }

  /**
   * The entry of a node has moved, or is gone. Answers whether that is news: a beat of another node
   * that is as it was is none.
   */
  hear(id: string, entry: NodeEntry | undefined, revision: number, now: number): boolean {
    const known = this.#heard.get(id);
    if (entry === undefined) {
      return (known?.revision ?? 0) <= revision && this.#heard.delete(id);
    }
    if (known !== undefined && revision <= known.revision) return false;
    if (id === this.#own.node && !this.isHearing(now)) this.#judgedFrom = now;
    const isNews = id === this.#own.node || !this.#isSameAs(known, entry, now);
    // Others write into it too, such as a wish that it drains: that is no sign of life.
    const isBeat = known?.entry.incarnation !== entry.incarnation || known.entry.beat < entry.beat;
    this.#heard.set(id, { entry, revision, movedAt: isBeat ? now : known.movedAt });
    return isNews;
  }

  /** Of the entry as it was heard last; 0: never. */
  revisionOf(node: string): number {
    return this.#heard.get(node)?.revision ?? 0;
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

  /** Whether our own entry comes back to us, and with it all that is said by others. */
  isHearing(now: number): boolean {
    const own = this.#heard.get(this.#own.node);
    if (own === undefined || own.entry.incarnation !== this.#own.incarnation) return false;
    return now - own.movedAt < this.#leaseMs * DEAF_SHARE;
  }

  /** Whether this very start of a node lives. */
  isAlive({ node, incarnation }: NodeName, now: number): boolean {
    const heard = this.#heard.get(node);
    return heard?.entry.incarnation === incarnation && this.#isFresh(heard, now);
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
    // When everybody misses everybody, nobody is better than another.
    return (reached.length > 0 ? reached : open).sort();
  }

  all(now: number): Member[] {
    const members = [...this.#heard].map(([id, heard]) => ({
      ...heard.entry,
      id,
      revision: heard.revision,
      isAlive: this.#isFresh(heard, now),
      silentMs: now - heard.movedAt,
    }));
    return members.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #isFresh({ movedAt }: Heard, now: number): boolean {
    return now - Math.max(movedAt, this.#judgedFrom) < this.#leaseMs;
  }
}
