/**
 * The facts as bytes. A fact is its type, its time, its fields and, last, its body, which the
 * caller writes and reads: the engine carries bodies and does not look into them. Facts follow each
 * other without a length, so a body must know its own.
 *
 * The state of a job is the most frequent fact. Values that nearly every new job has (no weight of
 * its own, a cost of 1, no attempt yet) are not written: their bits in the flags are not set.
 *
 * The reader returns what was written, with one exception: an optional field that was undefined is
 * absent. The same applies to optional fields in settings.
 */
import assert from "node:assert/strict";
import type { Fact, JobRecord } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { ENDINGS, STATES } from "./codes.ts";
import { readExtra, writeExtra } from "./extra-record.ts";
import {
  allOf,
  type Flags,
  JOB_TYPES,
  LEASED_IN_PROCESS,
  type Plain,
  type RareKind,
} from "./fact-types.ts";
import { readEdges, writeEdges } from "./flow-facts.ts";
import type { ReadBody, WriteBody } from "./job-spec.ts";
import { FACT_LEVELS } from "./levels.ts";
import * as life from "./life-facts.ts";
import { RARE_FACTS } from "./rare-facts.ts";
import * as steps from "./step-facts.ts";

export type { ReadBody, WriteBody } from "./job-spec.ts";

/** Numbers stay below it. */
const TYPES_MAX = 128;

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

/** The level that each number needs, by the number: the journal looks at every fact. */
export const TYPE_LEVELS: Uint8Array = new Uint8Array(TYPES_MAX).map((_, type) => {
  const kind = FACT_KINDS[type];
  return (kind === undefined ? undefined : FACT_LEVELS[kind]) ?? 1;
});

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
    case "forgotten":
      return life.writeIdOnly(writer, fact);
    case "dead":
      return life.writeDead(writer, fact);
    case "replaced":
      return life.writeReplaced(writer, fact, writeBody);
    case "follow-up":
      return life.writeFollowUp(writer, fact, writeBody);
    case "logged":
      return life.writeLogged(writer, fact);
    case "transferred":
      return life.writeTransferred(writer, fact);
    case "promoted":
      return life.writePromoted(writer, fact);
    case "progress":
      return life.writeProgress(writer, fact);
    case "step":
      return steps.writeStep(writer, fact, writeBody);
    case "suspended":
      return steps.writeSuspended(writer, fact);
    case "signalled":
      return steps.writeSignalled(writer, fact, writeBody);
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
    case "forgotten":
      return life.readIdOnly(reader, at, kind);
    case "dead":
      return life.readDead(reader, at);
    case "replaced":
      return life.readReplaced(reader, at, readBody);
    case "follow-up":
      return life.readFollowUp(reader, at, readBody);
    case "logged":
      return life.readLogged(reader, at);
    case "transferred":
      return life.readTransferred(reader, at);
    case "promoted":
      return life.readPromoted(reader, at);
    case "progress":
      return life.readProgress(reader, at);
    case "step":
      return steps.readStep(reader, at, readBody);
    case "suspended":
      return steps.readSuspended(reader, at);
    case "signalled":
      return steps.readSignalled(reader, at, readBody);
    case "moved":
      return { at, fact: "moved", job: readJob(reader, at, readBody) };
    default:
      return { at, fact: kind, ...RARE_FACTS[kind].read(reader, at) } as Fact;
  }
}

