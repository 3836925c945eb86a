import {
  KEY,
  NAME,
  type OperationOptions,
  type Page,
  type ScanOptions,
  type StoreEntry,
} from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { STORE_VALUE_BYTES_MAX } from "./limits.ts";
import { plainJson } from "./refuse.ts";

/** The calls about stores. */
export class StoreCalls {
  readonly #calls: EngineCalls;

  constructor(calls: EngineCalls) {
    this.#calls = calls;
  }

  async storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.#calls.call((engine) =>
      keys.map((key) => structuredClone(engine.stores.get(store, key))),
    );
  }

  /** All values are checked before the first is written, and the facts go into one commit. */
  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions = {},
  ): Promise<void> {
    NAME.parse("store", store);
    const checked = entries.map(({ key, value }) => {
      return { key: KEY.parse("key", key), value: plainValue(key, value) };
    });
    await this.#calls.changeOnce(
      `storeWrite ${store}`,
      options,
      (engine, now) => {
        for (const { key, value } of checked) {
          if (value === undefined) engine.stores.delete(store, key, now);
          else engine.stores.put(store, key, value, now);
        }
      },
      checked,
    );
  }

  async storeScan(
    store: string,
    { prefix = "", limit = 100, cursor = "" }: ScanOptions = {},
  ): Promise<Page<StoreEntry>> {
    const found = this.#calls.call((engine) =>
      engine.stores.scan(store, { prefix, after: cursor, limit }),
    );
    const items = found.map(([key, value]) => ({ key, value: structuredClone(value) }));
    const last = items.at(-1);
    return items.length < limit || last === undefined ? { items } : { items, cursor: last.key };
  }
}

function plainValue(key: string, value: unknown): unknown {
  return value === undefined
    ? undefined
    : plainJson(`value of ${key}`, value, STORE_VALUE_BYTES_MAX);
}
