/** Adds a batch of jobs: in one frame, or one after the other when it is too large for one. */
import { type Added, type NewJob, type Outcome, SluiceError, timedOut } from "@sluice/protocol";
import { FRAME_BYTES_MAX, HOLD_GROUPS, KIND, readAdded, writeNewJob } from "@sluice/protocol/wire";
import {
  BUSY_RETRY_MS,
  JOB_BYTES_SLACK,
  PAYLOAD_BYTES_MAX,
  PENDING_BYTES_MAX,
  WAITING_ADDS_MAX,
} from "../limits.ts";
import type { Bound, RemoteOperations } from "./operations.ts";

export interface AddCall {
  readonly operations: RemoteOperations;
  readonly queue: string;
  readonly jobs: readonly NewJob[];
  readonly operationId: string;
  readonly bound: Bound;
  readonly holdGroups: boolean;
  /** Throws when the connection is over. */
  readonly check: () => void;
}

export async function addInParts(call: AddCall): Promise<Outcome<Added>[]> {
  const { jobs, operations, check } = call;
  while (operations.bytes >= PENDING_BYTES_MAX) {
    await waitForRoom(operations, call.bound);
    check();
  }
  const parts = partsOf(jobs);
  if (parts.length === 1) return send(call, jobs, call.operationId);
  // The call that adds the last member of a group closes it, so members are not taken apart.
  if (jobs.some((job) => job?.group !== undefined)) throw tooLarge(FRAME_BYTES_MAX + 1);
  const outcomes: Outcome<Added>[] = [];
  for (const [index, part] of parts.entries()) {
    check();
    const operationId = index === 0 ? call.operationId : `${call.operationId}.${index}`;
    const answer = await send(call, part, operationId).catch((error) => {
      throw index === 0 ? error : partlySent(error, call);
    });
    for (const outcome of answer) outcomes.push(outcome);
  }
  return outcomes;
}

/** The first parts were added: the call as a whole cannot be said to have no effect. */
function partlySent(error: SluiceError, { bound, operationId }: AddCall): SluiceError {
  return error.code === "UNAVAILABLE" ? timedOut("add", bound.ms, operationId) : error;
}

/** Whoever adds faster than the server confirms waits for it, or is sent away. */
async function waitForRoom(operations: RemoteOperations, bound: Bound): Promise<void> {
  if (operations.waiting >= WAITING_ADDS_MAX) {
    const message = `${operations.bytes} bytes wait to be confirmed by the server`;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
  }
  await operations.room(bound);
}

function partsOf(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  const parts: NewJob[][] = [[]];
  let bytes = JOB_BYTES_SLACK;
  for (const job of jobs) {
    const size = sizeOf(job);
    if (bytes + size > FRAME_BYTES_MAX && parts.at(-1)!.length > 0) {
      parts.push([]);
      bytes = JOB_BYTES_SLACK;
    }
    bytes += size;
    parts.at(-1)!.push(job);
  }
  return parts.length === 1 ? [jobs] : parts;
}

/** About the bytes that a job takes; one with headers or other options is taken to be larger. */
function sizeOf(job: NewJob): number {
  const payload = isTooLarge(job) ? 0 : (job?.payload?.length ?? 0);
  return payload + 100 + (job?.headers === undefined ? 0 : 1000);
}

function send(
  { operations, queue, bound, holdGroups }: AddCall,
  jobs: readonly NewJob[],
  operationId: string,
): Promise<Outcome<Added>[]> {
  return operations.ask(
    {
      name: "add",
      kind: KIND.add,
      write: (writer) => {
        writer.text(queue);
        writer.text(operationId);
        writer.u8(holdGroups ? HOLD_GROUPS : 0);
        writer.u32(jobs.length);
        for (let i = 0; i < jobs.length; i++) writeNewJob(writer, sendable(jobs[i]!));
        if (writer.frameSize > FRAME_BYTES_MAX) throw tooLarge(writer.frameSize);
      },
      read: (reader) => {
        const outcomes = readAdded(reader);
        return jobs.some(isTooLarge) ? withRefused(jobs, outcomes) : outcomes;
      },
    },
    bound,
  );
}

function isTooLarge(job: NewJob): boolean {
  return job?.payload?.length > PAYLOAD_BYTES_MAX;
}

/** A payload that no broker takes is not sent: the job goes without it and is refused. */
function sendable(job: NewJob): NewJob {
  return isTooLarge(job) ? { ...job, payload: undefined as unknown as Uint8Array } : job;
}

function withRefused(jobs: readonly NewJob[], outcomes: Outcome<Added>[]): Outcome<Added>[] {
  return outcomes.map((outcome, i) => {
    const job = jobs[i]!;
    return isTooLarge(job) ? { error: payloadTooLarge(job.payload.length).toJSON() } : outcome;
  });
}

function payloadTooLarge(bytes: number): SluiceError {
  const message = `payload must have at most ${PAYLOAD_BYTES_MAX} bytes, got ${bytes}`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { field: "payload", value: bytes });
}

function tooLarge(bytes: number): SluiceError {
  const message = `jobs must have at most ${FRAME_BYTES_MAX} bytes together, got ${bytes}`;
  return new SluiceError("PAYLOAD_TOO_LARGE", message, { field: "jobs", value: bytes });
}
