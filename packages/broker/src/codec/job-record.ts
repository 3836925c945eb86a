/**
 * A job as it stands. What nearly every new job has (no weight of its own, a cost of 1, no attempt
 * yet) is not written: its bit in the flags is not set.
 */
import type { JobRecord } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { ENDINGS, STATES } from "./codes.ts";
import { readExtra, writeExtra } from "./extra-record.ts";
import { allOf, type Flags } from "./fact-types.ts";
import type { ReadBody, WriteBody } from "./job-spec.ts";

/** The state's code is in the low bits. */
const STATE = 3;

const HAS: Flags<
  JobRecord,
  "path" | "weight" | "gates" | "cost" | "attempt" | "lease" | "dispatchedMs" | "worker"
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
};
const KNOWN = allOf(HAS) | STATE;

export function writeJob(
  writer: ByteWriter,
  job: JobRecord,
  at: number,
  writeBody: WriteBody,
): void {
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
}

function flagsOf(job: JobRecord): number {
  let flags = STATES.code(job.state);
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
  if (job.extra !== undefined) flags |= HAS.extra;
  return flags;
}

export function readJob(reader: ByteReader, at: number, readBody: ReadBody): JobRecord {
  const flags = reader.flags(KNOWN);
  const job: JobRecord = {
    id: reader.number(),
    seq: reader.number(),
    queue: reader.name(),
    state: STATES.word(flags & STATE, reader),
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
  job.body = readBody(reader);
  return job;
}
