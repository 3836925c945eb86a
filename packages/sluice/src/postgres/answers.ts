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

export interface SendOptions {
  /** The batch has met so many faults of the broker that another one is the answer. */
  readonly isLast: boolean;
  readonly signal: AbortSignal;
}

/** Sends a batch under its number. Rejects when it must be sent again under the same one. */
export async function send(
  broker: Pick<Broker, "add">,
  batch: Batch,
  options: SendOptions,
): Promise<Result[]> {
  const prepared = batch.rows.map(prepare);
  const jobs = prepared.filter((job) => job instanceof PreparedJob);
  const results = (await add(broker, batch, jobs, options)).values();
  return prepared.map((job) => {
    if (job instanceof SluiceError) return { kind: "refused", error: job.toJSON() };
    return results.next().value!;
  });
}

/** What is known of a batch beside the answers to it. */
interface Known {
  readonly isRepeated: boolean;
  readonly isLast: boolean;
  /** Throws the refusal when the broker may have the batch. */
  ask(refusal: SluiceError): Promise<Result | undefined>;
}

async function add(
  broker: Pick<Broker, "add">,
  batch: Batch,
  jobs: readonly NewJob[],
  { isLast, signal }: SendOptions,
): Promise<Result[]> {
  if (jobs.length === 0) return [];
  const { rows, operationId, isRepeated } = batch;
  const known: Known = {
    isRepeated,
    isLast,
    ask: async (refusal) => (isRepeated ? askAfter(broker, batch, refusal, signal) : undefined),
  };
  let answers: Outcome<Added>[];
  try {
    answers = await broker.add(rows[0]!.queue, jobs, { operationId, signal });
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const result = await wholeResult(error, jobs.length, known);
    return jobs.map(() => result);
  }
  return rowResults(answers, known);
}

async function wholeResult(
  error: SluiceError,
  count: number,
  { isRepeated, isLast, ask }: Known,
): Promise<Result> {
  const { forbidden } = error.details;
  // The key may add a part of them: this part is another call than the whole was.
  if (isRepeated && typeof forbidden === "string") throw new SluiceError("FORBIDDEN", forbidden);
  const isFault = isLast && error.code === "INTERNAL";
  const result = isFault ? faultResult(error, count) : resultOf(error);
  return (isOtherCall(error) ? undefined : await ask(error)) ?? result;
}

/** Which of several rows meets the fault is not known: they are sent one by one. */
function faultResult(error: SluiceError, count: number): Result {
  if (count > 1) return { kind: "later", newest: 0 };
  return { kind: "refused", error: error.toJSON() };
}

async function rowResults(answers: readonly Outcome<Added>[], known: Known): Promise<Result[]> {
  const { isRepeated, isLast, ask } = known;
  const errors = answers.flatMap(({ error }) =>
    error === undefined ? [] : [SluiceError.fromJSON(error)],
  );
  // One partition of several has refused its part.
  const low = errors.find(({ code }) => code === "STORAGE_LOW");
  if (isRepeated && low !== undefined) throw low;
  const areAll = (code: ErrorCode): boolean =>
    errors.length === answers.length && errors.every((error) => error.code === code);
  if (areAll("INTERNAL")) {
    const result = await wholeResult(errors[0]!, answers.length, known);
    return answers.map(() => result);
  }
  // The key may add none of them: the broker has not looked at the number.
  const asked = areAll("FORBIDDEN") ? await ask(errors[0]!) : undefined;
  return answers.map(({ ok, error }) => {
    if (ok !== undefined) return { kind: "moved", job: ok.id };
    // The broker has the number and answers others under it: it does not have this row.
    if (isLast && error!.code === "INTERNAL") return { kind: "refused", error: error! };
    return asked ?? resultOf(SluiceError.fromJSON(error!));
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
