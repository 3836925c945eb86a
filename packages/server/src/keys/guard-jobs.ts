import { hash } from "node:crypto";
import type {
  Ack,
  Added,
  AddOptions,
  Broker,
  ConsumeOptions,
  Consumer,
  Deliver,
  Extend,
  HistoryEntry,
  JobCalls,
  JobEnd,
  JobInfo,
  JobsOptions,
  LeasedJob,
  LeaseOptions,
  Nack,
  NewJob,
  OperationOptions,
  Outcome,
  Page,
  Progress,
  Why,
} from "@sluice/protocol";
import { forAllowed } from "../batch.ts";
import { type Action, forbidden } from "./grant.ts";
import { GuardedGroups } from "./guard-groups.ts";
import type { Permit } from "./permit.ts";

/** Whoever may add jobs, or take them, may ask how they are getting on. */
const EITHER: readonly Action[] = ["produce", "consume"];

/** The calls about jobs, each for those who may make it: the queue that a job is in decides. */
export class GuardedJobs extends GuardedGroups implements JobCalls {
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
    const own = this.#own(options);
    // The broker refuses what is not a list.
    if (!Array.isArray(jobs)) return this.#broker.add(queue, jobs, own);
    const refusals = jobs.map((job) => this.#refuse(queue, job));
    if (refusals.every((refusal) => refusal === undefined)) {
      return this.#broker.add(queue, jobs, own);
    }
    return forAllowed(jobs, refusals, (allowed) => this.#broker.add(queue, allowed, own));
  }

  #refuse(queue: string, job: NewJob): Outcome<Added> | undefined {
    const error = this.refuseGroup(queue, job);
    return error === undefined ? undefined : { error: error.toJSON() };
  }

  /** An operation's name is its caller's own: nobody gets another's answer by guessing it. */
  #own<O extends OperationOptions>(options: O): O {
    const { operationId } = options;
    if (typeof operationId !== "string" || operationId === "") return options;
    const name = `${this.#permit.principal.id}\0${operationId}`;
    return { ...options, operationId: hash("sha256", name, "base64url") };
  }

  async lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    this.#permit.enter("consume", queue);
    return this.#broker.lease(queue, options);
  }

  async consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    this.#permit.enter("consume", queue);
    const consumer = this.#broker.consume(queue, options, (jobs) => {
      if (this.#permit.still("consume", queue)) return deliver(jobs);
      // The right was lost while they were on their way.
      void this.#broker.giveBack(jobs.map(({ lease }) => lease)).catch(() => {});
      void consumer.then((it) => it.stop()).catch(() => {});
    });
    return this.#guarded(queue, await consumer);
  }

  #guarded(queue: string, consumer: Consumer): Consumer {
    const addCredits = (count: number): void => {
      if (this.#permit.still("consume", queue)) consumer.addCredits(count);
      else void consumer.stop();
    };
    return { addCredits, stop: () => consumer.stop(), over: consumer.over };
  }

  async ack(items: readonly Ack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    const own = this.#own(options);
    return this.#held(items, tokenOf, (allowed) => this.#broker.ack(allowed, own));
  }

  /** A failure may cool down or blame a gate: the job's own, unless one may consume everything. */
  async nack(items: readonly Nack[], options: OperationOptions = {}): Promise<Outcome<true>[]> {
    const own = this.#own(options);
    return this.#held(items, tokenOf, async (allowed) => {
      if (this.#permit.canAll("consume")) return this.#broker.nack(allowed, own);
      const refusals = await Promise.all(allowed.map((item) => this.#refuseGates(item)));
      return forAllowed(allowed, refusals, (rest) => this.#broker.nack(rest, own));
    });
  }

  async #refuseGates({ lease, cooldown, blame }: Nack): Promise<Outcome<true> | undefined> {
    const named = [...(cooldown === undefined ? [] : [cooldown.gate]), ...(blame || [])];
    if (named.length === 0) return undefined;
    const job = await this.#broker.job(jobOf(lease)).catch(() => undefined);
    const foreign = named.find((gate) => job !== undefined && !job.gates.includes(gate));
    return foreign === undefined ? undefined : { error: forbidden("consume", "*").toJSON() };
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
    return this.#each("consume", items, (item) => jobOf(lease(item)), call);
  }

  async cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.#each("produce", ids, same, (allowed) => this.#broker.cancel(allowed));
  }

  async cancelByKey(
    queue: string,
    keys: readonly string[],
    options?: OperationOptions,
  ): Promise<Outcome<boolean>[]> {
    this.#permit.enter("produce", queue);
    return this.#broker.cancelByKey(queue, keys, options);
  }

  async retry(ids: readonly string[], options?: OperationOptions): Promise<Outcome<true>[]> {
    return this.#each("produce", ids, same, (allowed) => this.#broker.retry(allowed, options));
  }

  /** Makes a call for those items whose jobs are in queues on which the action is allowed. */
  async #each<I, T>(
    action: Action,
    items: readonly I[],
    id: (item: I) => string,
    call: (allowed: readonly I[]) => Promise<Outcome<T>[]>,
  ): Promise<Outcome<T>[]> {
    this.#permit.enterValid();
    // What is no list the broker refuses in its own words.
    if (this.#permit.canAll(action) || !Array.isArray(items)) return call(items);
    const queues = await this.#broker.queuesOf(items.map(id));
    const refusals = queues.map((queue): Outcome<T> | undefined =>
      queue === undefined || this.#permit.can(action, queue)
        ? undefined
        : { error: forbidden(action, queue).toJSON() },
    );
    return forAllowed(items, refusals, call);
  }

  /** The payload is for those who may take the job. */
  async job(id: string): Promise<JobInfo> {
    await this.#enterJob("consume", id);
    return this.#broker.job(id);
  }

  async why(id: string): Promise<Why> {
    await this.#enterJob(EITHER, id);
    return this.#broker.why(id);
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    await this.#enterJob(EITHER, id);
    return this.#broker.history(id);
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    this.#permit.enterValid();
    const queues = await this.#broker.queuesOf(ids);
    return queues.map((queue) =>
      queue !== undefined && this.#permit.sees(queue) ? queue : undefined,
    );
  }

  async ended(id: string, options?: { signal?: AbortSignal | undefined }): Promise<JobEnd> {
    await this.#enterJob(EITHER, id);
    return this.#broker.ended(id, options);
  }

  async #enterJob(actions: Action | readonly Action[], id: string): Promise<void> {
    this.#permit.enterValid();
    if (this.#permit.canAll(actions)) return;
    const [queue] = await this.#broker.queuesOf([id]);
    // What is not there the broker says better.
    if (queue !== undefined && !this.#permit.can(actions, queue)) throw forbidden(actions, queue);
  }

  async jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>> {
    this.#permit.enter("consume", queue);
    return this.#broker.jobs(queue, options);
  }
}

const same = (id: string): string => id;

const tokenOf = (item: { lease: string }): string => item?.lease;

/** A lease's token begins with the id of its job. */
function jobOf(lease: unknown): string {
  return typeof lease === "string" ? lease.split(".", 1)[0]! : "";
}
