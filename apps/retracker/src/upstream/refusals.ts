/** Pairs of hash and forwarder for which the forwarder answered "never" (BEP 31). */
import type { Sluice, Store } from "sluice";
import { NEVER_MAX } from "../limits.ts";
import { toHex } from "../wire/hex.ts";

export class Refusals {
  readonly #store: Store<number>;
  readonly #pairs: Set<string>;

  private constructor(store: Store<number>, pairs: Set<string>) {
    this.#store = store;
    this.#pairs = pairs;
  }

  static async open(sluice: Sluice): Promise<Refusals> {
    const store = sluice.store<number>("retracker.refused");
    const pairs = new Set<string>();
    for await (const { key } of store.scan()) pairs.add(key);
    return new Refusals(store, pairs);
  }

  has(hash: string, forwarder: string): boolean {
    return this.#pairs.size > 0 && this.#pairs.has(keyOf(hash, forwarder));
  }

  async add(hash: string, forwarder: string, now: number): Promise<void> {
    const key = keyOf(hash, forwarder);
    if (this.#pairs.size >= NEVER_MAX) return;
    this.#pairs.add(key);
    await this.#store.put(key, now);
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
