/** The calls about stores, each of which lives in one partition. */
import type { Broker, OperationOptions, Page, ScanOptions, StoreEntry } from "@sluice/protocol";
import { homeOfStore } from "../hash.ts";
import type { Reach } from "./reach.ts";

/** The store that policies read, wherever they run: every partition has a copy. */
const CONFIG = "config";

export class StoreDesk {
  readonly #reach: Reach;
  /** Copies are made one after the other, so that the last write is the last copy. */
  #copying: Promise<unknown> = Promise.resolve();

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  async get(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.#reach.ask(this.#home(store), (port) => port.storeGet(store, keys));
  }

  async write(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions,
  ): Promise<void> {
    await this.#reach.port(this.#home(store)).storeWrite(store, entries, options);
    if (store !== CONFIG) return;
    const home = this.#home(CONFIG);
    const others = this.#reach.all.filter((partition) => partition !== home);
    await this.#copyInTurn(
      entries.map(({ key }) => key),
      others,
    );
  }

  async scan(store: string, options: ScanOptions | undefined): Promise<Page<StoreEntry>> {
    return this.#reach.ask(this.#home(store), (port) => port.storeScan(store, options));
  }

  async #copyInTurn(keys: readonly string[], partitions: readonly number[]): Promise<void> {
    const copy = this.#copying.then(() => this.#copy(keys, partitions));
    this.#copying = copy.catch(() => {});
    await copy;
  }

  /**
   * What the home holds by now, which may be more than was written a moment ago. Another node may
   * copy the same keys at the same time, and be overtaken on its way: so the home is asked again
   * afterwards, until what was copied is what it holds.
   */
  async #copy(keys: readonly string[], partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    let values = await this.get(CONFIG, keys);
    for (;;) {
      const entries = keys.map((key, i) => ({ key, value: values[i] }));
      const write = (port: Broker): Promise<void> => port.storeWrite(CONFIG, entries);
      const owed = keys.map((key) => {
        const catchUp = (one: number): Promise<void> => this.#copyInTurn([key], [one]);
        return [`config ${key}`, catchUp] as const;
      });
      await this.#reach.tell(partitions, write, owed);
      const held = await this.get(CONFIG, keys);
      if (textOf(held) === textOf(values)) return;
      values = held;
    }
  }

  #home(store: string): number {
    return homeOfStore(String(store), this.#reach.directory.partitions);
  }
}

/** A key that is not there is not one whose value is null. */
function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values.map((value) => (value === undefined ? [] : [value])));
}
