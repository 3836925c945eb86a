import { ADD_STEPS_MAX, addSteps, type JobSpec } from "@sluice/engine";
import { groupName, invalid, type NewJob } from "@sluice/protocol";
import { plainHeaders } from "./codec/body.ts";
import { ADD_SLICE_BYTES, HEADERS_BYTES_MAX, HEADERS_MAX } from "./limits.ts";
import { tooLarge } from "./refuse.ts";

/** What the engine is told of a new job: it judges all but the payload and the headers. */
export function specOf(job: NewJob, queue: string, payloadBytesMax: number): JobSpec {
  if (typeof job !== "object" || job === null) throw invalid("job", "an object", job);
  const { payload } = job;
  if (!(payload instanceof Uint8Array)) throw invalid("job.payload", "bytes", payload);
  if (payload.length > payloadBytesMax) throw tooLarge("job.payload", payload, payloadBytesMax);
  const headers = plainHeaders(job.headers);
  const headersBytes = job.headers === undefined ? 0 : checkHeaders(job.headers);
  // One shape for all jobs, whatever they are told: the engine's code is compiled for it.
  return {
    fairnessKey: job.fairnessKey,
    weight: job.weight,
    priority: job.priority,
    gates: job.gates,
    policyGates: undefined,
    cost: job.cost,
    delayMs: job.delayMs,
    runAt: job.runAt,
    ttlMs: job.ttlMs,
    deadline: job.deadline,
    maxWaitMs: job.maxWaitMs,
    dedupe: job.dedupe === undefined ? undefined : dedupeOf(job.dedupe),
    group: typeof job.group === "string" ? groupName(queue, job.group) : job.group,
    attempts: job.attempts,
    backoff: job.backoff,
    leaseMs: job.leaseMs,
    sizeBytes: payload.length + headersBytes,
    body: { headers, payload },
  };
}

/** What is no object the engine refuses, and so a mode that there is not. */
function dedupeOf(dedupe: NonNullable<NewJob["dedupe"]>): NonNullable<JobSpec["dedupe"]> {
  const isPending = typeof dedupe === "object" && dedupe !== null && dedupe.mode === undefined;
  return (isPending ? { ...dedupe, mode: "pending" } : dedupe) as NonNullable<JobSpec["dedupe"]>;
}

/** Answers the bytes that the headers take. */
function checkHeaders(headers: unknown): number {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw invalid("job.headers", "an object of texts", headers);
  }
  const entries = Object.entries(headers);
  if (entries.length > HEADERS_MAX) {
    throw invalid("job.headers", `at most ${HEADERS_MAX} headers`, entries.length);
  }
  let bytes = 0;
  for (const [name, value] of entries) {
    if (typeof value !== "string") throw invalid(`job.headers.${name}`, "a text", value);
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  }
  if (bytes > HEADERS_BYTES_MAX) {
    throw invalid("job.headers", `at most ${HEADERS_BYTES_MAX} bytes in all`, bytes);
  }
  return bytes;
}

/**
 * Cuts a batch into parts that the engine takes in within 5 ms, each in a turn of its own, so that
 * a large batch delays neither other calls nor the log.
 */
export function slicesOf(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  const slices: (readonly NewJob[])[] = [];
  let from = 0;
  let bytes = 0;
  let steps = 0;
  for (let i = 0; i < jobs.length; i++) {
    const jobBytes = jobs[i]?.payload?.length ?? 0;
    const jobSteps = addSteps(jobs[i]);
    bytes += jobBytes;
    steps += jobSteps;
    if (i === from || (steps <= ADD_STEPS_MAX && bytes <= ADD_SLICE_BYTES)) continue;
    slices.push(jobs.slice(from, i));
    from = i;
    bytes = jobBytes;
    steps = jobSteps;
  }
  slices.push(from === 0 ? jobs : jobs.slice(from));
  return slices;
}

/**
 * Where to cut a slice again once its policy has given its jobs gates and keys: the ends of the
 * pieces.
 */
export function pieceEnds(specs: readonly JobSpec[]): number[] {
  const ends: number[] = [];
  let steps = 0;
  for (let i = 0; i < specs.length; i++) {
    const jobSteps = addSteps(specs[i]);
    steps += jobSteps;
    if (steps <= ADD_STEPS_MAX || steps === jobSteps) continue;
    ends.push(i);
    steps = jobSteps;
  }
  ends.push(specs.length);
  return ends;
}
