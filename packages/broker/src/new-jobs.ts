import { ADD_STEPS_MAX, addSteps, type Dependency, type JobSpec } from "@sluice/engine";
import { type After, groupName, type NewJob, parseJob } from "@sluice/protocol";
import { type Body, headersBytes, plainHeaders } from "./codec/body.ts";
import { parseId } from "./job-ids.ts";
import { ADD_SLICE_BYTES } from "./limits.ts";
import type { Question } from "./policy/lua/batch.ts";
import { tooLarge } from "./refuse.ts";

/** What the engine gets of a new job. It is also the body that the job's worker gets. */
export function specOf(job: NewJob, queue: string, payloadBytesMax: number): JobSpec {
  const spec = parseJob(job);
  const { payload } = spec;
  if (payload.length > payloadBytesMax) throw tooLarge("job.payload", payload, payloadBytesMax);
  if (spec.group !== undefined) spec.group = groupName(queue, spec.group);
  if (spec.after !== undefined) spec.dependencies = spec.after.map(dependencyOf);
  spec.headers = plainHeaders(spec.headers);
  spec.sizeBytes = payload.length + headersBytes(spec.headers);
  spec.body = spec;
  return spec;
}

function dependencyOf({ id, onDependencyFailure: on }: After): Dependency {
  return { id: parseId(id), on };
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

/** What a script is asked about a new job. */
export function questionOf({ body }: JobSpec): Question {
  const { headers, payload } = body as Body;
  return { headers, payloadBytes: payload.length };
}
