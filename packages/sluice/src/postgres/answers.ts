/** What the broker's answers to a batch mean for the rows of the outbox. */
import {
  type Broker,
  type ErrorCode,
  type NewJob,
  PreparedJob,
  parseJob,
  readJob,
  SluiceError,
} from "@sluice/protocol";
import type { Batch, Result, Row } from "./batches.ts";
import { PAYLOAD_BYTES_MAX } from "./limits.ts";

/** The broker certainly has not taken the job, and may take it later. */
const LATER: readonly ErrorCode[] = ["QUEUE_FULL", "RATE_LIMITED", "STORAGE_LOW"];

/**
 * These may come before the broker has looked at the number: they say nothing of a batch that may
 * have been sent before. `RATE_LIMITED` is one of them only when the whole call is refused; that
 * of a single row is an answer that belongs to the number.
 */
const BEFORE_THE_NUMBER: ReadonlySet<ErrorCode> = new Set(["RATE_LIMITED", "STORAGE_LOW"]);

/**
 * These say something of the server or of the way to it. The job may have been added, so its row
 * stays in the batch under its number. In a cluster one partition may answer so beside others.
 */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set([
  ...(["ABORTED", "CLOSED", "DISCONNECTED", "INTERNAL", "TIMEOUT", "UNAVAILABLE"] as const),
  ...(["LOG_DAMAGED", "LOG_FAILED", "LOG_LOCKED", "LOG_VERSION", "RECOVERING"] as const),
  ...(["MOVED", "UNAUTHORIZED", "UPGRADE_NEEDED"] as const),
]);

/** Sends a batch under its number. Rejects when it must be sent again under the same one. */
export async function send(
  broker: Pick<Broker, "add">,
  batch: Batch,
  signal: AbortSignal,
): Promise<Result[]> {
  const prepared = batch.rows.map(prepare);
  const jobs = prepared.filter((job) => job instanceof PreparedJob);
  const results = (await add(broker, batch, jobs, signal)).values();
  return prepared.map((job) => {
    if (job instanceof SluiceError) return { kind: "refused", error: job.toJSON() };
    return results.next().value!;
  });
}

async function add(
  broker: Pick<Broker, "add">,
  { rows, operationId, isRepeated }: Batch,
  jobs: readonly NewJob[],
  signal: AbortSignal,
): Promise<Result[]> {
  if (jobs.length === 0) return [];
  try {
    const answers = await broker.add(rows[0]!.queue, jobs, { operationId, signal });
    return answers.map(({ ok, error }) => {
      if (ok !== undefined) return { kind: "moved", job: ok.id };
      // One partition of several has refused its part.
      if (isRepeated && error!.code === "STORAGE_LOW") throw SluiceError.fromJSON(error!);
      return resultOf(SluiceError.fromJSON(error!));
    });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    if (isRepeated && BEFORE_THE_NUMBER.has(error.code)) throw error;
    const result = resultOf(error);
    return jobs.map(() => result);
  }
}

/** Throws what leaves open whether the job was added. */
function resultOf(error: SluiceError): Result {
  const { code, details } = error;
  if (UNCERTAIN.has(code)) throw error;
  if (LATER.includes(code)) return { kind: "later" };
  if (code === "CONFLICT" && details.field === "operationId") {
    // The database is older than the broker: it was restored. Its rows get numbers of today.
    return { kind: "later", newest: Number(details.newest ?? 0) };
  }
  return { kind: "refused", error: error.toJSON() };
}

function prepare({ payload, options }: Row): PreparedJob | SluiceError {
  if (payload === null) {
    const message = `payload must have at most ${PAYLOAD_BYTES_MAX} bytes`;
    return new SluiceError("PAYLOAD_TOO_LARGE", message, { field: "payload" });
  }
  const job = new PreparedJob();
  try {
    readJob(job, options);
    job.payload = payload;
    // The broker checks it too, but on the way there one row could have all of them refused.
    parseJob(job);
    return job;
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
}
