/** The facts that are not of one job: of queues, gates, groups and stores. */
import assert from "node:assert/strict";
import type { Fact } from "@sluice/engine";
import { LEASE_SECRET_BYTES } from "../limits.ts";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Plain } from "./fact-fields.ts";
import { FACT_TYPES } from "./fact-types.ts";
import * as gate from "./gate-facts.ts";
import * as group from "./group-facts.ts";
import { readLending, writeLending } from "./lending-facts.ts";
import { readAnswered, writeAnswered } from "./operation-facts.ts";
import * as queue from "./queue-facts.ts";
import { readStored, writeStored } from "./store-facts.ts";

/** A new kind of fact that is in none of the lists does not compile. */
type RareKind =
  | ("queue" | "queue-deleted" | "purged" | "purge-ended")
  | ("weight" | "position" | "key-held" | "counters")
  | ("gate" | "cooled" | "cleared" | "reported" | "gate-state")
  | ("group" | "group-ended" | "group-held" | "group-released")
  | ("stored" | "answered" | "ids" | "wall" | "lease-secret")
  | ("life" | "borrower" | "lent" | "lots" | "lot-expired");

export function encodeRare(writer: ByteWriter, fact: Extract<Fact, { fact: RareKind }>): void {
  switch (fact.fact) {
    case "queue":
      return queue.writeQueue(writer, fact);
    case "queue-deleted":
    case "purge-ended":
    case "group-ended":
    case "group-held":
    case "group-released":
      return writeNamed(writer, fact);
    case "purged":
      return queue.writePurged(writer, fact);
    case "weight":
      return queue.writeWeight(writer, fact);
    case "position":
      return queue.writePosition(writer, fact);
    case "key-held":
      return queue.writeKeyHeld(writer, fact);
    case "counters":
      return queue.writeCounters(writer, fact);
    case "gate":
      return gate.writeGate(writer, fact);
    case "cooled":
      return gate.writeCooled(writer, fact);
    case "cleared":
      return gate.writeCleared(writer, fact);
    case "reported":
      return gate.writeReported(writer, fact);
    case "gate-state":
      return gate.writeGateState(writer, fact);
    case "group":
      return group.writeGroup(writer, fact);
    case "stored":
      return writeStored(writer, fact);
    case "answered":
      return writeAnswered(writer, fact);
    case "ids":
      return writeIds(writer, fact);
    case "wall":
      return writeWall(writer, fact);
    case "lease-secret":
      return writeLeaseSecret(writer, fact);
    case "life":
    case "borrower":
    case "lent":
    case "lots":
    case "lot-expired":
      return writeLending(writer, fact);
    default:
      return missing(fact);
  }
}

export function decodeRare(reader: ByteReader, at: number, kind: RareKind): Fact {
  switch (kind) {
    case "queue":
      return queue.readQueue(reader, at);
    case "queue-deleted":
    case "purge-ended":
    case "group-ended":
    case "group-held":
    case "group-released":
      return { at, fact: kind, name: reader.name() };
    case "purged":
      return queue.readPurged(reader, at);
    case "weight":
      return queue.readWeight(reader, at);
    case "position":
      return queue.readPosition(reader, at);
    case "key-held":
      return queue.readKeyHeld(reader, at);
    case "counters":
      return queue.readCounters(reader, at);
    case "gate":
      return gate.readGate(reader, at);
    case "cooled":
      return gate.readCooled(reader, at);
    case "cleared":
      return gate.readCleared(reader, at);
    case "reported":
      return gate.readReported(reader, at);
    case "gate-state":
      return gate.readGateState(reader, at);
    case "group":
      return group.readGroup(reader, at);
    case "stored":
      return readStored(reader, at);
    case "answered":
      return readAnswered(reader, at);
    case "ids":
      return { at, fact: "ids", last: reader.number(), seq: reader.number() };
    case "wall":
      return { at, fact: "wall", aheadMs: reader.number() };
    case "lease-secret":
      return readLeaseSecret(reader, at);
    case "life":
    case "borrower":
    case "lent":
    case "lots":
    case "lot-expired":
      return readLending(reader, at, kind);
    default:
      return missing(kind);
  }
}

/** Types are not checked when the program runs: a fact must not get lost in silence. */
function missing(fact: never): never {
  assert.fail(`no codec for ${JSON.stringify(fact)}`);
}

type NamedKind =
  | ("queue-deleted" | "purge-ended")
  | ("group-ended" | "group-held" | "group-released");

function writeNamed(writer: ByteWriter, fact: Plain<NamedKind>): void {
  writer.head(FACT_TYPES[fact.fact], fact.at);
  writer.text(fact.name);
}

function writeIds(writer: ByteWriter, fact: Plain<"ids">): void {
  writer.head(FACT_TYPES.ids, fact.at);
  writer.number(fact.last);
  writer.number(fact.seq);
}

function writeWall(writer: ByteWriter, fact: Plain<"wall">): void {
  writer.head(FACT_TYPES.wall, fact.at);
  writer.number(fact.aheadMs);
}

function writeLeaseSecret(writer: ByteWriter, fact: Plain<"lease-secret">): void {
  writer.head(FACT_TYPES["lease-secret"], fact.at);
  writer.blob(fact.secret);
}

function readLeaseSecret(reader: ByteReader, at: number): Plain<"lease-secret"> {
  // A copy: what is read is a view of a batch.
  const secret = new Uint8Array(reader.blob());
  if (secret.length !== LEASE_SECRET_BYTES) {
    throw reader.damaged(`a secret of leases of ${secret.length} bytes`);
  }
  return { at, fact: "lease-secret", secret };
}
