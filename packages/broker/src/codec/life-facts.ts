/** What happens to a job after it was added. Each fact names it by its id, first. */
import assert from "node:assert/strict";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { ENDINGS, RETRY_EVENTS } from "./codes.ts";
import {
  allOf,
  type Flags,
  JOB_TYPES,
  LEASED_IN_PROCESS,
  type Plain,
  type Told,
} from "./fact-types.ts";
import { type ReadBody, readSpec, type WriteBody, writeSpec } from "./job-spec.ts";

/** Its one optional field has a type of its own: a fact that every job has needs no flags. */
export function writeLeased(writer: ByteWriter, fact: Told<"leased">): void {
  writer.head(fact.inProcess === true ? LEASED_IN_PROCESS : JOB_TYPES.leased, fact.at);
  writer.number(fact.id);
  writer.number(fact.lease);
  writer.time(fact.until, fact.at);
  writer.text(fact.worker);
}

export function readLeased(reader: ByteReader, at: number, type: number): Told<"leased"> {
  const fact: Told<"leased"> = {
    at,
    fact: "leased",
    id: reader.number(),
    lease: reader.number(),
    until: reader.time(at),
    worker: reader.name(),
  };
  if (type === LEASED_IN_PROCESS) fact.inProcess = true;
  return fact;
}

/** The ending's code is in the low bits, the flags are above it. */
const ENDING = 7;
const ENDED: Flags<Omit<Told<"ended">, "aside">, "blame"> = {
  error: 1 << 3,
  result: 1 << 4,
  blame: 1 << 5,
  waited: 1 << 6,
  stack: 1 << 7,
  needed: 1 << 8,
};
const ENDED_KNOWN = allOf(ENDED) | ENDING;

export function writeEnded(writer: ByteWriter, fact: Told<"ended">): void {
  writer.head(JOB_TYPES.ended, fact.at);
  const { error, result, blame, waited, stack, needed } = fact;
  let flags = ENDINGS.code(fact.ending);
  if (error !== undefined) flags |= ENDED.error;
  if (result !== undefined) flags |= ENDED.result;
  if (blame.length !== 0) flags |= ENDED.blame;
  if (waited !== undefined) flags |= ENDED.waited;
  if (stack !== undefined) flags |= ENDED.stack;
  if (needed === true) flags |= ENDED.needed;
  writer.varint(flags);
  writer.number(fact.id);
  if (flags <= ENDING) return;
  if (error !== undefined) writer.text(error);
  if (result !== undefined) writeResult(writer, result);
  if (blame.length !== 0) writer.texts(blame);
  if (waited !== undefined) writeWaited(writer, waited);
  if (stack !== undefined) writer.text(stack);
}

export function readEnded(reader: ByteReader, at: number): Told<"ended"> {
  const flags = reader.flags(ENDED_KNOWN);
  const ending = ENDINGS.word(flags & ENDING, reader);
  const fact: Told<"ended"> = { at, fact: "ended", id: reader.number(), ending, blame: [] };
  if (flags <= ENDING) return fact;
  if ((flags & ENDED.error) !== 0) fact.error = reader.text();
  if ((flags & ENDED.result) !== 0) fact.result = readResult(reader);
  if ((flags & ENDED.blame) !== 0) fact.blame = reader.names();
  if ((flags & ENDED.waited) !== 0) fact.waited = readWaited(reader);
  if ((flags & ENDED.stack) !== 0) fact.stack = reader.text();
  if ((flags & ENDED.needed) !== 0) fact.needed = true;
  return fact;
}

/** The event's code is in the low bits, the flags are above it. */
const EVENT = 3;
const RETRIED: Flags<Told<"retried">, "blame"> = { error: 1 << 2, blame: 1 << 3, stack: 1 << 4 };
const RETRIED_KNOWN = allOf(RETRIED) | EVENT;

