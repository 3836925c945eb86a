import type { EventFilter } from "../event.ts";
import type { Added, JobFields, LeasedJob, Nack, Outcome } from "../job.ts";
import type { QueueOptions } from "../options/queue-options.ts";
import type { RetryOptions } from "../options/retry-options.ts";
import type { Broker, ConsumeOptions, LeaseOptions } from "../port.ts";
import type { QueueInfo } from "../queue.ts";
import { accepted, bytes, check, equal, show, textOf, Unmet } from "./check.ts";
import { Inbox } from "./inbox.ts";
import { Listener } from "./listener.ts";
import type { HowItEnds, Open, Opened, Patience } from "./opened.ts";

const STEP_MS = 100;
/** How often a case lets things come through before it says that they do not. */
const SETTLES_MAX = 20;

/** Failures come back at once and without chance. */
export const PROMPT: RetryOptions = { min: 0, max: 0, jitter: 0 };

/** What a case acts on: one open broker, its time, and the calls that most cases make. */
export class Scene implements Patience {
  readonly #open: Open;
  readonly #opened: Opened;
  readonly #how: HowItEnds;
  readonly #others: Scene[] = [];
  #broker: Broker;

  private constructor(open: Open, opened: Opened, how: HowItEnds) {
    this.#open = open;
    this.#opened = opened;
    this.#how = how;
    this.#broker = opened.broker;
  }

  static async open(open: Open, how: HowItEnds): Promise<Scene> {
    return new Scene(open, await open(), how);
  }

  get broker(): Broker {
    return this.#broker;
  }

  get canReopen(): boolean {
    return this.#opened.reopen !== undefined;
  }

  /** Ends the broker in the way that the case is about, and continues with what comes back. */
  async reopen(): Promise<void> {
    check(this.#opened.reopen !== undefined, "this implementation cannot be opened again");
    this.#broker = await this.#opened.reopen(this.#how);
  }

  /** Another, empty instance: what it issues, this one has never issued. */
  async elsewhere(): Promise<Scene> {
    const other = await Scene.open(this.#open, this.#how);
    this.#others.push(other);
    return other;
  }

  async close(): Promise<void> {
    for (const other of this.#others) await other.close();
    await this.#opened.close();
  }

  // Time

  now(): number {
    return this.#opened.now();
  }

  /** The length of so many steps, in milliseconds. */
  steps(count: number): number {
    return count * (this.#opened.stepMs ?? STEP_MS);
  }

  /** The rate of one token every so many steps, in tokens a second. */
  oneEvery(steps: number): number {
    return 1000 / this.steps(steps);
  }

  async pass(steps: number): Promise<void> {
    await this.#opened.advance(this.steps(steps));
  }

  /** Waits until what is under way has come through; no time passes. */
  async settle(): Promise<void> {
    await this.#opened.advance(0);
  }

  near(actual: number | undefined, expected: number, what: string): void {
    const off = Math.abs((actual ?? Number.NaN) - expected);
    const late = `${what}: expected the time ${expected}, got ${actual}`;
    check(off <= (this.#opened.slackMs ?? 0), late);
  }

  /** Answers what `call` does, without letting time pass for it. */
  async atOnce<T>(call: Promise<T>, what: string): Promise<T> {
    const isDone = watch(call);
    await this.until(isDone, `${what}: expected an answer at once, but it is still waiting`);
    return call;
  }

  /** Holds that a call has not been answered yet. */
  async waits(call: Promise<unknown>, what: string): Promise<void> {
    const isDone = watch(call);
    await this.settle();
    if (!isDone()) return;
    const answer = await call.then(show, String);
    throw new Unmet(`${what}: expected it to wait, but it was answered with ${answer}`);
  }

  /** Waits for what must come without time passing. */
  async until(holds: () => boolean, otherwise: string | (() => string)): Promise<void> {
    for (let i = 0; i < SETTLES_MAX && !holds(); i++) await this.settle();
    check(holds(), typeof otherwise === "string" ? otherwise : otherwise());
  }

  // The calls that most cases make, on the queue "q" unless they name another

  queue(options: QueueOptions = {}, queue = "q"): Promise<QueueInfo> {
    return this.broker.setQueue(queue, options);
  }

  /** Adds one job that must go through; answers its id. */
  async add(payload: string, options: JobFields = {}, queue = "q"): Promise<string> {
    return accepted(await this.tryAdd(payload, options, queue), `the add of "${payload}"`).id;
  }

  async tryAdd(payload: string, options: JobFields = {}, queue = "q"): Promise<Outcome<Added>> {
    const outcomes = await this.broker.add(queue, [{ payload: bytes(payload), ...options }]);
    equal(outcomes.length, 1, "the number of answers to an add of one job");
    return outcomes[0]!;
  }

  /** Adds jobs in one call; all must go through. */
  async addAll(payloads: readonly string[], options: JobFields = {}, queue = "q") {
    const jobs = payloads.map((payload) => ({ payload: bytes(payload), ...options }));
    const outcomes = await this.broker.add(queue, jobs);
    return payloads.map((payload, i) => accepted(outcomes[i], `the add of "${payload}"`).id);
  }

  /** Takes the one job that must be there to be taken. */
  async takeOne(queue = "q", options: Partial<LeaseOptions> = {}): Promise<LeasedJob> {
    const [job] = await this.broker.lease(queue, { max: 1, ...options });
    check(job !== undefined, `expected a job to lease in queue ${queue}, there was none`);
    return job;
  }

  take(max: number, queue = "q"): Promise<LeasedJob[]> {
    return this.broker.lease(queue, { max });
  }

  /** Takes jobs, and holds their payloads in order against those that are expected. */
  async expect(payloads: readonly string[], what: string, queue = "q"): Promise<LeasedJob[]> {
    const jobs = await this.take(payloads.length + 10, queue);
    equal(jobs.map(textOf), payloads, what);
    return jobs;
  }

  /** The same for jobs that can be taken after so many steps, and not a step before. */
  async expectAfter(steps: number, payloads: readonly string[], what: string): Promise<void> {
    await this.pass(steps - 1);
    await this.expect([], `${what}, a step before its time`);
    await this.pass(2);
    await this.expect(payloads, what);
  }

  async ack(job: LeasedJob, result?: Uint8Array): Promise<void> {
    const [outcome] = await this.broker.ack([{ lease: job.lease, result }]);
    accepted(outcome, `the ack of "${textOf(job)}"`);
  }

  async nack(job: LeasedJob, options: Omit<Nack, "lease"> = {}): Promise<void> {
    const [outcome] = await this.broker.nack([{ lease: job.lease, ...options }]);
    accepted(outcome, `the nack of "${textOf(job)}"`);
  }

  /** Adds a job and has it fail for good: it is in the dead letter queue, or failed. */
  async bury(payload: string, options: JobFields = {}, queue = "q"): Promise<string> {
    const id = await this.add(payload, { ...options, attempts: 1 }, queue);
    await this.nack(await this.takeOne(queue), { error: "boom" });
    return id;
  }

  consume(options: Partial<ConsumeOptions> = {}, queue = "q"): Promise<Inbox> {
    return Inbox.open(this, queue, { worker: "worker", credits: 100, ...options });
  }

  listen(filter?: EventFilter): Promise<Listener> {
    return Listener.open(this, filter);
  }
}

/** Whether a call has been answered, one way or the other. */
function watch(call: Promise<unknown>): () => boolean {
  let isDone = false;
  const done = (): void => {
    isDone = true;
  };
  call.then(done, done);
  return () => isDone;
}
