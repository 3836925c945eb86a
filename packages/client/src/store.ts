import { type Broker, invalid, type StoreEntry, walkPages } from "@sluice/protocol";
import { PAGE_ITEMS } from "./limits.ts";
import {
  type CallOptions,
  type OperationOptions,
  parseCall,
  parseCallWith,
  parseOperation,
} from "./parse-call.ts";
import { checkJson } from "./payload.ts";

export interface StoreItem<Value> {
  key: string;
  value: Value;
}

/** One change of a batch; without a value the key is deleted. */
export interface StoreChange<Value> {
  key: string;
  value?: Value | undefined;
}

/** A small keyed store on the same log, for what an application must remember. */
export class Store<Value = unknown> {
  readonly name: string;
  readonly #port: Broker;

  /** Users call `sluice.store`. @internal */
  constructor(port: Broker, name: string) {
    this.#port = port;
    this.name = name;
  }

  async get(key: string, options?: CallOptions): Promise<Value | undefined> {
    const [value] = await this.#port.storeGet(this.name, [key], parseCall("get", options));
    return value as Value | undefined;
  }

  async put(key: string, value: Value, options?: OperationOptions): Promise<void> {
    if (value === undefined) throw invalid("store.value", "JSON (delete removes a key)", value);
    await this.batch([{ key, value }], options);
  }

  async delete(key: string, options?: OperationOptions): Promise<void> {
    await this.batch([{ key }], options);
  }

  /** All or nothing, durable together. */
  async batch(changes: readonly StoreChange<Value>[], options?: OperationOptions): Promise<void> {
    if (!Array.isArray(changes)) throw invalid("store.batch", "an array", changes);
    const entries = changes.map(({ key, value }, index): StoreEntry => {
      if (value !== undefined) checkJson(`store.batch[${index}].value`, value);
      return { key, value };
    });
    await this.#port.storeWrite(this.name, entries, parseOperation("store", options));
  }

  /** All entries whose key begins with the prefix, in the order of their keys. */
  scan(
    options: { prefix?: string | undefined } & CallOptions = {},
  ): AsyncIterableIterator<StoreItem<Value>> {
    const { rest, call } = parseCallWith("scan", options, ["prefix"]);
    const { prefix } = rest;
    return walkPages(async (from) => {
      const page = await this.#port.storeScan(this.name, {
        ...call,
        limit: PAGE_ITEMS,
        ...(prefix === undefined ? {} : { prefix }),
        ...from,
      });
      return page as { items: readonly StoreItem<Value>[]; cursor?: string };
    });
  }
}
