/** Permits that one partition lends to another, and what became of them. */
import type { LotUse } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

type LendingFact = Plain<"life" | "borrower" | "lent" | "lots" | "lot-expired">;

export function writeLending(writer: ByteWriter, fact: LendingFact): void {
  writer.head(FACT_TYPES[fact.fact], fact.at);
  switch (fact.fact) {
    case "life":
      writer.number(fact.life);
      return writer.number(fact.lot);
    case "borrower":
      writer.text(fact.name);
      return writer.number(fact.life);
    case "lent":
      writer.text(fact.key);
      writer.text(fact.borrower);
      writer.number(fact.lot);
      writer.number(fact.cost);
      writer.number(fact.jobs);
      return writer.time(fact.until, fact.at);
    case "lots":
      return writeLots(writer, fact);
    case "lot-expired":
      writer.text(fact.key);
      return writer.number(fact.lot);
  }
}

function writeLots(writer: ByteWriter, fact: Plain<"lots">): void {
  writer.text(fact.key);
  writer.text(fact.borrower);
  writer.number(fact.held);
  writer.varint(fact.uses.length);
  for (const { lot, usedCost, usedJobs, isOver } of fact.uses) {
    writer.u8(isOver ? 1 : 0);
    writer.number(lot);
    writer.number(usedCost);
    writer.number(usedJobs);
  }
}

export function readLending(
  reader: ByteReader,
  at: number,
  kind: LendingFact["fact"],
): LendingFact {
  switch (kind) {
    case "life":
      return { at, fact: kind, life: reader.number(), lot: reader.number() };
    case "borrower":
      return { at, fact: kind, name: reader.name(), life: reader.number() };
    case "lent":
      return {
        at,
        fact: kind,
        key: reader.name(),
        borrower: reader.name(),
        lot: reader.number(),
        cost: reader.number(),
        jobs: reader.number(),
        until: reader.time(at),
      };
    case "lots":
      return readLots(reader, at);
    case "lot-expired":
      return { at, fact: kind, key: reader.name(), lot: reader.number() };
  }
}

function readLots(reader: ByteReader, at: number): Plain<"lots"> {
  const key = reader.name();
  const borrower = reader.name();
  const held = reader.number();
  const uses: LotUse[] = [];
  for (let left = reader.varint(); left > 0; left--) {
    const isOver = reader.isTrue();
    const [lot, usedCost, usedJobs] = [reader.number(), reader.number(), reader.number()];
    uses.push({ lot, usedCost, usedJobs, isOver });
  }
  return { at, fact: "lots", key, borrower, held, uses };
}
