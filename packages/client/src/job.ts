import {
  type Added,
  type AttemptInfo,
  type CancelOptions,
  type HistoryEntry,
  type JobEnd,
  type JobInfo,
  type JobOptions,
  type LogLine,
  type NewJob,
  PreparedJob,
  readJob,
  SluiceError,
  type StepInfo,
  type Why,
  walkPages,
} from "@sluice/protocol";
import type { Connection } from "./connection.ts";
import { readDependencies } from "./dependencies.ts";
import type { Dependency } from "./dependency.ts";
import { endError, type FailedEnd } from "./errors.ts";
import { one } from "./gather.ts";
import {
  type CallOptions,
  type OperationOptions,
  parseCall,
  parseOperation,
} from "./parse-call.ts";
import { checkJson, decodeLeniently, decodeResult, encodePayload, showPayload } from "./payload.ts";
import { applyPolicy } from "./policy.ts";
import type { Codec, LocalOptions } from "./queue-options.ts";
import { validate } from "./schema.ts";

/** A promise only when the schema is one that waits. */
export function prepare(
  local: LocalOptions,
  payload: unknown,
  options: JobOptions | undefined,
): NewJob | Promise<NewJob> {
  if (local.schema === undefined) return build(local, payload, options);
  const valid = validate(local.schema, payload);
  if (!(valid instanceof Promise)) return build(local, valid, options);
  return valid.then((value) => build(local, value, options));
}

function build(
  { codec, policy }: LocalOptions,
  payload: unknown,
  options: JobOptions | undefined,
): NewJob {
  const bytes = encodePayload(codec, payload);
  const said = policy === undefined ? options : applyPolicy(policy, payload, options ?? {});
  if (said === undefined || saysNothing(said)) return { payload: bytes };
  const job = new PreparedJob();
  job.payload = bytes;
  readJob(job, said);
  return job;
}

/** A job without options is kept until it is answered without the places for them: 200 bytes. */
function saysNothing(options: object): boolean {
  for (const name in options) {
    if (name !== "payload" && (options as Record<string, unknown>)[name] !== undefined)
      return false;
  }
  return true;
}

/** An item of `addBulk`: the payload among its options. */
export interface BulkItem<Payload> extends JobOptions {
  payload: Payload;
}

/** A job with its payload and result as values; bytes that are not JSON are shown as they are. */
export interface JobDetails<Payload, Result> extends Omit<JobInfo, "payload" | "result"> {
  payload: Payload;
  result?: Result;
}

export function detailsOf<Payload, Result>(
  info: JobInfo,
  codec: Codec | undefined,
): JobDetails<Payload, Result> {
  const { payload, result, ...rest } = info;
  const details = { ...rest, payload: showPayload(codec, payload) as Payload };
  if (result === undefined) return details;
  return { ...details, result: decodeLeniently(result) as Result };
}

/** A handle on one job, wherever it is. */
export class Job<Payload = unknown, Result = unknown> {
  readonly id: string;
  /** The tier it was put into; absent when the handle was made from an id. */
  readonly tier: number | undefined;
  /** Dedupe answered with a job that was there already. */
  readonly duplicate: boolean;
  /** The queue was full and its policy is to drop: there is no such job. */
  readonly dropped: boolean;
  readonly #connection: Connection;
  readonly #codec: Codec | undefined;

  /** Users get one from `add`, or from `sluice.job(id)`. @internal */
  constructor(connection: Connection, added: Partial<Added> & { id: string }, codec?: Codec) {
    this.id = added.id;
    this.tier = added.tier;
    this.duplicate = added.duplicate === true;
    this.dropped = added.dropped === true;
    this.#connection = connection;
    this.#codec = codec;
  }

  /** Its result, when it has finished; rejects when it ended in any other way. */
  async finished(options?: CallOptions): Promise<Result> {
    this.#demandExists();
    const end = await this.#connection.port.ended(this.id, parseCall("finished", options));
    if (isFailure(end)) throw endError(end);
    return decodeResult(end.result) as Result;
  }

  /**
   * False when it had ended. A handler that runs in this process is aborted. With `dependencies`
   * the jobs that it waits for, and that no other job waits for, are cancelled with it.
   */
  async cancel(options: CancelOptions = {}): Promise<boolean> {
    this.#demandExists();
    const { dependencies, ...rest } = options;
    return this.#connection.cancel(this.id, { ...parseCall("cancel", rest), dependencies });
  }

  /** Runs it again while it is kept, or a delayed one at once. */
  async retry(options?: OperationOptions): Promise<void> {
    this.#demandExists();
    await one(this.#connection.port.retry([this.id], parseOperation("retry", options)));
  }

  async info(options?: CallOptions): Promise<JobDetails<Payload, Result>> {
    this.#demandExists();
    const info = await this.#connection.port.job(this.id, parseCall("info", options));
    return detailsOf(info, this.#codec);
  }

  /** The jobs that it waits for, in their order, with their results; read page by page. */
  dependencies<R = unknown>(options?: CallOptions): AsyncGenerator<Dependency<R>, undefined> {
    this.#demandExists();
    return readDependencies(this.#connection.port, this.id, parseCall("dependencies", options));
  }

  async why(options?: CallOptions): Promise<Why> {
    this.#demandExists();
    return this.#connection.port.why(this.id, parseCall("why", options));
  }

  /** The lines that its handlers have written with `job.log`, the oldest first. */
  async log(options?: CallOptions): Promise<readonly LogLine[]> {
    this.#demandExists();
    return this.#connection.port.logLines(this.id, parseCall("log", options));
  }

  /** Each delivery: its worker, when it began and ended, and how. */
  async attempts(options?: CallOptions): Promise<readonly AttemptInfo[]> {
    this.#demandExists();
    return this.#connection.port.attempts(this.id, parseCall("attempts", options));
  }

  async history(options?: CallOptions): Promise<readonly HistoryEntry[]> {
    this.#demandExists();
    return this.#connection.port.history(this.id, parseCall("history", options));
  }

  /** Sends it a value: the step that waits for this name gets it, now or later. */
  async signal(name: string, value?: unknown, options?: OperationOptions): Promise<void> {
    this.#demandExists();
    if (value !== undefined) checkJson("signal.value", value);
    await this.#connection.port.signal(this.id, name, value, parseOperation("signal", options));
  }

  /** Its steps, in the order in which they were done, in pages as they are needed. */
  steps(options?: CallOptions): AsyncIterableIterator<StepInfo> {
    const call = parseCall("steps", options);
    return walkPages((from) => this.#connection.port.steps(this.id, { ...call, ...from }));
  }

  #demandExists(): void {
    if (!this.dropped) return;
    throw new SluiceError(
      "JOB_NOT_FOUND",
      "the job was dropped because its queue was full; raise capacity or change onFull",
    );
  }
}

function isFailure(end: JobEnd): end is FailedEnd {
  return end.state !== "finished";
}
