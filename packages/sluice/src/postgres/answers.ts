/** What the broker's answers to a batch mean for the rows of the outbox. */
import {
  type Added,
  type Broker,
  type ErrorCode,
  isOtherCall,
  type NewJob,
  type Outcome,
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
 * These say something of the server or of the way to it. The job may have been added, so its row
 * stays in the batch under its number. In a cluster one partition may answer so beside others.
 */
const UNCERTAIN: ReadonlySet<ErrorCode> = new Set([
  ...(["ABORTED", "CLOSED", "DISCONNECTED", "INTERNAL", "TIMEOUT", "UNAVAILABLE"] as const),
  ...(["LOG_DAMAGED", "LOG_FAILED", "LOG_LOCKED", "LOG_VERSION", "RECOVERING"] as const),
  ...(["MOVED", "NOT_FOUND", "UNAUTHORIZED", "UPGRADE_NEEDED"] as const),
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

type Ask = (refusal: SluiceError) => Promise<Result | undefined>;

async function add(
  broker: Pick<Broker, "add">,
  batch: Batch,
  jobs: readonly NewJob[],
  signal: AbortSignal,
): Promise<Result[]> {
  if (jobs.length === 0) return [];
  const { rows, operationId, isRepeated } = batch;
  const ask: Ask = async (refusal) =>
    isRepeated ? askAfter(broker, batch, refusal, signal) : undefined;
  let answers: Outcome<Added>[];
  try {
    answers = await broker.add(rows[0]!.queue, jobs, { operationId, signal });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const result = await wholeResult(error, isRepeated, ask);
    return jobs.map(() => result);
  }
  return rowResults(answers, isRepeated, ask);
}

async function wholeResult(error: SluiceError, isRepeated: boolean, ask: Ask): Promise<Result> {
  const { forbidden } = error.details;
  // The key may add a part of them: this part is another call than the whole was.
  if (isRepeated && typeof forbidden === "string") throw new SluiceError("FORBIDDEN", forbidden);
  const result = resultOf(error);
  return (isOtherCall(error) ? undefined : await ask(error)) ?? result;
}

async function rowResults(
  answers: readonly Outcome<Added>[],
  isRepeated: boolean,
  ask: Ask,
): Promise<Result[]> {
  const errors = answers.flatMap(({ error }) =>
    error === undefined ? [] : [SluiceError.fromJSON(error)],
  );
  // One partition of several has refused its part.
  const low = errors.find(({ code }) => code === "STORAGE_LOW");
  if (isRepeated && low !== undefined) throw low;
  // The key may add none of them: the broker has not looked at the number.
  const isUnseen =
    errors.length === answers.length && errors.every(({ code }) => code === "FORBIDDEN");
  const known = isUnseen ? await ask(errors[0]!) : undefined;
  return answers.map(({ ok, error }) => {
    if (ok !== undefined) return { kind: "moved", job: ok.id };
    return known ?? resultOf(SluiceError.fromJSON(error!));
  });
}

/**
 * A refusal may come before the broker has looked at the number: a key has lost its rights, or
 * there are too many requests. It says nothing of a batch that may have been sent before. So the
 * broker is asked whether it has the number: an add of no jobs is another call under it. Throws
 * the refusal when it has, and when it does not say.
 */
async function askAfter(
  broker: Pick<Broker, "add">,
  { rows, operationId }: Batch,
  refusal: SluiceError,
  signal: AbortSignal,
): Promise<Result | undefined> {
  try {
    await broker.add(rows[0]!.queue, [], { operationId, signal });
    return undefined;
  } catch (error) {
    const newest = isOtherCall(error) ? (error as SluiceError).details.newest : undefined;
    if (newest === undefined) throw refusal;
    return { kind: "later", newest: Number(newest) };
  }
}

/** Throws what leaves open whether the job was added. */
function resultOf(error: SluiceError): Result {
  const { code, details } = error;
  if (UNCERTAIN.has(code)) throw error;
  if (LATER.includes(code)) return { kind: "later" };
  if (isOtherCall(error)) {
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