export function writeRetried(writer: ByteWriter, fact: Told<"retried">): void {
  writer.head(JOB_TYPES.retried, fact.at);
  const { error, blame, stack } = fact;
  let flags = RETRY_EVENTS.code(fact.event);
  if (error !== undefined) flags |= RETRIED.error;
  if (blame.length !== 0) flags |= RETRIED.blame;
  if (stack !== undefined) flags |= RETRIED.stack;
  writer.varint(flags);
  writer.number(fact.id);
  writer.number(fact.attempt);
  writer.time(fact.until, fact.at);
  if (error !== undefined) writer.text(error);
  if (blame.length !== 0) writer.texts(blame);
  if (stack !== undefined) writer.text(stack);
}

export function readRetried(reader: ByteReader, at: number): Told<"retried"> {
  const flags = reader.flags(RETRIED_KNOWN);
  const fact: Told<"retried"> = {
    at,
    fact: "retried",
    id: reader.number(),
    attempt: reader.number(),
    until: reader.time(at),
    event: RETRY_EVENTS.word(flags & EVENT, reader),
    blame: [],
  };
  if ((flags & RETRIED.error) !== 0) fact.error = reader.text();
  if ((flags & RETRIED.blame) !== 0) fact.blame = reader.names();
  if ((flags & RETRIED.stack) !== 0) fact.stack = reader.text();
  return fact;
}

const DUE: Flags<Told<"due">> = { until: 1 };

export function writeDue(writer: ByteWriter, fact: Told<"due">): void {
  writer.head(JOB_TYPES.due, fact.at);
  writer.varint(fact.until === undefined ? 0 : DUE.until);
  writer.number(fact.id);
  if (fact.until !== undefined) writer.time(fact.until, fact.at);
}

export function readDue(reader: ByteReader, at: number): Told<"due"> {
  const flags = reader.flags(DUE.until);
  const id = reader.number();
  if (flags === 0) return { at, fact: "due", id };
  return { at, fact: "due", id, until: reader.time(at) };
}

const DEAD: Flags<Told<"dead">, "blame"> = { error: 1, blame: 2, stack: 4, attempts: 8 };
const DEAD_KNOWN = allOf(DEAD);

export function writeDead(writer: ByteWriter, fact: Told<"dead">): void {
  writer.head(JOB_TYPES.dead, fact.at);
  const { error, blame, stack, attempts } = fact;
  let flags = error === undefined ? 0 : DEAD.error;
  if (blame.length !== 0) flags |= DEAD.blame;
  if (stack !== undefined) flags |= DEAD.stack;
  if (attempts !== undefined) flags |= DEAD.attempts;
  writer.varint(flags);
  writer.number(fact.id);
  writer.text(fact.reason);
  if (error !== undefined) writer.text(error);
  if (blame.length !== 0) writer.texts(blame);
  if (stack !== undefined) writer.text(stack);
  if (attempts !== undefined) writer.number(attempts);
}

export function readDead(reader: ByteReader, at: number): Told<"dead"> {
  const flags = reader.flags(DEAD_KNOWN);
  const id = reader.number();
  const fact: Told<"dead"> = { at, fact: "dead", id, reason: reader.name(), blame: [] };
  if ((flags & DEAD.error) !== 0) fact.error = reader.text();
  if ((flags & DEAD.blame) !== 0) fact.blame = reader.names();
  if ((flags & DEAD.stack) !== 0) fact.stack = reader.text();
  if ((flags & DEAD.attempts) !== 0) fact.attempts = reader.number();
  return fact;
}

const REPLACED: Flags<Told<"replaced">> = { until: 1 };

export function writeReplaced(
  writer: ByteWriter,
  fact: Told<"replaced">,
  writeBody: WriteBody,
): void {
  writer.head(JOB_TYPES.replaced, fact.at);
  writer.varint(fact.until === undefined ? 0 : REPLACED.until);
  writer.number(fact.id);
  writer.number(fact.sizeBytes);
  if (fact.until !== undefined) writer.time(fact.until, fact.at);
  writeBody(writer, fact.body);
}

export function readReplaced(reader: ByteReader, at: number, readBody: ReadBody): Told<"replaced"> {
  const flags = reader.flags(REPLACED.until);
  const id = reader.number();
  const sizeBytes = reader.number();
  const until = flags === 0 ? undefined : reader.time(at);
  const body = readBody(reader);
  if (until === undefined) return { at, fact: "replaced", id, sizeBytes, body };
  return { at, fact: "replaced", id, sizeBytes, body, until };
}

