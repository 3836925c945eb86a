import {
  type Ack,
  type Added,
  type AddOptions,
  type Broker,
  type ConsumeOptions,
  type Consumer,
  type Deliver,
  type Extend,
  type HistoryEntry,
  type JobEnd,
  type JobInfo,
  type JobsOptions,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type Page,
  type Progress,
  SluiceError,
  type Why,
} from "@sluice/protocol";
import { forAllowed } from "../batch.ts";
import { type Action, forbidden } from "./grant.ts";
import { GuardedGroups } from "./guard-groups.ts";
import type { Permit } from "./permit.ts";
import { refuseGates } from "./refuse-gates.ts";
import { seenWhy } from "./seen-why.ts";
import { whileAllowed } from "./while-allowed.ts";

/** Whoever may add jobs, or take them, may ask how they are getting on. */
const EITHER: readonly Action[] = ["produce", "consume"];

/** The calls about jobs, each for those who may make it: the queue that a job is in decides. */
export class GuardedJobs extends GuardedGroups {
  readonly #broker: Broker;
  readonly #permit: Permit;

  constructor(broker: Broker, permit: Permit) {
    super(broker, permit);
    this.#broker = broker;
    this.#permit = permit;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    this.#permit.enter("produce", queue);
    // It may wait for room in the queue.
    const add = (allowed: readonly NewJob[]): Promise<Outcome<Added>[]> =>
      whileAllowed(this.#permit, "produce", queue, options.signal, (signal) =>
        this.#permit.underOwnId({ ...options, signal }, (own) =>
          this.#broker.add(queue, allowed, own),
        ),
      );
    // The broker refuses what is not a list.
    if (!Array.isArray(jobs)) return add(jobs);
    const nameable = this.#permit.nameable(queue);
    const refusals = jobs.map((job) => this.#refuse(queue, nameable, job));
    if (refusals.every((refusal) => refusal === undefined)) return add(jobs);
    return forAllowed(jobs, refusals, add);
  }

