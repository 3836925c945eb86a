/** The options that a job was added with: the follow-up of another, or the origin of a dead job. */
import type { Backoff, FairnessKey, JobSpec } from "@sluice/engine";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import { DEDUPE_MODES } from "./codes.ts";
import { allOf, type Flags } from "./fact-types.ts";
import { readRun, writeRun } from "./schedule-facts.ts";

export type WriteBody = (writer: ByteWriter, body: unknown) => void;
export type ReadBody = (reader: ByteReader) => unknown;

/** A job in this form waits for no other jobs: a follow-up, or a dead job that returns. */
type Told = Omit<JobSpec, "dependencies" | "flow">;

const HAS: Flags<Told, "path" | "priorityName" | "isOrdered"> = {
  fairnessKey: 1 << 0,
  path: 1 << 1,
  weight: 1 << 2,
  priority: 1 << 3,
  priorityName: 1 << 4,
  gates: 1 << 5,
  cost: 1 << 6,
  delayMs: 1 << 7,
  runAt: 1 << 8,
  ttlMs: 1 << 9,
  deadline: 1 << 10,
  maxWaitMs: 1 << 11,
  dedupe: 1 << 12,
  group: 1 << 13,
  attempts: 1 << 14,
  backoff: 1 << 15,
  leaseMs: 1 << 16,
  sizeBytes: 1 << 17,
  body: 1 << 18,
  policyGates: 1 << 19,
  ordered: 1 << 20,
  isOrdered: 1 << 21,
  schedule: 1 << 22,
};
const KNOWN = allOf(HAS);

/** What is in the flags and no field: a caller's object may have fields of those names. */
const NO_FIELDS = ["path", "priorityName", "isOrdered"];
const FIELDS = Object.keys(HAS).filter((field) => !NO_FIELDS.includes(field)) as (keyof Told)[];

/** Fields that are one number, in the order in which they are written. */
const NUMBERS = [
  "weight",
  "cost",
  "delayMs",
  "runAt",
  "ttlMs",
  "deadline",
  "maxWaitMs",
  "attempts",
  "leaseMs",
  "sizeBytes",
] as const;

export function writeSpec(writer: ByteWriter, spec: JobSpec, writeBody: WriteBody): void {
  const { fairnessKey, priority, gates, dedupe, group, backoff } = spec;
  writer.varint(flagsOf(spec));
  for (const field of NUMBERS) {
    const value = spec[field];
    if (value !== undefined) writer.number(value);
  }
  if (typeof fairnessKey === "string") writer.text(fairnessKey);
  else if (fairnessKey !== undefined) writer.texts(fairnessKey);
  if (typeof priority === "string") writer.text(priority);
  else if (priority !== undefined) writer.number(priority);
  if (gates !== undefined) writer.texts(gates);
  if (dedupe !== undefined) writeDedupe(writer, dedupe.key, dedupe.mode, dedupe.windowMs);
  if (group !== undefined) writer.text(group);
  if (backoff !== undefined) writeBackoff(writer, backoff);
  if (spec.schedule !== undefined) writeRun(writer, spec.schedule);
  if (spec.body !== undefined) writeBody(writer, spec.body);
}

/** Absent and undefined are the same here; what is read is absent. */
function flagsOf(spec: JobSpec): number {
  let flags = 0;
  for (const field of FIELDS) if (spec[field] !== undefined) flags |= HAS[field];
  if (typeof spec.fairnessKey === "object") flags |= HAS.path;
  if (typeof spec.priority === "string") flags |= HAS.priorityName;
  if (spec.ordered === true) flags |= HAS.isOrdered;
  return flags;
}

export function readSpec(reader: ByteReader, readBody: ReadBody): JobSpec {
  const flags = reader.flags(KNOWN);
  const spec: JobSpec = {};
  for (const field of NUMBERS) if ((flags & HAS[field]) !== 0) spec[field] = reader.number();
  if ((flags & HAS.fairnessKey) !== 0) spec.fairnessKey = readKey(reader, flags);
  if ((flags & HAS.priority) !== 0) {
    spec.priority = (flags & HAS.priorityName) === 0 ? reader.number() : reader.name();
  }
  if ((flags & HAS.gates) !== 0) spec.gates = reader.names();
  if ((flags & HAS.policyGates) !== 0) spec.policyGates = true;
  if ((flags & HAS.ordered) !== 0) spec.ordered = (flags & HAS.isOrdered) !== 0;
  if ((flags & HAS.dedupe) !== 0) {
    const { key, mode, time } = readDedupe(reader);
    spec.dedupe = time === undefined ? { key, mode } : { key, mode, windowMs: time };
  }
  if ((flags & HAS.group) !== 0) spec.group = reader.text();
  if ((flags & HAS.backoff) !== 0) spec.backoff = readBackoff(reader);
  if ((flags & HAS.schedule) !== 0) spec.schedule = readRun(reader);
  if ((flags & HAS.body) !== 0) spec.body = readBody(reader);
  return spec;
}

function readKey(reader: ByteReader, flags: number): FairnessKey {
  return (flags & HAS.path) === 0 ? reader.name() : reader.names();
}

type Dedupe = NonNullable<JobSpec["dedupe"]>;

/** The key, its mode, and a window's length or a hold's end. */
export function writeDedupe(
  writer: ByteWriter,
  key: string,
  mode: Dedupe["mode"],
  time: number | undefined,
): void {
  writer.u8(DEDUPE_MODES.code(mode));
  writer.u8(time === undefined ? 0 : 1);
  writer.text(key);
  if (time !== undefined) writer.number(time);
}

export function readDedupe(reader: ByteReader): {
  key: string;
  mode: Dedupe["mode"];
  time: number | undefined;
} {
  const mode = DEDUPE_MODES.word(reader.u8(), reader);
  const hasTime = reader.isTrue();
  const key = reader.text();
  return { key, mode, time: hasTime ? reader.number() : undefined };
}

/** Written by earlier versions, and never used: `attempts` is an option of the job. */
const POLICY_ATTEMPTS = 1;

const POLICY: Readonly<Record<keyof Backoff, number>> = {
  minMs: 2,
  maxMs: 4,
  factor: 8,
  jitter: 16,
};
const POLICY_FIELDS = Object.keys(POLICY) as (keyof Backoff)[];
const POLICY_KNOWN = allOf(POLICY) | POLICY_ATTEMPTS;

export function writeBackoff(writer: ByteWriter, backoff: Backoff): void {
  let flags = 0;
  for (const field of POLICY_FIELDS) if (backoff[field] !== undefined) flags |= POLICY[field];
  writer.u8(flags);
  for (const field of POLICY_FIELDS) {
    if (backoff[field] !== undefined) writer.number(backoff[field]);
  }
}

export function readBackoff(reader: ByteReader): Backoff {
  const flags = reader.flags(POLICY_KNOWN);
  if ((flags & POLICY_ATTEMPTS) !== 0) reader.number();
  const backoff: Backoff = {};
  for (const field of POLICY_FIELDS) {
    if ((flags & POLICY[field]) !== 0) backoff[field] = reader.number();
  }
  return backoff;
}
