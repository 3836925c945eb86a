/** What operations were answered. The answers are JSON: they are few, and errors are among them. */
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

export function writeAnswered(writer: ByteWriter, fact: Plain<"answered">): void {
  writer.head(FACT_TYPES.answered, fact.at);
  writer.text(fact.operation);
  writer.text(fact.call);
  writer.number(fact.since);
  writer.json(fact.answers);
}

export function readAnswered(reader: ByteReader, at: number): Plain<"answered"> {
  const operation = reader.text();
  const call = reader.text();
  const since = reader.number();
  const answers = reader.json() as Plain<"answered">["answers"];
  return { at, fact: "answered", operation, call, since, answers };
}
