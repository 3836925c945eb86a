/**
 * The rare calls of the port: the name of the call and its arguments as JSON, and the answer as
 * JSON. Bytes in an answer (payloads and results of jobs) follow the JSON as blobs, in the order in
 * which they are named. The JSON has the number of the blob in their place.
 */
import type { CallRow } from "../calls/call.ts";
import { CALL_NAMES, CALLS, type CallName, rowOf } from "../calls/index.ts";
import type { BrokerEvent } from "../event.ts";
import { isObject, type Kind } from "../kinds.ts";
import { BATCH_MAX, JSON_BYTES_MAX, SMALL_CALL_BYTES_MAX } from "../limits.ts";
import { hearOptions, tellOptions } from "../options/job-options.ts";
import type { JsonBound } from "./json-bound.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

/** A call by its name. Nodes of a cluster ask each other to `lend`, which the port has not. */
export type WireName = CallName | "lend";

export interface WireCall {
  name: WireName;
  args: unknown[];
}

type Form = Pick<CallRow, "bytes" | "hasHoles">;

const LEND: Form = { bytes: undefined, hasHoles: false };

function formOf(name: WireName): Form {
  return name === "lend" ? LEND : rowOf(name);
}

function isWireName(name: string): name is WireName {
  return name === "lend" || (Object.hasOwn(CALLS, name) && !rowOf(name as CallName).isHot);
}

/** The most arguments that a call has, its options included. */
const ARGS_MAX = Math.max(...CALL_NAMES.map((name) => rowOf(name).args.length)) + 1;

/** Fields that hold bytes, in a job and in the end of one. */
const BYTES = ["payload", "result"] as const;

/** Payloads of one call: one for each of its jobs. */
const PAYLOADS_MAX = BATCH_MAX;

/** Blobs of one answer: two for each job of the longest page. */
const BLOBS_MAX = 2000;

/** Of the filter of events. */
export const EVENTS: JsonBound = { name: "events", bytesMax: SMALL_CALL_BYTES_MAX };

/** A call whose arguments are texts and numbers needs little room. */
function boundOf(name: WireName): JsonBound {
  const isLarge = name === "lend" || kindsOf(rowOf(name)).some(({ schema }) => isMany(schema.type));
  return { name, bytesMax: isLarge ? JSON_BYTES_MAX : SMALL_CALL_BYTES_MAX };
}

function kindsOf({ args, options }: CallRow): Kind[] {
  return [...args.map(({ kind }) => kind), ...Object.values(options)];
}

function isMany(type: unknown): boolean {
  return type === "array" || type === "object";
}

export function writeCall(writer: FrameWriter, name: WireName, args: readonly unknown[]): void {
  writer.short(name);
  if (name === "lend" || !rowOf(name).sendsJobs) return writer.json(args, boundOf(name));
  const blobs: Uint8Array[] = [];
  writer.json(
    args.map((value, i) => (i === 1 ? tellJobs(value, blobs) : value)),
    boundOf(name),
  );
  writeBlobs(writer, blobs);
}

/** What a job of a call has beside its options. */
const BESIDE: ReadonlySet<string> = new Set(["queue", "after", "payload"]);

/** Jobs in the names of users, with their payloads beside them; the broker refuses what is none. */
function tellJobs(jobs: unknown, blobs: Uint8Array[]): unknown {
  if (!Array.isArray(jobs)) return jobs;
  return jobs.map((job: unknown) => (isObject(job) ? tellJob(job, blobs) : job));
}

/** Field by field: a rest and two spreads of jobs with all their options took 3 µs a job. */
function tellJob(job: Record<string, unknown>, blobs: Uint8Array[]): unknown {
  const { queue, after, payload } = job;
  const told = tellOptions(job, { queue, after }, BESIDE);
  if (payload instanceof Uint8Array) told.payload = blobs.push(payload) - 1;
  return told;
}

function hearJobs(jobs: unknown, blobs: readonly Uint8Array[]): unknown {
  if (!Array.isArray(jobs)) return jobs;
  return jobs.map((job: unknown) => (isObject(job) ? hearJob(job, blobs) : job));
}

