/** The steps of jobs, and the signals that they wait for. */
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { STEP_KINDS } from "./codes.ts";
import { allOf, type Flags, JOB_TYPES, type Plain, type Told } from "./fact-types.ts";
import type { ReadBody, WriteBody } from "./job-spec.ts";

/** The kind's code is in the low bits, the flags are above it. */
const KIND = 3;
const STEP: Flags<Told<"step">> = { signal: 1 << 2, body: 1 << 3 };
const STEP_KNOWN = allOf(STEP) | KIND;

export function writeStep(writer: ByteWriter, fact: Told<"step">, writeBody: WriteBody): void {
  writer.head(JOB_TYPES.step, fact.at);
  const { signal, body } = fact;
  let flags = STEP_KINDS.code(fact.kind);
  if (signal !== undefined) flags |= STEP.signal;
  if (body !== undefined) flags |= STEP.body;
  writer.varint(flags);
  writer.number(fact.id);
  writer.text(fact.name);
  writer.number(fact.occurrence);
  writer.number(fact.sizeBytes);
  if (signal !== undefined) writer.number(signal);
  if (body !== undefined) writeBody(writer, body);
}

export function readStep(reader: ByteReader, at: number, readBody: ReadBody): Told<"step"> {
  const flags = reader.flags(STEP_KNOWN);
  const fact: Told<"step"> = {
    at,
    fact: "step",
    kind: STEP_KINDS.word(flags & KIND, reader),
    id: reader.number(),
    name: reader.text(),
    occurrence: reader.number(),
    sizeBytes: reader.number(),
  };
  if ((flags & STEP.signal) !== 0) fact.signal = reader.number();
  if ((flags & STEP.body) !== 0) fact.body = readBody(reader);
  return fact;
}

const SUSPENDED: Flags<Told<"suspended">, "gates"> = { error: 1 << 2, gates: 1 << 3 };
const SUSPENDED_KNOWN = allOf(SUSPENDED) | KIND;

export function writeSuspended(writer: ByteWriter, fact: Told<"suspended">): void {
  writer.head(JOB_TYPES.suspended, fact.at);
  const { error, gates } = fact;
  let flags = STEP_KINDS.code(fact.kind);
  if (error !== undefined) flags |= SUSPENDED.error;
  if (gates.length > 0) flags |= SUSPENDED.gates;
  writer.varint(flags);
  writer.number(fact.id);
  writer.text(fact.name);
  writer.number(fact.occurrence);
  writer.time(fact.until, fact.at);
  writer.number(fact.cost);
  writer.number(fact.failures);
  if (error !== undefined) writer.text(error);
  if (gates.length > 0) writer.texts(gates);
}

export function readSuspended(reader: ByteReader, at: number): Told<"suspended"> {
  const flags = reader.flags(SUSPENDED_KNOWN);
  const fact: Told<"suspended"> = {
    at,
    fact: "suspended",
    kind: STEP_KINDS.word(flags & KIND, reader),
    id: reader.number(),
    name: reader.text(),
    occurrence: reader.number(),
    until: reader.time(at),
    cost: reader.number(),
    failures: reader.number(),
    gates: [],
  };
  if ((flags & SUSPENDED.error) !== 0) fact.error = reader.text();
  if ((flags & SUSPENDED.gates) !== 0) fact.gates = reader.names();
  return fact;
}

export function writeSignalled(
  writer: ByteWriter,
  fact: Plain<"signalled">,
  writeBody: WriteBody,
): void {
  writer.head(JOB_TYPES.signalled, fact.at);
  writer.number(fact.id);
  writer.text(fact.name);
  writer.number(fact.index);
  writer.number(fact.sizeBytes);
  writeBody(writer, fact.body);
}

export function readSignalled(
  reader: ByteReader,
  at: number,
  readBody: ReadBody,
): Plain<"signalled"> {
  return {
    at,
    fact: "signalled",
    id: reader.number(),
    name: reader.text(),
    index: reader.number(),
    sizeBytes: reader.number(),
    body: readBody(reader),
  };
}
