/** The store that policies read is in every partition: whoever opens one brings it up to date. */
import type { Broker, StoreEntry } from "@sluice/protocol";

export const CONFIG_STORE = "config";

export async function copyConfig(from: Broker, to: Broker): Promise<void> {
  const [wanted, there] = await Promise.all([read(from), read(to)]);
  const changes: StoreEntry[] = [];
  for (const [key, text] of wanted) {
    if (there.get(key) !== text) changes.push({ key, value: JSON.parse(text) });
  }
  for (const key of there.keys()) if (!wanted.has(key)) changes.push({ key, value: undefined });
  for (let i = 0; i < changes.length; i += BATCH) {
    await to.storeWrite(CONFIG_STORE, changes.slice(i, i + BATCH));
  }
}

const BATCH = 1000;

async function read(broker: Broker): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let cursor: string | undefined;
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await broker.storeScan(CONFIG_STORE, { limit: BATCH, ...from });
    for (const { key, value } of page.items) found.set(key, JSON.stringify(value));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return found;
}
