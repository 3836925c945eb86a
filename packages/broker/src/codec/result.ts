/** What a worker answered: the engine carries anything, the broker gives it bytes. */
import assert from "node:assert/strict";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";

export function writeResult(writer: ByteWriter, result: unknown): void {
  assert.ok(result instanceof Uint8Array, "a result must be bytes");
  writer.blob(result);
}

/** A copy: a result is kept for long, and a view would keep the whole chunk of the log with it. */
export function readResult(reader: ByteReader): Uint8Array {
  return reader.blob().slice();
}
