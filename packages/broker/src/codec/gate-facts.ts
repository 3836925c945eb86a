/** Gates: their limits, and what was told of them. Limits and saves are rare: JSON. */
import type { GateConfig } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

export function writeGate(writer: ByteWriter, fact: Plain<"gate">): void {
  writer.head(FACT_TYPES.gate, fact.at);
  writer.u8(fact.config === undefined ? 0 : 1);
  writer.text(fact.key);
  if (fact.config !== undefined) writer.json(fact.config);
}

export function readGate(reader: ByteReader, at: number): Plain<"gate"> {
  const hasConfig = reader.isTrue();
  const key = reader.name();
  const config = hasConfig ? (reader.object() as GateConfig) : undefined;
  return { at, fact: "gate", key, config };
}

export function writeCooled(writer: ByteWriter, fact: Plain<"cooled">): void {
  writer.head(FACT_TYPES.cooled, fact.at);
  writer.text(fact.key);
  writer.time(fact.until, fact.at);
  writer.text(fact.reason);
}

export function readCooled(reader: ByteReader, at: number): Plain<"cooled"> {
  return {
    at,
    fact: "cooled",
    key: reader.name(),
    until: reader.time(at),
    reason: reader.text(),
  };
}

export function writeReported(writer: ByteWriter, fact: Plain<"reported">): void {
  writer.head(FACT_TYPES.reported, fact.at);
  writer.u8(fact.ok ? 1 : 0);
  writer.text(fact.key);
}

export function readReported(reader: ByteReader, at: number): Plain<"reported"> {
  return { at, fact: "reported", ok: reader.isTrue(), key: reader.name() };
}

export function writeGateState(writer: ByteWriter, fact: Plain<"gate-state">): void {
  writer.head(FACT_TYPES["gate-state"], fact.at);
  writer.text(fact.key);
  writer.json(fact.save);
}

export function readGateState(reader: ByteReader, at: number): Plain<"gate-state"> {
  const key = reader.name();
  return { at, fact: "gate-state", key, save: reader.object() as Plain<"gate-state">["save"] };
}

export function writeCleared(writer: ByteWriter, fact: Plain<"cleared">): void {
  writer.head(FACT_TYPES.cleared, fact.at);
  writer.text(fact.key);
}

export function readCleared(reader: ByteReader, at: number): Plain<"cleared"> {
  return { at, fact: "cleared", key: reader.name() };
}