/** Types are not checked when the program runs: a fact must not get lost in silence. */
function encodeRare(writer: ByteWriter, fact: Extract<Fact, { fact: RareKind }>): void {
  const codec = RARE_FACTS[fact.fact];
  // The answer of each call over the network is such a fact: no text is made that is not needed.
  if (codec === undefined) assert.fail(`no codec for ${JSON.stringify(fact)}`);
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

/** The state's code is in the low bits. */
const STATE = 3;

const HAS: Flags<
  JobRecord,
  "path" | "weight" | "gates" | "cost" | "attempt" | "lease" | "dispatchedMs" | "worker" | "blocked"
> = {
  /** Several levels, or none. */
  path: 1 << 2,
  gates: 1 << 3,
  weight: 1 << 4,
  cost: 1 << 5,
  extra: 1 << 6,
  attempt: 1 << 7,
  lease: 1 << 8,
  dispatchedMs: 1 << 9,
  worker: 1 << 10,
  ending: 1 << 11,
  inProcess: 1 << 14,
  policyGates: 1 << 15,
  ordered: 1 << 16,
  held: 1 << 17,
  blocked: 1 << 18,
  after: 1 << 19,
  flow: 1 << 20,
  needed: 1 << 21,
};
const KNOWN = allOf(HAS) | STATE;

function writeJob(writer: ByteWriter, job: JobRecord, at: number, writeBody: WriteBody): void {
  const flags = flagsOf(job);
  writer.varint(flags);
  writer.number(job.id);
  writer.number(job.seq);
  writer.text(job.queue);
  writer.number(job.tier);
  if ((flags & HAS.path) === 0) writer.text(job.path[0]!);
  else writer.texts(job.path);
  if ((flags & HAS.gates) !== 0) writer.texts(job.gates);
  writer.number(job.sizeBytes);
  writer.number(job.attempts);
  writer.time(job.addedAt, at);
  writer.time(job.time, at);
  if ((flags & ~(STATE | HAS.path | HAS.gates)) !== 0) writeRest(writer, job, flags, writeBody);
  writeBody(writer, job.body);
}

function writeRest(writer: ByteWriter, job: JobRecord, flags: number, writeBody: WriteBody): void {
  if ((flags & HAS.weight) !== 0) writer.number(job.weight);
  if ((flags & HAS.cost) !== 0) writer.number(job.cost);
  if ((flags & HAS.attempt) !== 0) writer.number(job.attempt);
  if ((flags & HAS.lease) !== 0) writer.number(job.lease);
  if ((flags & HAS.dispatchedMs) !== 0) writer.number(job.dispatchedMs);
  if ((flags & HAS.worker) !== 0) writer.text(job.worker);
  if (job.ending !== undefined) writer.u8(ENDINGS.code(job.ending));
  if (job.extra !== undefined) writeExtra(writer, job.extra, writeBody);
  if (job.after !== undefined) writeEdges(writer, job.after);
  if (job.flow !== undefined) writer.number(job.flow);
}

function flagsOf(job: JobRecord): number {
  let flags = job.state === "blocked" ? HAS.blocked : STATES.code(job.state);
  if (job.path.length !== 1) flags |= HAS.path;
  if (job.gates.length !== 0) flags |= HAS.gates;
  if (job.weight !== 0) flags |= HAS.weight;
  if (job.cost !== 1) flags |= HAS.cost;
  if (job.attempt !== 0) flags |= HAS.attempt;
  if (job.lease !== 0) flags |= HAS.lease;
  if (job.dispatchedMs !== 0) flags |= HAS.dispatchedMs;
  if (job.worker !== "") flags |= HAS.worker;
  if (job.inProcess === true) flags |= HAS.inProcess;
  if (job.ending !== undefined) flags |= HAS.ending;
  if (job.policyGates === true) flags |= HAS.policyGates;
  if (job.ordered === true) flags |= HAS.ordered;
  if (job.held === true) flags |= HAS.held;
  if (job.extra !== undefined) flags |= HAS.extra;
  if (job.after !== undefined) flags |= HAS.after;
  if (job.flow !== undefined) flags |= HAS.flow;
  if (job.needed === true) flags |= HAS.needed;
  return flags;
}

function readJob(reader: ByteReader, at: number, readBody: ReadBody): JobRecord {
  const flags = reader.flags(KNOWN);
  const job: JobRecord = {
    id: reader.number(),
    seq: reader.number(),
    queue: reader.name(),
    state: (flags & HAS.blocked) !== 0 ? "blocked" : STATES.word(flags & STATE, reader),
    tier: reader.number(),
    path: (flags & HAS.path) === 0 ? [reader.name()] : reader.names(),
    gates: (flags & HAS.gates) === 0 ? [] : reader.names(),
    sizeBytes: reader.number(),
    attempts: reader.number(),
    addedAt: reader.time(at),
    time: reader.time(at),
    weight: (flags & HAS.weight) === 0 ? 0 : reader.number(),
    cost: (flags & HAS.cost) === 0 ? 1 : reader.number(),
    attempt: (flags & HAS.attempt) === 0 ? 0 : reader.number(),
    lease: (flags & HAS.lease) === 0 ? 0 : reader.number(),
    dispatchedMs: (flags & HAS.dispatchedMs) === 0 ? 0 : reader.number(),
    worker: (flags & HAS.worker) === 0 ? "" : reader.name(),
    body: undefined,
  };
  if ((flags & HAS.inProcess) !== 0) job.inProcess = true;
  if ((flags & HAS.ending) !== 0) job.ending = ENDINGS.word(reader.u8(), reader);
  if ((flags & HAS.extra) !== 0) job.extra = readExtra(reader, readBody);
  if ((flags & HAS.policyGates) !== 0) job.policyGates = true;
  if ((flags & HAS.ordered) !== 0) job.ordered = true;
  if ((flags & HAS.after) !== 0) job.after = readEdges(reader);
  if ((flags & HAS.flow) !== 0) job.flow = reader.number();
  if ((flags & HAS.held) !== 0) job.held = true;
  if ((flags & HAS.needed) !== 0) job.needed = true;
  job.body = readBody(reader);
  return job;
}
