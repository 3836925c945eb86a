/** The small keyed stores. A value is anything that JSON can carry; undefined deletes its key. */
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

export function writeStored(writer: ByteWriter, fact: Plain<"stored">): void {
  writer.head(FACT_TYPES.stored, fact.at);
  writer.u8(fact.value === undefined ? 0 : 1);
  writer.text(fact.store);
  writer.text(fact.key);
  if (fact.value !== undefined) writer.json(fact.value);
}

export function readStored(reader: ByteReader, at: number): Plain<"stored"> {
  const hasValue = reader.isTrue();
  const store = reader.name();
  const key = reader.text();
  return { at, fact: "stored", store, key, value: hasValue ? reader.json() : undefined };
}
