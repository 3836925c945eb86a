import { SluiceError } from "@sluice/protocol";
import { KEY_LENGTH_MAX, VALUE_BYTES_MAX } from "../limits.ts";

export interface Entry {
  readonly value: string;
  /** Grows with every change of any key. */
  readonly revision: number;
}

export interface WatchedEntry {
  readonly key: string;
  /** Undefined: it was deleted. */
  readonly value: string | undefined;
  readonly revision: number;
}

/**
 * What all nodes of a cluster know: few and small entries. A caller changes an entry only if it
 * knows the last revision. Keys are words with dots between them.
 *
 * A change that was not answered in time rejects with DISCONNECTED, and may have happened: the
 * caller has to look.
 */
export interface Registry {
  get(key: string): Promise<Entry | undefined>;
  /** Answers the revision; rejects with CONFLICT when the key is there. */
  create(key: string, value: string): Promise<number>;
  /** Answers the new revision; rejects with CONFLICT when the last one is another. */
  update(key: string, value: string, revision: number): Promise<number>;
  /** Rejects with CONFLICT when the last revision is another. */
  delete(key: string, revision: number): Promise<void>;
  /**
   * Tells of these keys, and of all that begin with one that ends with a dot: first of those that
   * are there, and of each change later. Of several changes of a key the last may be all.
   * Resolves when all that are there were reported, with a function that ends it.
   */
  watch(keys: readonly string[], onEntry: (entry: WatchedEntry) => void): Promise<() => void>;
  close(): Promise<void>;
}

export function checkKey(key: string): void {
  const isKey = typeof key === "string" && /^[\w=-]+(\.[\w=-]+)*$/.test(key);
  if (isKey && key.length <= KEY_LENGTH_MAX) return;
  const message = `key must be words separated by dots, got ${JSON.stringify(key)}`;
  throw new SluiceError("INVALID", message, { field: "key", value: key });
}

export function checkValue(value: string): void {
  if (typeof value === "string" && Buffer.byteLength(value) <= VALUE_BYTES_MAX) return;
  const message = `value must be a text of at most ${VALUE_BYTES_MAX} bytes`;
  throw new SluiceError("INVALID", message, { field: "value" });
}

/** Whether a watch of these keys tells of this one. */
export function isWatched(key: string, keys: readonly string[]): boolean {
  return keys.some((one) => (one.endsWith(".") ? key.startsWith(one) : key === one));
}

export function conflict(key: string): SluiceError {
  return new SluiceError(
    "CONFLICT",
    `the registry entry ${key} was changed by another node; read it again`,
    { key },
  );
}

export function closedRegistry(): SluiceError {
  return new SluiceError("CLOSED", "the registry is closed");
}
