/** The store that policies read is in every partition, as its home has it. */
import {
  type Broker,
  PAGE_MAX,
  type PageStart,
  type StoreEntry,
  walkPages,
} from "@sluice/protocol";

export const CONFIG_STORE = "config";

/** What is in the store, each value as text. */
export async function readConfig(broker: Broker): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const ask = (from: PageStart) => broker.storeScan(CONFIG_STORE, { limit: PAGE_MAX, ...from });
  for await (const { key, value } of walkPages(ask)) found.set(key, JSON.stringify(value));
  return found;
}

/** Makes the store of a partition like that of its home; answers how much of it was not. */
export async function alignConfig(
  wanted: ReadonlyMap<string, string>,
  to: Broker,
): Promise<number> {
  const there = await readConfig(to);
  const changes: StoreEntry[] = [];
  for (const [key, text] of wanted) {
    if (there.get(key) !== text) changes.push({ key, value: JSON.parse(text) });
  }
  for (const key of there.keys()) if (!wanted.has(key)) changes.push({ key, value: undefined });
  for (let i = 0; i < changes.length; i += PAGE_MAX) {
    await to.storeWrite(CONFIG_STORE, changes.slice(i, i + PAGE_MAX));
  }
  return changes.length;
}
