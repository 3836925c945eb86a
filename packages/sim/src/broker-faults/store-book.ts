// Stores: an answered write is there after every restart, one without an answer as a whole or not
// at all, and none without those before it.

import { demand } from "../demand.ts";
import type { OpenCall } from "./known-job.ts";
import type { ItemAnswer, Seen } from "./record.ts";

interface Write {
  readonly n: number;
  readonly store: string;
  readonly entries: readonly { key: string; value: unknown }[];
}

type Stores = Map<string, Map<string, string>>;

export class StoreBook {
  // What is certain, and the writes since, in the order of their calls.
  #certain: Stores = new Map();
  #open: Write[] = [];

  called({ n, call }: OpenCall): void {
    if (call.call === "storeWrite") this.#open.push({ n, ...call });
  }

  answered({ n, call }: OpenCall, items: readonly ItemAnswer[]): void {
    if (call.call !== "storeWrite") return;
    const at = this.#open.findIndex((write) => write.n === n);
    const isDone = items[0] !== undefined && "ok" in items[0];
    if (!isDone) this.#open.splice(at, 1);
    // Those before it are in the log when it is.
    else for (const write of this.#open.splice(0, at + 1)) apply(this.#certain, write);
  }

  looked(seen: Seen["stores"]): void {
    const told = textOf(storesOf(seen));
    const state = copy(this.#certain);
    const tried = [textOf(state)];
    for (const write of [undefined, ...this.#open]) {
      if (write !== undefined) {
        apply(state, write);
        tried.push(textOf(state));
      }
      if (textOf(state) !== told) continue;
      this.#certain = state;
      this.#open = [];
      return;
    }
    demand(false, "stores", () => `the stores hold ${told}, and not one of ${tried.join(" or ")}`);
  }
}

function apply(stores: Stores, { store, entries }: Write): void {
  const values = stores.get(store) ?? new Map<string, string>();
  stores.set(store, values);
  for (const { key, value } of entries) {
    if (value === undefined || value === null) values.delete(key);
    else values.set(key, JSON.stringify(value));
  }
}

function copy(stores: Stores): Stores {
  return new Map([...stores].map(([store, values]) => [store, new Map(values)]));
}

function storesOf(seen: Seen["stores"]): Stores {
  const stores: Stores = new Map();
  for (const { store, entries } of seen) apply(stores, { n: 0, store, entries });
  return stores;
}

function textOf(stores: Stores): string {
  const plain = [...stores]
    .filter(([, values]) => values.size > 0)
    .map(([store, values]) => [store, [...values].sort(([a], [b]) => (a < b ? -1 : 1))] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(plain);
}
