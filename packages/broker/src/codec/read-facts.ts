import type { Fact } from "@sluice/engine";
import { skipBody } from "./body.ts";
import { ByteReader } from "./byte-reader.ts";
import { decodeFact } from "./facts.ts";

/** The facts of one batch of a log, without the bodies of their jobs. */
export function* readFacts(batch: Uint8Array): Generator<Fact> {
  const reader = new ByteReader(batch);
  while (!reader.isAtEnd) yield decodeFact(reader, skipBody);
}
