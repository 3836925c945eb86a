/** Adds a batch of jobs: in one frame, or one after the other when it is too large for one. */
import {
  type Added,
  type NewJob,
  type Outcome,
  partOfOperation,
  SluiceError,
  timedOut,
} from "@sluice/protocol";
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
  const { parts, bytes, isRefused } = partsOf(jobs);
  const frame = { bytes, isRefused };
  if (parts.length === 1) return send(call, jobs, call.operationId, frame);
  // The call that adds the last member of a group closes it, so members are not taken apart.
  if (jobs.some((job) => job?.group !== undefined)) throw tooLarge(FRAME_BYTES_MAX + 1);
  const outcomes: Outcome<Added>[] = [];
  for (const [index, part] of parts.entries()) {
    check();
    const operationId =
      index === 0 ? call.operationId : partOfOperation(call.operationId, String(index));
    const answer = await send(call, part, operationId, frame).catch((error) => {
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

/** A caller that adds faster than the server confirms waits for it, or is refused. */
async function waitForRoom(operations: RemoteOperations, bound: Bound): Promise<void> {
  if (operations.waiting >= WAITING_ADDS_MAX) {
    const message = `${operations.bytes} bytes of adds are not confirmed by the server yet; try again later`;
    throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
  }
  await operations.room(bound);
}

/** The frames that jobs are sent in, by one look at each: most batches are large. */
interface Parts {
  readonly parts: readonly (readonly NewJob[])[];
  /** About what the largest of them takes. */
  readonly bytes: number;
  /** A payload is larger than any broker takes. */
  readonly isRefused: boolean;
}

function partsOf(jobs: readonly NewJob[]): Parts {
  const parts: (readonly NewJob[])[] = [];
  let from = 0;
  let bytes = JOB_BYTES_SLACK;
  let largest = 0;
  let isRefused = false;
  for (let i = 0; i < jobs.length; i++) {
    const job = jobs[i];
    const isLarge = isTooLarge(job);
    const size = (isLarge ? 0 : (job?.payload?.length ?? 0)) + sizeBeside(job);
    isRefused ||= isLarge;
    if (bytes + size > FRAME_BYTES_MAX && i > from) {
      parts.push(jobs.slice(from, i));
      from = i;
      largest = Math.max(largest, bytes);
      bytes = JOB_BYTES_SLACK;
    }
    bytes += size;
  }
  parts.push(from === 0 ? jobs : jobs.slice(from));
  return { parts, bytes: Math.max(largest, bytes), isRefused };
}

/** About the bytes that a job takes; one with headers or other options is taken to be larger. */
function sizeBeside(job: NewJob | undefined): number {
  return 100 + (job?.headers === undefined ? 0 : 1000);
}

function send(
  { operations, queue, bound, holdGroups }: AddCall,
  jobs: readonly NewJob[],
  operationId: string,
  { bytes, isRefused }: Pick<Parts, "bytes" | "isRefused">,
): Promise<Outcome<Added>[]> {
  return operations.ask(
    {
      name: "add",
      kind: KIND.add,
      write: (writer) => {
        writer.room(bytes);
        writer.text(queue);
        writer.text(operationId);
        writer.u8(holdGroups ? HOLD_GROUPS : 0);
        writer.u32(jobs.length);
        const sent = isRefused ? jobs.map(sendable) : jobs;
        for (let i = 0; i < sent.length; i++) writeNewJob(writer, sent[i]!);
        if (writer.frameSize > FRAME_BYTES_MAX) throw tooLarge(writer.frameSize);
      },
      read: (reader) => {
        const outcomes = readAdded(reader);
        return isRefused ? withRefused(jobs, outcomes) : outcomes;
      },
    },
    bound,
  );
}

function isTooLarge(job: NewJob | undefined): boolean {
  const length = job?.payload?.length;
  return length !== undefined && length > PAYLOAD_BYTES_MAX;
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