function hearJob(job: Record<string, unknown>, blobs: readonly Uint8Array[]): unknown {
  const { queue, after, payload } = job;
  return hearOptions(job, { queue, after, payload: blobs[payload as number] }, BESIDE);
}

export function readCall(reader: FrameReader): WireCall {
  const name = reader.short();
  if (!isWireName(name)) return reader.fail(`an unknown call ${JSON.stringify(name)}`);
  const args = reader.json(boundOf(name));
  if (!Array.isArray(args) || args.length > ARGS_MAX) return reader.fail("JSON of no arguments");
  if (name !== "lend" && rowOf(name).sendsJobs) {
    args[1] = hearJobs(args[1], readBlobs(reader, PAYLOADS_MAX));
  }
  // JSON has no place for what is absent before what is not.
  return { name, args: args.map((arg) => (arg === null ? undefined : arg)) };
}

export function writeAnswer(writer: FrameWriter, name: WireName, answer: unknown): void {
  const blobs: Uint8Array[] = [];
  writer.json({ answer: withoutBytes(name, answer, blobs) });
  writeBlobs(writer, blobs);
}

export function readAnswer(reader: FrameReader, name: WireName): unknown {
  const { answer } = reader.object();
  return withBytes(name, answer, readBlobs(reader));
}

export function writeEvents(writer: FrameWriter, events: readonly BrokerEvent[]): void {
  const blobs: Uint8Array[] = [];
  writer.json({ events: events.map((event) => taken(event, blobs)) });
  writeBlobs(writer, blobs);
}

export function readEvents(reader: FrameReader): BrokerEvent[] {
  const { events } = reader.object();
  const blobs = readBlobs(reader);
  if (!Array.isArray(events)) return reader.fail("JSON of no events");
  return events.map((event) => given(event, blobs) as BrokerEvent);
}

function withoutBytes(name: WireName, answer: unknown, blobs: Uint8Array[]): unknown {
  const { bytes, hasHoles } = formOf(name);
  if (bytes === "one") return taken(answer, blobs);
  if (bytes === "items") {
    const page = answer as { items: readonly unknown[] };
    return { ...page, items: page.items.map((item) => taken(item, blobs)) };
  }
  // A key that holds null is not a key that is not there.
  if (hasHoles) {
    return (answer as unknown[]).map((value) => (value === undefined ? [] : [value]));
  }
  return answer;
}

function withBytes(name: WireName, answer: unknown, blobs: readonly Uint8Array[]): unknown {
  const { bytes, hasHoles } = formOf(name);
  if (bytes === "one") return given(answer, blobs);
  if (bytes === "items") {
    const page = answer as { items?: unknown };
    const items = Array.isArray(page?.items) ? page.items : [];
    return { ...page, items: items.map((item) => given(item, blobs)) };
  }
  if (hasHoles) {
    return Array.isArray(answer) ? answer.map((hole: unknown) => (hole as unknown[])?.[0]) : [];
  }
  return answer;
}

function taken(item: unknown, blobs: Uint8Array[]): unknown {
  const copy: Record<string, unknown> = { ...(item as object) };
  for (const field of BYTES) {
    const bytes = copy[field];
    if (bytes instanceof Uint8Array) copy[field] = blobs.push(bytes) - 1;
  }
  return copy;
}

function given(item: unknown, blobs: readonly Uint8Array[]): unknown {
  const copy: Record<string, unknown> = { ...(item as object) };
  for (const field of BYTES) {
    const index = copy[field];
    if (typeof index === "number") copy[field] = blobs[index] ?? new Uint8Array(0);
  }
  return copy;
}

function writeBlobs(writer: FrameWriter, blobs: readonly Uint8Array[]): void {
  writer.u32(blobs.length);
  for (const blob of blobs) writer.blob(blob);
}

function readBlobs(reader: FrameReader, most = BLOBS_MAX): Uint8Array[] {
  const count = reader.count(most, 4);
  const blobs: Uint8Array[] = [];
  for (let i = 0; i < count; i++) blobs.push(reader.blob());
  return blobs;
}
