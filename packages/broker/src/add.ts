import { type AddResult, type JobSpec, Refusal, Times } from "@sluice/engine";
import {
  type Added,
  type CallOptions,
  type NewJob,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import { aborted } from "./ends.ts";
import { ADD_SLICE, ADD_SLICE_BYTES, BUSY_RETRY_MS, WAITING_ADDS_MAX } from "./limits.ts";
import { specOf } from "./new-job.ts";
import { checkBatch, Operations } from "./operations.ts";
import { errorJson, toPortError } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";
import { idOf } from "./tokens.ts";

/** Takes jobs in: checks them, gives them to the engine and answers when they are durable. */
export class Adder {
  readonly #runtime: Runtime;
  /** How long calls took that were answered. */
  readonly times = new Times();
  readonly #operations = new Operations();
  /** Adds that wait for the log to catch up. */
  #waiting = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: CallOptions,
  ): Promise<Outcome<Added>[]> {
    checkBatch("jobs", jobs);
    const { operationId, signal } = options;
    if (signal?.aborted === true) throw aborted(signal);
    this.#runtime.check();
    const from = performance.now();
    const answer = await this.#operations.once(operationId, this.#runtime.now(), () =>
      this.#add(queue, jobs, signal),
    );
    this.times.count(performance.now() - from);
    return answer;
  }

  async #add(
    queue: string,
    jobs: readonly NewJob[],
    signal: AbortSignal | undefined,
  ): Promise<Outcome<Added>[]> {
    // A queue that is not there has one answer for all.
    this.#runtime.call((engine) => engine.queueConfig(queue));
    const outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[] = [];
    for (const slice of slicesOf(jobs)) {
      // A large batch must hold up neither everybody else nor the log.
      if (outcomes.length > 0) await new Promise(setImmediate);
      // Asked again after every wait: of many who waited, the first may have filled it up.
      while (!this.#isLogReady()) await this.#logReady();
      this.#addSlice(queue, slice, outcomes, signal);
    }
    const answers = outcomes.some((outcome) => outcome instanceof Promise)
      ? await Promise.all(outcomes)
      : (outcomes as Outcome<Added>[]);
    await this.#runtime.journal.durable();
    const isGivenUp = answers.some(({ error }) => error?.code === "ABORTED");
    if (isGivenUp && signal !== undefined) throw aborted(signal);
    return answers;
  }

  #addSlice(
    queue: string,
    jobs: readonly NewJob[],
    outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[],
    signal: AbortSignal | undefined,
  ): void {
    const { clock, options } = this.#runtime;
    const wallAheadMs = clock.wallAheadMs();
    const specs: JobSpec[] = [];
    const places: number[] = [];
    for (const job of jobs) {
      const place = outcomes.push(NOT_YET) - 1;
      try {
        specs.push(specOf(job, options.payloadBytesMax, wallAheadMs));
        places.push(place);
      } catch (error) {
        outcomes[place] = { error: errorJson(error) };
      }
    }
    const results = this.#runtime.call((engine, now) => engine.addAll(queue, specs, now));
    for (let i = 0; i < results.length; i++) {
      outcomes[places[i]!] = this.#outcome(queue, specs[i]!, results[i]!, signal);
    }
  }

  #outcome(
    queue: string,
    spec: JobSpec,
    result: AddResult | Refusal,
    signal: AbortSignal | undefined,
  ): Outcome<Added> | Promise<Outcome<Added>> {
    if (!(result instanceof Refusal)) return { ok: addedOf(result) };
    if (result.code === "QUEUE_FULL" && this.#waitsForRoom(queue)) {
      return this.#runtime.room.add(queue, spec, result, signal).then(
        (added) => ({ ok: addedOf(added) }),
        (error: unknown) => ({ error: errorJson(error) }),
      );
    }
    return { error: toPortError(result).toJSON() };
  }

  #waitsForRoom(queue: string): boolean {
    const { engine, room } = this.#runtime;
    return engine.queueConfig(queue).onFull === "wait" && !room.isFull;
  }

  #isLogReady(): boolean {
    const { journal, options } = this.#runtime;
    return journal.unsyncedBytes <= options.unsyncedBytesMax;
  }

  /** Whoever adds faster than the log can follow waits for it, or is sent away. */
  async #logReady(): Promise<void> {
    const { journal } = this.#runtime;
    if (this.#waiting >= WAITING_ADDS_MAX) {
      const message = `the log is ${journal.unsyncedBytes} bytes behind`;
      throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
    }
    this.#waiting++;
    try {
      await journal.durable();
    } finally {
      this.#waiting--;
    }
  }
}

/** The call that adds the last member of a group closes it: members are not taken apart. */
function slicesOf(jobs: readonly NewJob[]): (readonly NewJob[])[] {
  if (jobs.some((job) => job?.group !== undefined)) return [jobs];
  const slices: NewJob[][] = [[]];
  let bytes = 0;
  for (const job of jobs) {
    bytes += job?.payload?.length ?? 0;
    if (slices.at(-1)!.length === ADD_SLICE || bytes > ADD_SLICE_BYTES) {
      slices.push([]);
      bytes = job?.payload?.length ?? 0;
    }
    slices.at(-1)!.push(job);
  }
  return slices;
}

const NOT_YET: Outcome<Added> = { error: { code: "INTERNAL", message: "not answered" } };

function addedOf({ id, tier, duplicate, dropped }: AddResult): Added {
  if (dropped === true) return { id: "", tier, dropped: true };
  return duplicate === true ? { id: idOf(id), tier, duplicate: true } : { id: idOf(id), tier };
}
