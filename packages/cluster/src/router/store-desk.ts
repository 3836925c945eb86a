/** The calls about stores, each of which lives in one partition. */
import {
  type Broker,
  type Page,
  type ScanOptions,
  type StoreEntry,
  toSluiceError,
} from "@sluice/protocol";
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

  async write(store: string, entries: readonly StoreEntry[]): Promise<void> {
    await this.#reach.port(this.#home(store)).storeWrite(store, entries);
    if (store !== CONFIG) return;
    const copy = this.#copying.then(() => this.#copy(entries.map(({ key }) => key)));
    this.#copying = copy.catch(() => {});
    await copy;
  }

  async scan(store: string, options: ScanOptions | undefined): Promise<Page<StoreEntry>> {
    return this.#reach.ask(this.#home(store), (port) => port.storeScan(store, options));
  }

  /** What the home holds by now, which may be more than was written a moment ago. */
  async #copy(keys: readonly string[]): Promise<void> {
    const home = this.#home(CONFIG);
    const others = this.#reach.all.filter((partition) => partition !== home);
    if (others.length === 0) return;
    const values = await this.get(CONFIG, keys);
    const entries = keys.map((key, i) => ({ key, value: values[i] }));
    await this.#reach.known(others, [], (port) => this.#writeCopy(port, entries));
  }

  /** A copy that was cut off is made again: writing the same twice does no harm. */
  async #writeCopy(port: Broker, entries: readonly StoreEntry[]): Promise<void> {
    for (;;) {
      try {
        return await port.storeWrite(CONFIG, entries);
      } catch (error) {
        if (toSluiceError(error).code !== "DISCONNECTED" || this.#reach.isClosed) throw error;
      }
    }
  }

  #home(store: string): number {
    return homeOfStore(String(store), this.#reach.directory.partitions);
  }
}
