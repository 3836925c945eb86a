/**
 * Jobs on their way to the broker. What most jobs carry has a place of its own; the rest of a job's
 * options, and whatever does not fit its place, travels as JSON, for the broker to judge.
 */
import type { JobFields, NewJob } from "../job.ts";
import { BATCH_MAX, JSON_BYTES_MAX } from "../limits.ts";
import { hearOptions, tellOptions } from "../options/job-options.ts";
import { readHeaders, writeHeaders } from "./headers.ts";
import type { JsonBound } from "./json-bound.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const KEY = 1;
const PATH = 2;
const GATES = 4;
const HEADERS = 8;
const PRIORITY = 16;
const WEIGHT = 32;
const REST = 64;
/** There is no payload, which the broker will refuse. */
const NO_PAYLOAD = 128;

/** Of the whole batch: more members of its groups come with another call. */
export const HOLD_GROUPS = 1;

/** The flags, and the number of bytes of the payload. */
const JOB_BYTES_MIN = 5;

/** More levels than a path may have, and more gates than a job may name, go as JSON. */
const LIST_MAX = 255;
const TEXT_CHARS_MAX = 20_000;

/** Whatever does not fit its place is sent for the broker to judge. */
const ADD: JsonBound = { name: "add", bytesMax: JSON_BYTES_MAX };

export function writeNewJob(writer: FrameWriter, job: NewJob): void {
  const said: Partial<NewJob> = typeof job === "object" && job !== null ? job : {};
  const { payload, fairnessKey, gates, headers, priority, weight } = said;
  const other = hasOther(said) ? otherOf(said) : {};
  let flags = payload instanceof Uint8Array ? 0 : NO_PAYLOAD;
  if (fairnessKey !== undefined) {
    if (isText(fairnessKey)) flags |= KEY;
    else if (isTexts(fairnessKey)) flags |= PATH;
    else other.fairnessKey = fairnessKey;
  }
  if (gates !== undefined) {
    if (isTexts(gates)) flags |= GATES;
    else other.gates = gates;
  }
  if (headers !== undefined) {
    if (areHeaders(headers)) flags |= HEADERS;
    else other.headers = headers;
  }
  if (priority !== undefined) {
    if (isTier(priority)) flags |= PRIORITY;
    else other.priority = priority;
  }
  if (weight !== undefined) {
    if (typeof weight === "number") flags |= WEIGHT;
    else other.weight = weight;
  }
  if (hasFields(other)) flags |= REST;
  writer.u8(flags);
  writer.blob((flags & NO_PAYLOAD) === 0 ? (payload as Uint8Array) : NOTHING);
  if ((flags & KEY) !== 0) writer.text(fairnessKey as string);
  if ((flags & PATH) !== 0) writeTexts(writer, fairnessKey as readonly string[]);
  if ((flags & GATES) !== 0) writeTexts(writer, gates!);
  if ((flags & HEADERS) !== 0) writeHeaders(writer, headers!);
  if ((flags & PRIORITY) !== 0) writer.u8(priority as number);
  if ((flags & WEIGHT) !== 0) writer.f64(weight!);
  if ((flags & REST) !== 0) writer.json(tellOptions(other), ADD);
}

const NOTHING = new Uint8Array(0);

/** The payloads are views of the message. */
export function readNewJobs(reader: FrameReader): NewJob[] {
  const count = reader.count(BATCH_MAX, JOB_BYTES_MIN);
  const jobs: NewJob[] = [];
  for (let i = 0; i < count; i++) jobs.push(readNewJob(reader));
  return jobs;
}

function readNewJob(reader: FrameReader): NewJob {
  const flags = reader.u8();
  const payload = reader.blob();
  const job: NewJob = { payload };
  if ((flags & KEY) !== 0) job.fairnessKey = reader.name();
  if ((flags & PATH) !== 0) job.fairnessKey = readTexts(reader);
  if ((flags & GATES) !== 0) job.gates = readTexts(reader);
  if ((flags & HEADERS) !== 0) job.headers = readHeaders(reader);
  if ((flags & PRIORITY) !== 0) job.priority = reader.u8();
  if ((flags & WEIGHT) !== 0) job.weight = reader.f64();
  if ((flags & (REST | NO_PAYLOAD)) === 0) return job;
  // A spread copies own fields and calls no setter, whatever they are called.
  const rest: JobFields = (flags & REST) === 0 ? {} : hearOptions(reader.object(ADD));
  if ((flags & NO_PAYLOAD) === 0) return { ...rest, ...job };
  const { payload: _, ...options } = job;
  return { ...rest, ...options, payload: undefined as unknown as Uint8Array };
}

export function writeTexts(writer: FrameWriter, texts: readonly string[]): void {
  writer.u8(texts.length);
  for (let i = 0; i < texts.length; i++) writer.text(texts[i]!);
}

export function readTexts(reader: FrameReader): string[] {
  const count = reader.u8();
  const texts: string[] = [];
  for (let i = 0; i < count; i++) texts.push(reader.name());
  return texts;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.length <= TEXT_CHARS_MAX;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= LIST_MAX && value.every(isText);
}

function areHeaders(value: object): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  let count = 0;
  for (const name in value) {
    if (++count > LIST_MAX || !isText(name)) return false;
    if (!isText((value as Record<string, unknown>)[name])) return false;
  }
  return true;
}

function isTier(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LIST_MAX;
}

/** What has a place of its own. */
const PLACED: ReadonlySet<string> = new Set([
  ...["payload", "fairnessKey", "gates", "headers", "priority", "weight"],
]);

/** Asked first, since leaving fields out of a copy takes longer than all else here. */
function hasOther(job: object): boolean {
  for (const name in job) {
    if ((job as Record<string, unknown>)[name] !== undefined && !PLACED.has(name)) return true;
  }
  return false;
}

function otherOf(job: Partial<NewJob>): Record<string, unknown> {
  const { payload: _, fairnessKey: __, gates, headers, priority, weight, ...rest } = job;
  return rest as Record<string, unknown>;
}

/** What is undefined is not said. */
function hasFields(rest: Record<string, unknown>): boolean {
  for (const name in rest) if (rest[name] !== undefined) return true;
  return false;
}