export function writeFollowUp(
  writer: ByteWriter,
  fact: Plain<"follow-up">,
  writeBody: WriteBody,
): void {
  writer.head(JOB_TYPES["follow-up"], fact.at);
  writer.number(fact.id);
  writeSpec(writer, fact.spec, writeBody);
}

export function readFollowUp(
  reader: ByteReader,
  at: number,
  readBody: ReadBody,
): Plain<"follow-up"> {
  return { at, fact: "follow-up", id: reader.number(), spec: readSpec(reader, readBody) };
}

export function writeExtended(writer: ByteWriter, fact: Plain<"extended">): void {
  writer.head(JOB_TYPES.extended, fact.at);
  writer.number(fact.id);
  writer.time(fact.until, fact.at);
}

export function readExtended(reader: ByteReader, at: number): Plain<"extended"> {
  return { at, fact: "extended", id: reader.number(), until: reader.time(at) };
}

/** How far a job has come: anything that JSON can carry. */
export function writeProgress(writer: ByteWriter, fact: Plain<"progress">): void {
  writer.head(JOB_TYPES.progress, fact.at);
  writer.number(fact.id);
  writer.json(fact.progress);
}

export function readProgress(reader: ByteReader, at: number): Plain<"progress"> {
  return { at, fact: "progress", id: reader.number(), progress: reader.json() };
}

export function writeLogged(writer: ByteWriter, fact: Plain<"logged">): void {
  writer.head(JOB_TYPES.logged, fact.at);
  writer.number(fact.id);
  writer.texts(fact.lines);
}

export function readLogged(reader: ByteReader, at: number): Plain<"logged"> {
  const id = reader.number();
  const lines: string[] = [];
  for (let left = reader.varint(); left > 0; left--) lines.push(reader.text());
  return { at, fact: "logged", id, lines };
}

/** Facts that say only which job it was. */
type IdOnlyKind = "returned" | "redriven" | "revived" | "forgotten";
type IdOnly = { [K in IdOnlyKind]: Plain<K> }[IdOnlyKind];

export function writeIdOnly(writer: ByteWriter, fact: IdOnly): void {
  writer.head(JOB_TYPES[fact.fact], fact.at);
  writer.number(fact.id);
}

export function readIdOnly(reader: ByteReader, at: number, kind: IdOnlyKind): IdOnly {
  return { at, fact: kind, id: reader.number() };
}

export function writeTransferred(writer: ByteWriter, fact: Plain<"transferred">): void {
  writer.head(JOB_TYPES.transferred, fact.at);
  writer.number(fact.id);
  writer.text(fact.to);
}

export function readTransferred(reader: ByteReader, at: number): Plain<"transferred"> {
  return { at, fact: "transferred", id: reader.number(), to: reader.name() };
}

export function writePromoted(writer: ByteWriter, fact: Plain<"promoted">): void {
  writer.head(JOB_TYPES.promoted, fact.at);
  writer.number(fact.id);
  writer.number(fact.tier);
}

export function readPromoted(reader: ByteReader, at: number): Plain<"promoted"> {
  return { at, fact: "promoted", id: reader.number(), tier: reader.number() };
}

/** What a worker answered: the engine carries anything, the broker gives it bytes. */
export function writeResult(writer: ByteWriter, result: unknown): void {
  assert.ok(result instanceof Uint8Array, "a result must be bytes");
  writer.blob(result);
}

/** A copy: a result is kept for long, and a view would keep the whole chunk of the log with it. */
export function readResult(reader: ByteReader): Uint8Array {
  return reader.blob().slice();
}

/** What `WAIT_TOO_LONG` said of a job: the gate, how long it would have been, what was allowed. */
type Waited = NonNullable<Told<"ended">["waited"]>;

export function writeWaited(writer: ByteWriter, waited: Waited): void {
  writer.text(waited.gate);
  writer.number(waited.waitMs);
  writer.number(waited.maxWaitMs);
}

export function readWaited(reader: ByteReader): Waited {
  return { gate: reader.name(), waitMs: reader.number(), maxWaitMs: reader.number() };
}
