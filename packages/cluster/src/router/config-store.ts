/** Writes to stores. Each lives in one partition; what is written to `config` is copied to all. */
import type { Broker, OperationOptions, StoreEntry } from "@sluice/protocol";
import { homeOfStore } from "../hash.ts";
import type { PartitionCalls } from "./partition-calls.ts";

/** The store that policies read, wherever they run: every partition has a copy. */
const CONFIG = "config";

export class ConfigStore {
  readonly #calls: PartitionCalls;
  /** HomeCopies are made one after the other, so that the last write is the last copy. */
  #copying: Promise<unknown> = Promise.resolve();

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  async write(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions,
  ): Promise<void> {
    const home = this.#home(store);
    await this.#calls.make(home, (port) => port.storeWrite(store, entries, options));
    if (store !== CONFIG) return;
    const others = this.#calls.all.filter((partition) => partition !== home);
    await this.#copyInTurn(
      entries.map(({ key }) => key),
      others,
    );
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
    let values = await this.#held(keys);
    for (;;) {
      const entries = keys.map((key, i) => ({ key, value: values[i] }));
      const write = (port: Broker): Promise<void> => port.storeWrite(CONFIG, entries);
      const pending = keys.map((key) => {
        const catchUp = (one: number): Promise<void> => this.#copyInTurn([key], [one]);
        return [`config ${key}`, catchUp] as const;
      });
      await this.#calls.tell(partitions, write, pending);
      const held = await this.#held(keys);
      if (textOf(held) === textOf(values)) return;
      values = held;
    }
  }

  #held(keys: readonly string[]): Promise<unknown[]> {
    return this.#calls.ask(this.#home(CONFIG), (port) => port.storeGet(CONFIG, keys));
  }

  #home(store: string): number {
    return homeOfStore(String(store), this.#calls.directory.homes);
  }
}

/** A key that is not there is not one whose value is null. */
function textOf(values: readonly unknown[]): string {
  return JSON.stringify(values.map((value) => (value === undefined ? [] : [value])));
}
