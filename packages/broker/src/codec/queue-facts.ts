/** Queues, their lanes and what they count. Settings are rare and written as JSON. */
import type { QueueConfig } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";

export function writeQueue(writer: ByteWriter, fact: Plain<"queue">): void {
  writer.head(FACT_TYPES.queue, fact.at);
  writer.text(fact.name);
  const { running, ...capacity } = fact.config.capacity;
  writer.json({ ...fact.config, capacity: { ...capacity, leased: running } });
}

export function readQueue(reader: ByteReader, at: number): Plain<"queue"> {
  const name = reader.name();
  const { capacity, ...config } = reader.object() as StoredConfig;
  if (typeof capacity?.leased !== "number") throw reader.damaged("a queue without its capacity");
  const { leased: running, ...rest } = capacity;
  return { at, fact: "queue", name, config: { ...config, capacity: { ...rest, running } } };
}

/** Logs keep the name that the limit on running jobs had first. */
type StoredConfig = Omit<QueueConfig, "capacity"> & {
  capacity: Omit<QueueConfig["capacity"], "running"> & { leased: number };
};

export function writePurged(writer: ByteWriter, fact: Plain<"purged">): void {
  writer.head(FACT_TYPES.purged, fact.at);
  writer.text(fact.name);
  writer.number(fact.upTo);
}

export function readPurged(reader: ByteReader, at: number): Plain<"purged"> {
  return { at, fact: "purged", name: reader.name(), upTo: reader.number() };
}

export function writeWeight(writer: ByteWriter, fact: Plain<"weight">): void {
  writer.head(FACT_TYPES.weight, fact.at);
  writer.text(fact.queue);
  writer.texts(fact.key);
  writer.number(fact.weight);
}

export function readWeight(reader: ByteReader, at: number): Plain<"weight"> {
  return {
    at,
    fact: "weight",
    queue: reader.name(),
    key: reader.names(),
    weight: reader.number(),
  };
}

export function writePosition(writer: ByteWriter, fact: Plain<"position">): void {
  writer.head(FACT_TYPES.position, fact.at);
  writer.u8(fact.isLevel ? 1 : 0);
  writer.text(fact.queue);
  writer.number(fact.tier);
  writer.texts(fact.path);
  writer.number(fact.rounds);
  writer.number(fact.rem);
}

export function readPosition(reader: ByteReader, at: number): Plain<"position"> {
  return {
    at,
    fact: "position",
    isLevel: reader.isTrue(),
    queue: reader.name(),
    tier: reader.number(),
    path: reader.names(),
    rounds: reader.number(),
    rem: reader.number(),
  };
}

export function writeKeyHeld(writer: ByteWriter, fact: Plain<"key-held">): void {
  writer.head(FACT_TYPES["key-held"], fact.at);
  writer.text(fact.queue);
  writer.text(fact.key);
  writer.number(fact.id);
  writer.time(fact.until, fact.at);
}

export function readKeyHeld(reader: ByteReader, at: number): Plain<"key-held"> {
  return {
    at,
    fact: "key-held",
    queue: reader.name(),
    key: reader.text(),
    id: reader.number(),
    until: reader.time(at),
  };
}

export function writeCounters(writer: ByteWriter, fact: Plain<"counters">): void {
  writer.head(FACT_TYPES.counters, fact.at);
  writer.u8(fact.isDlq ? 1 : 0);
  writer.text(fact.queue);
  writer.json(fact.counters);
}

export function readCounters(reader: ByteReader, at: number): Plain<"counters"> {
  const isDlq = reader.isTrue();
  const queue = reader.name();
  const counters = reader.object() as Plain<"counters">["counters"];
  return { at, fact: "counters", queue, counters, isDlq };
}
