import {
  type AddResult,
  DurationHistogram,
  type JobSpec,
  type QueueConfig,
  Refusal,
} from "@sluice/engine";
import {
  type Added,
  type AddOptions,
  checkSignal,
  groupsOf,
  type NewJob,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import type { EngineCalls } from "./engine-calls.ts";
import { type Features, FLOW_LEVEL, ORDERED_LEVEL } from "./features.ts";
import type { HeldGroups } from "./held-groups.ts";
import { idOf } from "./job-ids.ts";
import type { Journal } from "./journal.ts";
import { BUSY_RETRY_MS, OPERATION_BYTES_MAX, WAITING_ADDS_MAX } from "./limits.ts";
import { pieceEnds, questionOf, slicesOf, specOf } from "./new-jobs.ts";
import type { Note } from "./operations.ts";
import type { Answer } from "./policy/lua/batch.ts";
import type { Policies } from "./policy/policies.ts";
import type { Pump } from "./pump.ts";
import { errorJson, toPortError } from "./refuse.ts";
import { Turns, type WaitingAdds } from "./waiting-adds.ts";

/** Jobs that are added in one turn, unless their policy makes them too many. */
interface Slice {
  readonly queue: string;
  readonly specs: readonly JobSpec[];
  /** Where the answer of each belongs among the outcomes of the batch. */
  readonly places: readonly number[];
  readonly first: number;
  readonly outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[];
  readonly options: AddOptions & { isCut: boolean };
  readonly note: Note | undefined;
}

/** All jobs of a call, in the slices in which they are added. */
interface Batch extends Pick<Slice, "queue" | "outcomes" | "options" | "note"> {
  readonly slices: readonly (readonly NewJob[])[];
}

interface AddParts {
  readonly calls: EngineCalls;
  readonly journal: Journal;
  readonly heldGroups: HeldGroups;
  readonly policies: Policies;
  readonly features: Features;
  readonly waitingAdds: WaitingAdds;
  readonly pump: Pump;
  readonly options: { readonly payloadBytesMax: number; readonly unsyncedBytesMax: number };
  /** Adds have to wait until the cleaner has done more. */
  readonly isCleanerBehind: boolean;
  cleanerProgress(): Promise<void>;
  lookAtWall(): void;
}

/** Takes jobs in: checks them, gives them to the engine and answers when they are durable. */
export class AddCalls {
  readonly #of: AddParts;
  /** How long calls took that were answered. */
  readonly times = new DurationHistogram();
  readonly #turns = new Turns();
  /** Adds that wait for the log, or come in several slices: queue by queue, in their order. */
  readonly #line = new Turns();
  #waiting = 0;

  constructor(of: AddParts) {
    this.#of = of;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    checkSignal(options.signal);
    this.#of.calls.check();
    const from = performance.now();
    const answer = await this.#once(queue, jobs, options);
    this.times.count(performance.now() - from);
    return answer;
  }

  #once(queue: string, jobs: readonly NewJob[], options: AddOptions): Promise<Outcome<Added>[]> {
    const { operationId } = options;
    if (operationId === undefined) return this.#add(queue, jobs, options);
    checkBytes(jobs);
    const operation = {
      operationId,
      call: `add ${queue}`,
      items: jobs.length,
      said: [jobs],
    };
    return this.#of.calls.operations.once<Added>(operation, (missing, note) => {
      const isWhole = missing.length === jobs.length;
      const rest = isWhole ? jobs : missing.map((item) => jobs[item]!);
      return this.#add(queue, rest, options, note);
    });
  }

  #configOf(queue: string): QueueConfig {
    return this.#of.calls.ask((engine) => engine.queueConfig(queue));
  }

  async #add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions,
    note?: Note,
  ): Promise<Outcome<Added>[]> {
    const { signal } = options;
    // A queue that is not there has one answer for all.
    this.#configOf(queue);
    const outcomes: (Outcome<Added> | Promise<Outcome<Added>>)[] = [];
    const slices = slicesOf(jobs);
    const isCut = slices.length > 1;
    // The groups of a batch do not end before its last slice is in.
    const groups = isCut ? groupsOf(queue, jobs) : NO_GROUPS;
    const { heldGroups, journal } = this.#of;
    for (const name of groups) heldGroups.await(name);
    try {
      const batch = { queue, slices, outcomes, options: { ...options, isCut }, note };
      if (!isCut && this.#isOpen(queue)) {
        const waiting = this.#addSlice(batch, jobs);
        // Without a script there is nothing to wait for.
        if (waiting !== undefined) await waiting;
        this.#runIfDue();
      } else await this.#addInLine(batch);
    } finally {
      for (const name of groups) heldGroups.arrived(name);
    }
    const answers = outcomes.some((outcome) => outcome instanceof Promise)
      ? await Promise.all(outcomes)
      : (outcomes as Outcome<Added>[]);
    await journal.durable();
    if (answers.some(({ error }) => error?.code === "ABORTED")) checkSignal(signal);
    return answers;
  }

  /** Slice by slice, when the earlier adds to the queue are in and the log is ready. */
  async #addInLine(batch: Batch): Promise<void> {
    if (this.#waiting >= WAITING_ADDS_MAX) throw this.#busy();
    this.#waiting++;
    try {
      await this.#line.take(batch.queue, READY, async () => {
        for (const [i, slice] of batch.slices.entries()) {
          if (i > 0) await new Promise(setImmediate);
          // Checked again after each wait: an add to another queue may have filled the log.
          while (!this.#isLogReady()) await this.#logReady();
          await this.#addSlice(batch, slice);
          this.#runIfDue();
        }
      });
    } finally {
      this.#waiting--;
    }
  }

  #runIfDue(): void {
    if (this.#of.journal.isDue) this.#of.pump.runNow();
  }

  /** Answers a promise when the script of the queue is to be asked first. */
  #addSlice(
    { queue, outcomes, options, note }: Batch,
    jobs: readonly NewJob[],
  ): Promise<void> | undefined {
    const { features, policies } = this.#of;
    const first = outcomes.length;
    this.#of.lookAtWall();
    const specs: JobSpec[] = [];
    const places: number[] = [];
    for (const job of jobs) {
      const place = outcomes.push(NOT_YET) - 1;
      try {
        if (job?.after !== undefined) features.need(FLOW_LEVEL, "the job option after");
        if (job?.ordered === true) features.need(ORDERED_LEVEL, "the job option ordered");
        specs.push(specOf(job, queue, this.#of.options.payloadBytesMax));
        places.push(place);
      } catch (error) {
        outcomes[place] = { error: errorJson(error) };
      }
    }
    const slice: Slice = { queue, specs, places, first, outcomes, options, note };
    const { policy } = this.#configOf(queue);
    const script = policy === undefined ? undefined : policies.asks(queue, "enqueue");
    if (script === undefined && !this.#turns.queues.has(queue)) {
      const rest = this.#addFilled(slice, []);
      // Later adds to the queue wait for the rest of this one.
      return rest && this.#turns.take(queue, Promise.resolve(), () => rest);
    }
    policies.refuseIfFull();
    const asking =
      script === undefined
        ? Promise.resolve([])
        : policies.ask(script, "enqueue", specs.map(questionOf));
    return this.#turns.take(queue, asking, (answers) => this.#addFilled(slice, answers));
  }

  /** Lets the policy fill in what is open, and adds the jobs; answers a promise for the rest. */
  #addFilled(slice: Slice, answers: readonly Answer[]): Promise<void> | undefined {
    const { queue, specs, options } = slice;
    checkSignal(options.signal);
    const config = this.#configOf(queue);
    const policy = config.policy === undefined ? undefined : this.#of.policies.of(queue);
    if (policy !== undefined) {
      for (let i = 0; i < specs.length; i++) policy.fill(specs[i]!, answers[i], queue, config);
    }
    const ends = pieceEnds(specs);
    if (ends.length === 1) {
      this.#addPiece(slice, 0, specs.length, options.isCut);
      return undefined;
    }
    return this.#addPieces(slice, ends);
  }

  /** Adds a slice in several turns; its groups do not end before the last one. */
  async #addPieces(slice: Slice, ends: readonly number[]): Promise<void> {
    const { heldGroups } = this.#of;
    const groups = groupsOf(slice.queue, slice.specs);
    for (const name of groups) heldGroups.await(name);
    try {
      for (const [i, end] of ends.entries()) {
        if (i > 0) await new Promise(setImmediate);
        this.#addPiece(slice, ends[i - 1] ?? 0, end, true);
      }
    } finally {
      for (const name of groups) heldGroups.arrived(name);
    }
  }

  /** Gives some of a slice to the engine, and notes what became of them. */
  #addPiece(slice: Slice, from: number, to: number, isCut: boolean): void {
    const { queue, specs, places, outcomes, options, note } = slice;
    checkSignal(options.signal);
    const piece = from === 0 && to === specs.length ? specs : specs.slice(from, to);
    const mayWait = this.#configOf(queue).onFull === "wait";
    // Of those that may have to wait, each is asked for when those before it have their place.
    const results = mayWait ? undefined : this.#addSpecs(slice, piece, isCut);
    for (let i = 0; i < piece.length; i++) {
      const place = places[from + i]!;
      const spec = piece[i]!;
      const result = results?.[i] ?? this.#addInTurn(slice, spec, isCut);
      outcomes[place] =
        result instanceof Refusal
          ? this.#refused(slice, spec, result, place)
          : { ok: addedOf(result) };
    }
    if (note === undefined) return;
    const begin = from === 0 ? slice.first : places[from]!;
    const some = outcomes.slice(begin, to === specs.length ? outcomes.length : places[to]);
    note(
      begin,
      some.map((outcome) => (outcome instanceof Promise ? undefined : outcome)),
    );
  }

  /** Not before an add of its lane that waits for room. */
  #addInTurn(slice: Slice, spec: JobSpec, isCut: boolean): AddResult | Refusal {
    const refusal = this.#of.waitingAdds.refusalOf(slice.queue, spec);
    return refusal ?? this.#addSpecs(slice, [spec], isCut)[0]!;
  }

  #addSpecs(
    { queue, options }: Slice,
    specs: readonly JobSpec[],
    isCut: boolean,
  ): (AddResult | Refusal)[] {
    const holdGroups = options.holdGroups === true;
    const results = this.#of.calls.call((engine, now) =>
      engine.addAll(queue, specs, now, { holdGroups: holdGroups || isCut }),
    );
    if (holdGroups) this.#of.heldGroups.hold(groupsOf(queue, specs));
    return results;
  }

  /** An error, or the answer of a job that waits for room. */
  #refused(
    { queue, options: { signal }, note }: Slice,
    spec: JobSpec,
    refusal: Refusal,
    place: number,
  ): Outcome<Added> | Promise<Outcome<Added>> {
    const { waitingAdds } = this.#of;
    const { engine } = this.#of.calls;
    if (refusal.code !== "QUEUE_FULL" || engine.queueConfig(queue).onFull !== "wait") {
      return { error: toPortError(refusal).toJSON() };
    }
    if (waitingAdds.isFull) {
      engine.countRejected(queue);
      return { error: toPortError(refusal).toJSON() };
    }
    const onAdded = (added: AddResult): void => note?.(place, [{ ok: addedOf(added) }]);
    return waitingAdds.add(queue, spec, refusal, signal, onAdded).then(
      (added) => ({ ok: addedOf(added) }),
      (thrown: unknown) => {
        const error = errorJson(thrown);
        note?.(place, [{ error }]);
        // What was noted must become durable, though nothing else may happen.
        this.#of.pump.call();
        return { error };
      },
    );
  }

  /** The log takes more, and no earlier add to the queue is still on its way. */
  #isOpen(queue: string): boolean {
    return this.#isLogReady() && !this.#line.queues.has(queue);
  }

  #isLogReady(): boolean {
    const { isCleanerBehind, journal, options } = this.#of;
    return journal.unsyncedBytes <= options.unsyncedBytesMax && !isCleanerBehind;
  }

  async #logReady(): Promise<void> {
    const { journal } = this.#of;
    await (this.#isUnsynced ? journal.durable() : this.#of.cleanerProgress());
  }

  get #isUnsynced(): boolean {
    const { journal, options } = this.#of;
    return journal.unsyncedBytes > options.unsyncedBytesMax;
  }

  #busy(): SluiceError {
    const message = this.#isUnsynced
      ? `${this.#of.journal.unsyncedBytes} bytes are not on disk yet; try again later`
      : "the log is being cleaned; try again later";
    return new SluiceError("RATE_LIMITED", message, { retryAfterMs: BUSY_RETRY_MS });
  }
}

/** The record of an operation is written in one append with its jobs. */
function checkBytes(jobs: readonly NewJob[]): void {
  let bytes = 0;
  for (const job of jobs) bytes += job?.payload?.length ?? 0;
  if (bytes <= OPERATION_BYTES_MAX) return;
  const message =
    `the jobs under one operation id must have at most ${OPERATION_BYTES_MAX} bytes of payload, ` +
    `got ${bytes}; add them in several calls`;
  throw new SluiceError("PAYLOAD_TOO_LARGE", message, { field: "jobs", value: bytes });
}

const READY = Promise.resolve();

const NO_GROUPS: ReadonlySet<string> = new Set();

const NOT_YET: Outcome<Added> = { error: { code: "INTERNAL", message: "not answered" } };

export function addedOf({ id, tier, duplicate, dropped }: AddResult): Added {
  if (dropped === true) return { id: "", tier, dropped: true };
  return duplicate === true ? { id: idOf(id), tier, duplicate: true } : { id: idOf(id), tier };
}
