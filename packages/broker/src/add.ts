import { type AddResult, type JobSpec, Refusal, Times } from "@sluice/engine";
import {
  type Added,
  type AddOptions,
  type NewJob,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import { aborted } from "./ends.ts";
import { ADD_SLICE, ADD_SLICE_BYTES, BUSY_RETRY_MS, WAITING_ADDS_MAX } from "./limits.ts";
import { specOf } from "./new-job.ts";
import { checkBatch, type Note } from "./operations.ts";
import { errorJson, toPortError } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";
import { idOf } from "./tokens.ts";

/** Takes jobs in: checks them, gives them to the engine and answers when they are durable. */
export class Adder {
  readonly #runtime: Runtime;
  /** How long calls took that were answered. */
  readonly times = new Times();
  /** Adds that wait for the log to catch up. */
  #waiting = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions,
  ): Promise<Outcome<Added>[]> {
    checkBatch("jobs", jobs);
    const { signal } = options;
    if (signal?.aborted === true) throw aborted(signal);
    this.#runtime.check();
    const from = performance.now();
    const answer = await this.#once(queue, jobs, options);
    this.times.count(performance.now() - from);
    return answer;
  }

  #once(queue: string, jobs: readonly NewJob[], options: AddOptions): Promise<Outcome<Added>[]> {
    const { operationId } = options;
    if (operationId === undefined) return this.#add(queue, jobs, options);
    const operation = { operationId, call: `add ${queue}`, items: jobs.length };
    return this.#runtime.operations.once<Added>(operation, (missing, note) => {
      const rest = missing.map((item) => jobs[item]!);
      return this.#add(queue, rest, options, note);
    });
  }

  async #add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions,
    note?: Note,
  ): Promise<Outcome<Added>[]> {
    const { signal } = options;
    // A queue that is not there has one answer for all.
    this.#runtime.call((engine) => engine.queueConfig(queue));
    const outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[] = [];
    for (const slice of slicesOf(jobs)) {
      // A large batch must hold up neither everybody else nor the log.
      if (outcomes.length > 0) await new Promise(setImmediate);
      // Asked again after every wait: of many who waited, the first may have filled it up.
      while (!this.#isLogReady()) await this.#logReady();
      this.#addSlice(queue, slice, outcomes, options, note);
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
    { signal, holdGroups }: AddOptions,
    note: Note | undefined,
  ): void {
    const { clock, heldGroups, options } = this.#runtime;
    const first = outcomes.length;
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
    const groups = { holdGroups: holdGroups === true };
    const results = this.#runtime.call((engine, now) => engine.addAll(queue, specs, now, groups));
    for (let i = 0; i < results.length; i++) {
      const place = places[i]!;
      const later = note && ((outcome: Outcome<Added>): void => note(place, [outcome]));
      outcomes[place] = this.#outcome(queue, specs[i]!, results[i]!, signal, later);
    }
    if (holdGroups === true) heldGroups.hold(groupsOf(specs));
    note?.(
      first,
      outcomes.slice(first).map((outcome) => (outcome instanceof Promise ? undefined : outcome)),
    );
  }

  #outcome(
    queue: string,
    spec: JobSpec,
    result: AddResult | Refusal,
    signal: AbortSignal | undefined,
    note: ((outcome: Outcome<Added>) => void) | undefined,
  ): Outcome<Added> | Promise<Outcome<Added>> {
    if (!(result instanceof Refusal)) return { ok: addedOf(result) };
    const { engine, room } = this.#runtime;
    if (result.code === "QUEUE_FULL" && engine.queueConfig(queue).onFull === "wait") {
      if (room.isFull) {
        engine.countRejected(queue);
        return { error: toPortError(result).toJSON() };
      }
      const onAdded = (added: AddResult): void => note?.({ ok: addedOf(added) });
      return room.add(queue, spec, result, signal, onAdded).then(
        (added) => ({ ok: addedOf(added) }),
        (thrown: unknown) => {
          const error = errorJson(thrown);
          note?.({ error });
          return { error };
        },
      );
    }
    return { error: toPortError(result).toJSON() };
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

function groupsOf(specs: readonly JobSpec[]): Set<string> {
  const names = new Set<string>();
  for (const { group } of specs) if (typeof group === "string") names.add(group);
  return names;
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
