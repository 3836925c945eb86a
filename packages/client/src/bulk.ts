/** Adds many jobs in as few calls as the port allows. */
import {
  type Added,
  groupsOf,
  invalid,
  type NewJob,
  type OperationOptions,
  parseTimeout,
  SluiceError,
  toSluiceError,
} from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { type BulkItem, prepare } from "./job.ts";
import { BATCH_MAX } from "./limits.ts";
import type { LocalOptions } from "./queue-options.ts";
import type { Sending } from "./trace.ts";

/** For each item what became of it. */
export type BulkAnswers = (Added | SluiceError)[];

export interface BulkCall {
  readonly connection: Connection;
  readonly queue: string;
  readonly local: LocalOptions;
  readonly options: OperationOptions;
  readonly trace: Sending | undefined;
}

/**
 * One call at a time, so that the jobs keep the order of their items; while it is on its way the
 * next one is made ready. Rejects when a call as a whole has failed: its items have no answer.
 */
export async function addAll(
  call: BulkCall,
  items: readonly BulkItem<unknown>[],
): Promise<BulkAnswers> {
  if (!Array.isArray(items)) throw invalid("addBulk", "an array of { payload }", items);
  // What was added one by one before keeps its place before these.
  call.connection.addsTo(call.queue).flush();
  const answers: BulkAnswers = new Array(items.length);
  const held = new Set<string>();
  const many = { ...call, options: namedIfMany(call.options, items.length) };
  const { clock } = call.connection;
  const deadline = clock.now() + (parseTimeout(call.options.timeout) ?? Number.POSITIVE_INFINITY);
  try {
    let sent: Promise<void> = Promise.resolve();
    for (let start = 0, index = 0; start < items.length; start += BATCH_MAX, index++) {
      const batch = await makeReady(call.local, items, start, answers);
      call.trace?.mark(batch.jobs);
      await sent;
      const isLast = start + BATCH_MAX >= items.length;
      if (!isLast) for (const name of groupsOf(call.queue, batch.jobs)) held.add(name);
      if (batch.jobs.length === 0) continue;
      const leftMs = Math.max(0, deadline - clock.now());
      sent = sendBatch(many, { index, leftMs, holdGroups: !isLast }, batch, answers);
    }
    await sent;
  } catch (error) {
    // Not waited for: whatever failed may fail again, and the caller has waited long enough.
    void release(call.connection, [...held]);
    throw error;
  }
  await release(call.connection, [...held]);
  return answers;
}

/**
 * A group must not end with the members of the first call while the next one is on its way, so each
 * call but the last holds its groups. Should this fail, the broker releases them after a while.
 */
async function release({ port }: Connection, groups: readonly string[]): Promise<void> {
  for (let start = 0; start < groups.length; start += BATCH_MAX) {
    await port.releaseGroups(groups.slice(start, start + BATCH_MAX)).catch(() => {});
  }
}

interface Batch {
  readonly jobs: NewJob[];
  /** Where the answer to each job belongs. */
  readonly places: number[];
}

async function makeReady(
  local: LocalOptions,
  items: readonly BulkItem<unknown>[],
  start: number,
  answers: BulkAnswers,
): Promise<Batch> {
  const batch: Batch = { jobs: [], places: [] };
  const end = Math.min(start + BATCH_MAX, items.length);
  for (let i = start; i < end; i++) {
    try {
      const item: unknown = items[i];
      if (!isItem(item)) throw withoutPayload(i, item);
      const job = prepare(local, item.payload, item);
      batch.jobs.push(job instanceof Promise ? await job : job);
      batch.places.push(i);
    } catch (error) {
      answers[i] = toSluiceError(error);
    }
  }
  return batch;
}

/** Names the fields of the item: another queue calls its payload `data`. */
function withoutPayload(index: number, item: unknown): SluiceError {
  const field = `addBulk[${index}]`;
  const wanted = "an object { payload, ...options }";
  if (typeof item !== "object" || item === null) return invalid(field, wanted, item);
  const got = Object.keys(item).slice(0, 5).join(", ");
  return new SluiceError("INVALID", `${field} must be ${wanted}, got fields: ${got}`, { field });
}

function isItem(item: unknown): item is BulkItem<unknown> {
  return typeof item === "object" && item !== null && "payload" in item;
}

interface Part {
  readonly index: number;
  /** What is left of the time of the whole call. */
  readonly leftMs: number;
  readonly holdGroups: boolean;
}

function sendBatch(
  { connection, queue, options }: BulkCall,
  { index, leftMs, holdGroups }: Part,
  { jobs, places }: Batch,
  answers: BulkAnswers,
): Promise<void> {
  const timeout = Number.isFinite(leftMs) ? leftMs : undefined;
  const said = { ...callOptions(options, index), timeout, holdGroups };
  const call = connection.port.add(queue, jobs, said).then(
    (outcomes) => {
      for (let i = 0; i < places.length; i++) {
        const { ok, error } = outcomes[i]!;
        const place = places[i]!;
        answers[place] = error === undefined ? ok : SluiceError.fromJSON(error);
      }
    },
    (error) => {
      throw errorOfAll(error, options, index);
    },
  );
  // The next batch is still being prepared. The caller gets the error when it awaits this call.
  call.catch(() => {});
  return call;
}

/** An operation id names one call, so each further call of the same operation gets its own. */
function callOptions(options: OperationOptions, index: number): OperationOptions {
  const { operationId } = options;
  if (operationId === undefined || index === 0) return options;
  return { ...options, operationId: `${operationId}.${index}` };
}

/** Several calls need one name, by which all of them can be repeated. */
function namedIfMany(options: OperationOptions, items: number): OperationOptions {
  if (options.operationId !== undefined || items <= BATCH_MAX) return options;
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  const operationId = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { ...options, operationId };
}

/** The error names the whole call. What its first part has added cannot be said not to be there. */
function errorOfAll(error: unknown, { operationId }: OperationOptions, index: number): unknown {
  if (!(error instanceof SluiceError) || operationId === undefined || index === 0) return error;
  const isUnsent = error.code === "UNAVAILABLE";
  if (!isUnsent && error.details.operationId === undefined) return error;
  const message = isUnsent ? `only the first jobs were added: ${error.message}` : error.message;
  const details = { ...error.details, operationId };
  return new SluiceError(isUnsent ? "TIMEOUT" : error.code, message, details, { cause: error });
}
