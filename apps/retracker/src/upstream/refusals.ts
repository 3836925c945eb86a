/** Pairs of hash and forwarder for which the forwarder answered "never" (BEP 31). */
import type { Sluice, Store, StoreChange } from "sluice";
import { NEVER_MAX } from "../limits.ts";
import { toHex } from "../wire/hex.ts";

export class Refusals {
  readonly #store: Store<number>;
  /** The oldest first. */
  readonly #pairs: Set<string>;
  readonly #pairsMax: number;

  private constructor(store: Store<number>, pairs: Set<string>, pairsMax: number) {
    this.#store = store;
    this.#pairs = pairs;
    this.#pairsMax = pairsMax;
  }

  static async open(sluice: Sluice, pairsMax = NEVER_MAX): Promise<Refusals> {
    const store = sluice.store<number>("retracker.refused");
    const kept: [key: string, at: number][] = [];
    for await (const { key, value } of store.scan()) kept.push([key, Number(value)]);
    kept.sort(([, one], [, other]) => one - other);
    return new Refusals(store, new Set(kept.map(([key]) => key)), pairsMax);
  }

  has(hash: string, forwarder: string): boolean {
    return this.#pairs.size > 0 && this.#pairs.has(keyOf(hash, forwarder));
  }

  /** One pair too many takes the place of the oldest. */
  async add(hash: string, forwarder: string, now: number): Promise<void> {
    const key = keyOf(hash, forwarder);
    this.#pairs.add(key);
    const changes: StoreChange<number>[] = [{ key, value: now }];
    if (this.#pairs.size > this.#pairsMax) {
      const oldest = this.#pairs.values().next().value as string;
      this.#pairs.delete(oldest);
      changes.push({ key: oldest });
    }
    await this.#store.batch(changes);
  }

  /** The forwarder was switched on again by hand: it is asked again. */
  async forget(forwarder: string): Promise<void> {
    const gone = [...this.#pairs].filter((key) => key.slice(key.indexOf(":") + 1) === forwarder);
    for (const key of gone) this.#pairs.delete(key);
    if (gone.length > 0) await this.#store.batch(gone.map((key) => ({ key })));
  }
}

function keyOf(hash: string, forwarder: string): string {
  return `${toHex(hash)}:${forwarder}`;
}
