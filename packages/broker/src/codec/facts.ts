/**
 * The facts as bytes. A fact is its type, its time, its fields and, last, its body, which the
 * caller writes and reads: the engine carries bodies and does not look into them. Facts follow each
 * other without a length, so a body must know its own.
 *
 * What is read equals what was written, with one exception: an optional field that was undefined is
 * absent, and so is one inside of settings.
 */
import assert from "node:assert/strict";
import type { Fact } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { JOB_TYPES, LEASED_IN_PROCESS, type Plain, type RareKind } from "./fact-types.ts";
import { readJob, writeJob } from "./job-record.ts";
import type { ReadBody, WriteBody } from "./job-spec.ts";
import * as life from "./life-facts.ts";
import { RARE_FACTS } from "./rare-facts.ts";

export type { ReadBody, WriteBody } from "./job-spec.ts";

/** The kinds by their number; undefined where there is none. */
export const FACT_KINDS: readonly (Fact["fact"] | undefined)[] = kindsByType();

function kindsByType(): (Fact["fact"] | undefined)[] {
  const kinds: (Fact["fact"] | undefined)[] = [];
  kinds[LEASED_IN_PROCESS] = "leased";
  const rare = Object.entries(RARE_FACTS).map(([kind, { type }]) => [kind, type] as const);
  for (const [kind, type] of [...Object.entries(JOB_TYPES), ...rare]) {
    assert.ok(kinds[type] === undefined, `two facts have the number ${type}`);
    kinds[type] = kind as Fact["fact"];
  }
  return kinds;
}

/** Begins a fact in `writer`. After a throw, `writer.at = writer.start` takes back its part. */
export function encodeFact(writer: ByteWriter, fact: Fact, writeBody: WriteBody): void {
  writer.begin();
  // The frequent ones come first: the kinds are compared one after the other.
  switch (fact.fact) {
    case "job":
      return encodeJob(writer, JOB_TYPES.job, fact, writeBody);
    case "leased":
      return life.writeLeased(writer, fact);
    case "ended":
      return life.writeEnded(writer, fact);
    case "extended":
      return life.writeExtended(writer, fact);
    case "due":
      return life.writeDue(writer, fact);
    case "retried":
      return life.writeRetried(writer, fact);
    case "returned":
    case "redriven":
    case "revived":
      return life.writeIdOnly(writer, fact);
    case "dead":
      return life.writeDead(writer, fact);
    case "replaced":
      return life.writeReplaced(writer, fact, writeBody);
    case "follow-up":
      return life.writeFollowUp(writer, fact, writeBody);
    case "promoted":
      return life.writePromoted(writer, fact);
    case "progress":
      return life.writeProgress(writer, fact);
    case "moved":
      return encodeJob(writer, JOB_TYPES.moved, fact, writeBody);
    default:
      return encodeRare(writer, fact);
  }
}

export function decodeFact(reader: ByteReader, readBody: ReadBody): Fact {
  const type = reader.u8();
  const kind = FACT_KINDS[type];
  if (kind === undefined) throw reader.newer(`a fact of type ${type}`);
  const at = reader.number();
  switch (kind) {
    case "job":
      return { at, fact: "job", job: readJob(reader, at, readBody) };
    case "leased":
      return life.readLeased(reader, at, type);
    case "ended":
      return life.readEnded(reader, at);
    case "extended":
      return life.readExtended(reader, at);
    case "due":
      return life.readDue(reader, at);
    case "retried":
      return life.readRetried(reader, at);
    case "returned":
    case "redriven":
    case "revived":
      return life.readIdOnly(reader, at, kind);
    case "dead":
      return life.readDead(reader, at);
    case "replaced":
      return life.readReplaced(reader, at, readBody);
    case "follow-up":
      return life.readFollowUp(reader, at, readBody);
    case "promoted":
      return life.readPromoted(reader, at);
    case "progress":
      return life.readProgress(reader, at);
    case "moved":
      return { at, fact: "moved", job: readJob(reader, at, readBody) };
    default:
      return { at, fact: kind, ...RARE_FACTS[kind].read(reader, at) } as Fact;
  }
}

/** Types are not checked when the program runs: a fact must not get lost in silence. */
function encodeRare(writer: ByteWriter, fact: Extract<Fact, { fact: RareKind }>): void {
  const codec = RARE_FACTS[fact.fact];
  assert.ok(codec !== undefined, `no codec for ${JSON.stringify(fact)}`);
  writer.head(codec.type, fact.at);
  codec.write(writer, fact as never);
}

function encodeJob(
  writer: ByteWriter,
  type: number,
  fact: Plain<"job"> | Plain<"moved">,
  writeBody: WriteBody,
): void {
  writer.head(type, fact.at);
  writeJob(writer, fact.job, fact.at, writeBody);
}
