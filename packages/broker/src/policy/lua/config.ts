import type { Engine } from "@sluice/engine";
import { CONFIG_BYTES_MAX, CONFIG_DEPTH_MAX } from "../../limits.ts";
import type { ConfigSource } from "./thread.ts";

/** The store that scripts read. */
const STORE = "config";

const KEYS_PER_PAGE = 1000;

/** The key-value configuration, as threads get it: told once, and again when it has changed. */
export class StoredConfig implements ConfigSource {
  readonly #engine: Engine;
  version = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Something was stored. */
  hear(store: string): void {
    if (store === STORE) this.version++;
  }

  /** A table of all keys, with a byte before each value that says what it is. */
  bytes(): Uint8Array {
    const parts: Buffer[] = [];
    let count = 0;
    let left = CONFIG_BYTES_MAX;
    for (const [key, value] of this.#entries()) {
      if (value === null) continue;
      const part = Buffer.concat([encode(key, 0), encode(value, 0)]);
      left -= part.length;
      if (left < 0) break;
      parts.push(part);
      count++;
    }
    return Buffer.concat([tagged("t", count), ...parts]);
  }

  *#entries(): Iterable<[string, unknown]> {
    let after = "";
    for (;;) {
      const page = this.#engine.stores.scan(STORE, { prefix: "", after, limit: KEYS_PER_PAGE });
      yield* page;
      if (page.length < KEYS_PER_PAGE) return;
      after = page.at(-1)![0];
    }
  }
}

/** What lies too deep is false. */
function encode(value: unknown, depth: number): Buffer {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return number(value);
  if (typeof value !== "object" || value === null || depth >= CONFIG_DEPTH_MAX) {
    return Buffer.from(value === true ? "b1" : "b0");
  }
  const entries: [Buffer, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [number(i + 1), item])
    : Object.entries(value).map(([key, item]) => [text(key), item]);
  const known = entries.filter(([, item]) => item !== null);
  const parts = known.flatMap(([key, item]) => [key, encode(item, depth + 1)]);
  return Buffer.concat([tagged("t", known.length), ...parts]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([tagged("s", bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(9, "d");
  bytes.writeDoubleLE(value, 1);
  return bytes;
}

function tagged(tag: string, count: number): Buffer {
  const bytes = Buffer.alloc(5, tag);
  bytes.writeUInt32LE(count, 1);
  return bytes;
}
