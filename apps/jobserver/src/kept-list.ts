/**
 * The last good list on disk. A list may be larger than one value of a store, so its text is kept
 * in parts, which are written together or not at all.
 */
import type { Store } from "sluice";
import type { Preferred } from "./submitters.ts";

export interface KeptList {
  /** Another endpoint's list is not taken over. */
  readonly endpoint: string;
  readonly workers: readonly Preferred[];
  readonly etag?: string | undefined;
  readonly at: number;
}

const PREFIX = "priority-list/";
/** Characters; each takes four bytes at most, and a value may have 256 KiB. */
const PART_LENGTH = 60_000;

export async function saveList(store: Store<string>, list: KeptList): Promise<void> {
  const text = JSON.stringify(list);
  const count = Math.ceil(text.length / PART_LENGTH);
  const parts = Array.from({ length: count }, (_, index) => ({
    key: keyOf(index),
    value: text.slice(index * PART_LENGTH, (index + 1) * PART_LENGTH),
  }));
  const stale: { key: string }[] = [];
  for await (const { key } of store.scan({ prefix: PREFIX })) {
    if (key >= keyOf(count)) stale.push({ key });
  }
  await store.batch([...parts, ...stale]);
}

export async function loadList(store: Store<string>): Promise<KeptList | undefined> {
  let text = "";
  for await (const { value } of store.scan({ prefix: PREFIX })) text += value;
  return text === "" ? undefined : JSON.parse(text);
}

/** Keys that sort as their numbers do. */
function keyOf(index: number): string {
  return PREFIX + String(index).padStart(4, "0");
}
