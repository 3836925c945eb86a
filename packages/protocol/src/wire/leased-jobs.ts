/** Jobs on their way to the holders of their leases. The request says which queue it is. */
import type { LeasedJob } from "../job.ts";
import { readHeaders, writeHeaders } from "./headers.ts";
import { readTexts, writeTexts } from "./new-jobs.ts";
import type { FrameReader } from "./reader.ts";
import type { FrameWriter } from "./writer.ts";

const PATH = 1;
const HEADERS = 2;
const STEPS = 4;

/** What a job has at least: the flags, two short texts, numbers, a key and a payload. */
const JOB_BYTES_MIN = 46;

/** As many as one consumer may have credits for. */
const JOBS_MAX = 100_000;

export function writeLeasedJob(writer: FrameWriter, job: LeasedJob): void {
  const { fairnessKey, headers } = job;
  const isPath = typeof fairnessKey !== "string";
  const hasHeaders = !isEmpty(headers);
  const steps = job.hasSteps === true ? STEPS : 0;
  writer.u8((isPath ? PATH : 0) | (hasHeaders ? HEADERS : 0) | steps);
  writer.short(job.id);
  writer.short(job.lease);
  writer.u16(job.attempt);
  writer.u16(job.attempts);
  writer.u32(job.deliveries);
  writer.u8(job.tier);
  writer.f64(job.addedAt);
  writer.f64(job.expiresAt);
  writer.f64(job.expiresIn);
  if (isPath) writeTexts(writer, fairnessKey);
  else writer.text(fairnessKey);
  if (hasHeaders) writeHeaders(writer, headers);
  writer.blob(job.payload);
}

/** The payloads are views of the message. */
export function readLeasedJobs(reader: FrameReader, queue: string): LeasedJob[] {
  const count = reader.count(JOBS_MAX, JOB_BYTES_MIN);
  const jobs: LeasedJob[] = [];
  for (let i = 0; i < count; i++) jobs.push(readLeasedJob(reader, queue));
  return jobs;
}

const NONE: Readonly<Record<string, string>> = Object.freeze({});

function readLeasedJob(reader: FrameReader, queue: string): LeasedJob {
  const flags = reader.flags(PATH | HEADERS | STEPS);
  const job: LeasedJob = {
    id: reader.short(),
    lease: reader.short(),
    queue,
    attempt: reader.u16(),
    attempts: reader.u16(),
    deliveries: reader.u32(),
    tier: reader.u8(),
    addedAt: reader.f64(),
    expiresAt: reader.f64(),
    expiresIn: reader.f64(),
    fairnessKey: (flags & PATH) === 0 ? reader.name() : readTexts(reader),
    headers: (flags & HEADERS) === 0 ? NONE : readHeaders(reader),
    payload: reader.blob(),
  };
  if ((flags & STEPS) !== 0) job.hasSteps = true;
  return job;
}

function isEmpty(headers: object): boolean {
  for (const _ in headers) return false;
  return true;
}