  #refuse(
    queue: string,
    nameable: readonly string[] | undefined,
    job: NewJob,
  ): Outcome<Added> | undefined {
    const error = this.refuseGroup(queue, job) ?? refuseGates(nameable, job);
    return error === undefined ? undefined : { error: error.toJSON() };
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    this.#permit.enter("consume", queue);
    const jobs = await whileAllowed(this.#permit, "consume", queue, options.signal, (signal) =>
      this.#broker.lease(queue, { ...options, signal }),
    );
    if (this.#permit.still("consume", queue)) return jobs;
    await this.#return(jobs);
    this.#permit.check("consume", queue);
    return [];
  }

  /** The right was lost while they were on their way. */
  async #return(jobs: readonly LeasedJob[]): Promise<void> {
    await this.#broker.giveBack(jobs.map(({ lease }) => lease)).catch(() => {});
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#permit.enter("consume", queue);
    const consumer = this.#broker.consume(queue, options, (jobs) => {
      if (this.#permit.still("consume", queue)) return deliver(jobs);
      void this.#return(jobs);
      void consumer.then((it) => it.stop()).catch(() => {});
    });
    const leave = this.#permit.principal.watch?.(() => {
      if (!this.#permit.still("consume", queue)) void consumer.then((it) => it.stop());
    });
    const joined = await consumer.catch((error) => {
      leave?.();
      throw error;
    });
    void joined.over.then(leave);
    return this.#guarded(queue, joined);
  }

  #guarded(queue: string, consumer: Consumer): Consumer {
    const addCredits = (count: number): void => {
      if (this.#permit.still("consume", queue)) consumer.addCredits(count);
      else void consumer.stop();
    };
    return { addCredits, stop: () => consumer.stop(), over: consumer.over };
  }

  async ack(items: readonly Ack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    return this.#held(items, tokenOf, (allowed) =>
      this.#permit.underOwnId(options, (own) => this.#broker.ack(allowed, own)),
    );
  }

  /** The broker knows which gates the policy of its queue has put on a job; these are the key's. */
  async nack(
    items: readonly Nack[],
    options: OperationOptions = {},
  ): Promise<Outcome<true | number>[]> {
    return this.#held(items, tokenOf, (allowed) => {
      const mayCool = this.#permit.coolable();
      // The broker refuses what is not a list.
      const isLimited = mayCool !== undefined && Array.isArray(allowed);
      const limited = isLimited ? allowed.map((item) => ({ ...item, mayCool })) : allowed;
      return this.#permit.underOwnId(options, (own) => this.#broker.nack(limited, own));
    });
  }

  async giveBack(leases: readonly string[]): Promise<Outcome<true>[]> {
    return this.#held(
      leases,
      (lease) => lease,
      (allowed) => this.#broker.giveBack(allowed),
    );
  }

  async extend(items: readonly Extend[]): Promise<Outcome<number>[]> {
    return this.#held(items, tokenOf, (allowed) => this.#broker.extend(allowed));
  }

  async progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    return this.#held(items, tokenOf, (allowed) => this.#broker.progress(allowed));
  }

  #held<I, T>(
    items: readonly I[],
    lease: (item: I) => string,
    call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    const about = { action: "consume", field: "lease", name: lease } as const;
    return this.#each({ ...about, id: (item) => jobOf(lease(item)) }, items, call);
  }

  async cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.#each(BY_ID, ids, (allowed) => this.#broker.cancel(allowed));
  }

  async cancelByKey(
    queue: string,
    keys: readonly string[],
    options?: OperationOptions,
  ): Promise<Outcome<boolean>[]> {
    this.#permit.enter("produce", queue);
    return this.#permit.underOwnId(options, (own) => this.#broker.cancelByKey(queue, keys, own));
  }

  async retry(ids: readonly string[], options?: OperationOptions): Promise<Outcome<true>[]> {
    return this.#each(BY_ID, ids, (allowed) =>
      this.#permit.underOwnId(options, (own) => this.#broker.retry(allowed, own)),
    );
  }

  /** Makes a call for those items whose jobs are in queues on which the action is allowed. */
  async #each<I, T>(
    about: About<I>,
    items: readonly I[],
    call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    this.#permit.enterValid();
    // What is no list the broker refuses in its own words.
    if (this.#permit.canAll(about.action) || !Array.isArray(items)) return call(items);
    const queues = await this.#broker.queuesOf(items.map(about.id));
    const refusals = queues.map((queue, i): Outcome<T> | undefined => {
      const error = this.#refuseJob(about.action, queue, about.field, about.name(items[i]!));
      return error === undefined ? undefined : { error: error.toJSON() };
    });
    return forAllowed(items, refusals, call);
  }

  /**
   * Why the caller may not do this with a job; undefined: it may, or the broker refuses it. A job
   * of a queue that it has no rights on is one that does not exist, as is one that no queue keeps:
   * an answer that differs would tell what others have. Lease tokens cannot be guessed, so the
   * holder of one learns that its job is over.
   */
  #refuseJob(
    actions: Action | readonly Action[],
    queue: string | undefined,
    field: "id" | "lease",
    name: unknown,
  ): SluiceError | undefined {
    if (queue === undefined ? field === "lease" : this.#permit.can(actions, queue)) return;
    if (queue !== undefined && this.#permit.sees(queue)) return forbidden(actions, queue);
    // The broker refuses it, in the same words for a job that does not exist.
    if (field === "lease" && !LEASE_TOKEN.test(String(name))) return;
    const details = { field, value: name };
    const what = field === "id" ? `job ${name}` : `job with the lease ${JSON.stringify(name)}`;
    return new SluiceError("JOB_NOT_FOUND", `there is no ${what}`, details);
  }

  /** The payload is for those who may take the job. */
  async job(id: string): Promise<JobInfo> {
    await this.#enterJob("consume", id);
    return this.#broker.job(id);
  }

  async why(id: string): Promise<Why> {
    await this.#enterJob(EITHER, id);
    const why = await this.#broker.why(id);
    if (this.#permit.canAll(EITHER)) return why;
    return seenWhy(why, (ids) => this.#seenQueues(ids));
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    await this.#enterJob(EITHER, id);
    return this.#broker.history(id);
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    this.#permit.enterValid();
    return this.#seenQueues(ids);
  }

  async #seenQueues(ids: readonly string[]): Promise<(string | undefined)[]> {
    const queues = await this.#broker.queuesOf(ids);
    return queues.map((queue) =>
      queue !== undefined && this.#permit.sees(queue) ? queue : undefined,
    );
  }

  async ended(id: string, options?: { signal?: AbortSignal | undefined }): Promise<JobEnd> {
    const queue = await this.#enterJob(EITHER, id);
    return whileAllowed(this.#permit, EITHER, queue ?? "*", options?.signal, (signal) =>
      this.#broker.ended(id, { signal }),
    );
  }

  /** Answers the queue of the job, where it had to be asked for. */
  async #enterJob(actions: Action | readonly Action[], id: string): Promise<string | undefined> {
    this.#permit.enterValid();
    if (this.#permit.canAll(actions)) return undefined;
    const [queue] = await this.#broker.queuesOf([id]);
    const error = this.#refuseJob(actions, queue, "id", id);
    if (error !== undefined) throw error;
    return queue;
  }

  async jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>> {
    this.#permit.enter("consume", queue);
    return this.#broker.jobs(queue, options);
  }
}

/** What a call about jobs needs, and how its items name them. */
interface About<I> {
  readonly action: Action;
  readonly field: "id" | "lease";
  /** How the caller named the job, and its id. */
  readonly name: (item: I) => unknown;
  readonly id: (item: I) => string;
}

const same = (id: string): string => id;

const BY_ID: About<string> = { action: "produce", field: "id", name: same, id: same };

const tokenOf = (item: { lease: string }): string => item?.lease;

/** The form of every token that a broker can accept: an id, the count of the delivery, a seal. */
const LEASE_TOKEN = /^[^.]+\.[1-9a-z][0-9a-z]{0,9}\.[\w-]{10}$/;

/** A lease's token begins with the id of its job. */
function jobOf(lease: unknown): string {
  return typeof lease === "string" ? lease.split(".", 1)[0]! : "";
}
