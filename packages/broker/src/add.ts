import { type AddResult, type JobSpec, Refusal, Times } from "@sluice/engine";
import {
  type Added,
  type AddOptions,
  type NewJob,
  type Outcome,
  type QueueConfig,
  SluiceError,
} from "@sluice/protocol";
import type { Body } from "./bodies.ts";
import { aborted } from "./ends.ts";
import { ADD_SLICE, ADD_SLICE_BYTES, BUSY_RETRY_MS, WAITING_ADDS_MAX } from "./limits.ts";
import { specOf } from "./new-job.ts";
import { checkBatch, type Note } from "./operations.ts";
import type { Answer, Question } from "./policy/lua/batch.ts";
import { Turns } from "./policy/turns.ts";
import { errorJson, toPortError } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";
import { idOf } from "./tokens.ts";

/** Takes jobs in: checks them, gives them to the engine and answers when they are durable. */
export class Adder {
  readonly #runtime: Runtime;
  /** How long calls took that were answered. */
  readonly times = new Times();
  readonly #turns = new Turns();
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
      const waiting = this.#addSlice(queue, slice, outcomes, options, note);
      // Nobody waits where no script is asked.
      if (waiting !== undefined) await waiting;
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

  /** Answers a promise when the script of the queue is to be asked first. */
  #addSlice(
    queue: string,
    jobs: readonly NewJob[],
    outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[],
    { signal, holdGroups }: AddOptions,
    note: Note | undefined,
  ): Promise<void> | undefined {
    const { options, policies } = this.#runtime;
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
    const addNow = (answers: readonly Answer[]): void => {
      if (signal?.aborted === true) throw aborted(signal);
      const results = this.#addSpecs(queue, specs, answers, holdGroups === true);
      for (let i = 0; i < results.length; i++) {
        const place = places[i]!;
        const later = note && ((outcome: Outcome<Added>): void => note(place, [outcome]));
        outcomes[place] = this.#outcome(queue, specs[i]!, results[i]!, signal, later);
      }
      note?.(
        first,
        outcomes.slice(first).map((outcome) => (outcome instanceof Promise ? undefined : outcome)),
      );
    };
    const script = this.#runtime.call(() => policies.asks(queue, "enqueue"));
    if (script === undefined && !this.#turns.isTaken(queue)) {
      addNow([]);
      return undefined;
    }
    policies.refuseIfFull();
    const asking =
      script === undefined
        ? Promise.resolve([])
        : policies.ask(script, "enqueue", specs.map(questionOf));
    return this.#turns.take(queue, asking, addNow);
  }

  /** Lets the policy fill in what is open, and tells the engine. */
  #addSpecs(
    queue: string,
    specs: readonly JobSpec[],
    answers: readonly Answer[],
    holdGroups: boolean,
  ): (AddResult | Refusal)[] {
    const { heldGroups, policies } = this.#runtime;
    const results = this.#runtime.call((engine, now) => {
      const policy = policies.of(queue);
      if (policy !== undefined) {
        const config = engine.queueConfig(queue) as QueueConfig;
        for (let i = 0; i < specs.length; i++) policy.fill(specs[i]!, answers[i], queue, config);
      }
      return engine.addAll(queue, specs, now, { holdGroups });
    });
    if (holdGroups) heldGroups.hold(groupsOf(specs));
    return results;
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
          // What was noted must become durable, though nothing else may happen.
          this.#runtime.pump.call();
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

/** What a script is asked about a new job. */
function questionOf({ body }: JobSpec): Question {
  const { headers, payload } = body as Body;
  return { headers, payloadBytes: payload.length };
}

const NOT_YET: Outcome<Added> = { error: { code: "INTERNAL", message: "not answered" } };

function addedOf({ id, tier, duplicate, dropped }: AddResult): Added {
  if (dropped === true) return { id: "", tier, dropped: true };
  return duplicate === true ? { id: idOf(id), tier, duplicate: true } : { id: idOf(id), tier };
}
