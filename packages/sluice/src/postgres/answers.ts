/** What the broker's answers to a batch mean for the rows of the outbox. */
import {
  type Broker,
  type ErrorCode,
  type NewJob,
  PreparedJob,
  readJob,
  SluiceError,
} from "@sluice/protocol";
import type { Batch, Result, Row } from "./batches.ts";

/** The broker certainly has not taken the job, and may take it later. */
const LATER: readonly ErrorCode[] = ["QUEUE_FULL", "RATE_LIMITED", "STORAGE_LOW"];

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
  { rows, operationId }: Batch,
  signal: AbortSignal,
): Promise<Result[]> {
  const prepared = rows.map(prepare);
  const jobs = prepared.filter((job) => job instanceof PreparedJob);
  const results = (await add(broker, rows, jobs, { operationId, signal })).values();
  return prepared.map((job) => {
    if (job instanceof SluiceError) return { kind: "refused", error: job.toJSON() };
    return results.next().value!;
  });
}

async function add(
  broker: Pick<Broker, "add">,
  rows: readonly Row[],
  jobs: readonly NewJob[],
  options: { operationId: string; signal: AbortSignal },
): Promise<Result[]> {
  if (jobs.length === 0) return [];
  try {
    const answers = await broker.add(rows[0]!.queue, jobs, options);
    return answers.map(({ ok, error }) => {
      return ok === undefined
        ? resultOf(SluiceError.fromJSON(error!))
        : { kind: "moved", job: ok.id };
    });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
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
  const job = new PreparedJob();
  try {
    readJob(job, options);
  } catch (error) {
    if (error instanceof SluiceError) return error;
    throw error;
  }
  job.payload = payload;
  return job;
}
