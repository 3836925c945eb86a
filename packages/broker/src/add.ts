import { type AddResult, type JobSpec, Refusal } from "@sluice/engine";
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
    const { operationId, signal } = options;
    if (signal?.aborted === true) throw aborted(signal);
    this.#runtime.check();
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
      if (this.#runtime.journal.isDue) this.#runtime.pump.runNow();
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
    const { heldGroups, options } = this.#runtime;
    const first = outcomes.length;
    this.#runtime.lookAtWall();
    const specs: JobSpec[] = [];
    const places: number[] = [];
    for (const job of jobs) {
      const place = outcomes.push(NOT_YET) - 1;
      try {
        specs.push(specOf(job, options.payloadBytesMax));
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
    const { isCleanerBehind, journal, options } = this.#runtime;
    return journal.unsyncedBytes <= options.unsyncedBytesMax && !isCleanerBehind;
  }

  /** Whoever adds faster than the log can follow waits for it, or is sent away. */
  async #logReady(): Promise<void> {
    const { journal, options } = this.#runtime;
    const isUnsynced = journal.unsyncedBytes > options.unsyncedBytesMax;
    if (this.#waiting >= WAITING_ADDS_MAX) {
      const message = isUnsynced
        ? `the log is ${journal.unsyncedBytes} bytes behind`
        : "the log holds too much that is dead, and is being cleaned";
      throw new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
    }
    this.#waiting++;
    try {
      await (isUnsynced ? journal.durable() : this.#runtime.cleanerProgress());
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
  const slices: (readonly NewJob[])[] = [];
  let from = 0;
  let bytes = 0;
  for (let i = 0; i < jobs.length; i++) {
    const jobBytes = jobs[i]?.payload?.length ?? 0;
    bytes += jobBytes;
    if (i === from || (i - from < ADD_SLICE && bytes <= ADD_SLICE_BYTES)) continue;
    slices.push(jobs.slice(from, i));
    from = i;
    bytes = jobBytes;
  }
  slices.push(from === 0 ? jobs : jobs.slice(from));
  return slices;
}

const NOT_YET: Outcome<Added> = { error: { code: "INTERNAL", message: "not answered" } };

function addedOf({ id, tier, duplicate, dropped }: AddResult): Added {
  if (dropped === true) return { id: "", tier, dropped: true };
  return duplicate === true ? { id: idOf(id), tier, duplicate: true } : { id: idOf(id), tier };
}
