/**
 * The Broker port with a check before every call. HTTP and the stream alike see a broker only
 * through it, so there is one place that decides who may do what; docs/operating.md has the table.
 * The check is made on each call, so a key that is revoked is refused at its next one.
 *
 * Which right a call needs is in its row. Written here are the calls that do more than ask for it.
 */
import {
  type Added,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  boundCalls,
  CALLS,
  type CallName,
  type ConsumeOptions,
  type Consumer,
  callsOf,
  type DeleteQueueOptions,
  type Deliver,
  defineCalls,
  type EventFilter,
  type GateInfo,
  type GatesOptions,
  type GatesPage,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type Page,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  SluiceError,
  type StatsOptions,
  SystemClock,
  type Why,
} from "@sluice/protocol";
import { forAllowed } from "../batch.ts";
import { type RequestBucket, tooManyAdds } from "../request-bucket.ts";
import { forbidden } from "./grant.ts";
import { EITHER, guardedCall } from "./guarded-call.ts";
import { guardedConsumer, guardedLease } from "./guarded-leases.ts";
import { type Access, Permit, whileAllowed } from "./permit.ts";
import type { Principal } from "./principal.ts";
import {
  enterJob,
  forOwnJobs,
  limitedPolicy,
  refuseGates,
  refuseGroup,
  seenQueues,
} from "./rights.ts";
import { SeenEvents, seenWhy } from "./seen.ts";

/** `adds` limits the jobs that all callers add together. */
export function guard(broker: Broker, principal: Principal, adds?: RequestBucket): Broker {
  return new Guard(broker, new Permit(principal), adds);
}

type Own =
  | ("add" | "nack" | "why" | "queuesOf" | "stats")
  | ("setQueue" | "deleteQueue" | "queues" | "gate" | "gates");

class Guard extends callsOf<Exclude<CallName, Own>>() implements Broker, Access {
  readonly broker: Broker;
  readonly permit: Permit;
  readonly #adds: RequestBucket | undefined;

  constructor(broker: Broker, permit: Permit, adds: RequestBucket | undefined) {
    super();
    this.broker = broker;
    this.permit = permit;
    this.#adds = adds;
  }

  async add(
    queue: string,
    jobs: readonly NewJob[],
    options: AddOptions = {},
  ): Promise<Outcome<Added>[]> {
    this.permit.enter("produce", queue);
    const add = (allowed: readonly NewJob[]): Promise<Outcome<Added>[]> => {
      this.#takeAdds(allowed);
      // It may wait for room in the queue.
      return whileAllowed(this.permit, "produce", queue, options, (watched) =>
        this.permit.underOwnId(watched, (own) => this.broker.add(queue, allowed, own)),
      );
    };
    const nameable = this.permit.nameable(queue);
    const refuse = (job: NewJob): SluiceError | undefined =>
      refuseGroup(this.permit, queue, job) ?? refuseGates(nameable, job);
    // The broker refuses values that are no lists. Of most batches nothing is refused here.
    if (!Array.isArray(jobs) || !jobs.some(refuse)) return add(jobs);
    const refusals = jobs.map((job): Outcome<Added> | undefined => {
      const error = refuse(job);
      return error === undefined ? undefined : { error: error.toJSON() };
    });
    return forAllowed(jobs, refusals, add);
  }

  /** A batch beyond the limit is refused as a whole. */
  #takeAdds(jobs: readonly NewJob[]): void {
    const retryAfterMs = this.#adds?.take(Array.isArray(jobs) ? jobs.length : 1) ?? 0;
    if (retryAfterMs > 0) throw tooManyAdds(retryAfterMs);
  }

  lease(queue: string, options: LeaseOptions): Promise<LeasedJob[]> {
    return guardedLease(this, queue, options);
  }

  consume(queue: string, options: ConsumeOptions, deliver: Deliver): Promise<Consumer> {
    return guardedConsumer(this, queue, options, deliver);
  }

  /** The broker knows which gates the policy of its queue has put on a job; these are the key's. */
  async nack(
    items: readonly Nack[],
    options: OperationOptions = {},
  ): Promise<Outcome<true | number>[]> {
    return forOwnJobs(this, CALLS.nack, items, (allowed) => {
      const mayCool = this.permit.coolable();
      // The broker refuses values that are no lists.
      const isLimited = mayCool !== undefined && Array.isArray(allowed);
      const limited = isLimited ? allowed.map((item) => ({ ...item, mayCool })) : allowed;
      return this.permit.underOwnId(options, (own) => this.broker.nack(limited, own));
    });
  }

  async why(id: string): Promise<Why> {
    await enterJob(this, EITHER, id);
    const why = await this.broker.why(id);
    if (this.permit.canAll(EITHER)) return why;
    return seenWhy(why, (ids) => seenQueues(this, ids));
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    this.permit.enterValid();
    return seenQueues(this, ids);
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    // Opening a queue that is there changes nothing.
    if (isEmpty(options) && !this.permit.can("admin", queue)) return this.#openQueue(queue);
    this.permit.enter("admin", queue);
    const dlq = options?.dlq;
    if (typeof dlq === "string" && dlq !== `${queue}.dlq` && !this.permit.can("admin", dlq)) {
      throw forbidden("admin", dlq);
    }
    return this.broker.setQueue(queue, limitedPolicy(this.permit, queue, options));
  }

  /** A key without rights here needs `admin`: it does not learn whether the queue exists. */
  async #openQueue(queue: string): Promise<QueueInfo> {
    if (!this.permit.sees(queue)) this.permit.enter("admin", queue);
    this.permit.enterAny(queue);
    return this.broker.queue(queue).catch((error: unknown) => {
      throw isMissing(error) ? forbidden("admin", queue) : error;
    });
  }

  /** Its dead letters are in another queue: who deletes them must be allowed to do so there. */
  async deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    this.permit.enter("admin", queue);
    if (options?.deadLetters === "delete") {
      const dlq = await this.#dlqOf(queue);
      if (dlq !== undefined) this.permit.enter("admin", dlq);
    }
    return this.permit.underOwnId(options, (own) => this.broker.deleteQueue(queue, own));
  }

  /** Undefined also when the queue is gone: a call that is repeated gets its first answer. */
  async #dlqOf(queue: string): Promise<string | undefined> {
    const info = await this.broker.queue(queue).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    return info?.config.dlq || undefined;
  }

  /** A page is filled with what the caller may see, however much of other callers lies between. */
  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    this.permit.enterValid();
    const items: QueueInfo[] = [];
    let page = await this.broker.queues(options);
    const limit = options.limit ?? page.items.length;
    for (;;) {
      for (const [i, info] of page.items.entries()) {
        if (this.permit.sees(info.name)) items.push(info);
        const isMore = i + 1 < page.items.length || page.cursor !== undefined;
        if (items.length === limit && isMore) return { items, cursor: info.name };
      }
      if (page.cursor === undefined) return { items };
      page = await this.broker.queues({ ...options, cursor: page.cursor });
    }
  }

  // Gates are shared by all queues: every key may read them. How many wait is no secret, whose
  // they are may be.

  async gate(key: string): Promise<GateInfo> {
    this.permit.enterValid();
    return this.#seenLine(await this.broker.gate(key));
  }

  async gates(options: GatesOptions = {}): Promise<GatesPage> {
    if (options.queue === undefined) this.permit.enterValid();
    else this.permit.enterAny(options.queue);
    const page = await this.broker.gates(options);
    return { ...page, items: page.items.map((gate) => this.#seenLine(gate)) };
  }

  #seenLine(gate: GateInfo): GateInfo {
    return { ...gate, line: gate.line.filter(({ queue }) => this.permit.sees(queue)) };
  }

  async stats(options: StatsOptions = {}): Promise<BrokerStats> {
    this.permit.enterValid();
    const queues = (options.queues ?? []).filter((name) => this.permit.sees(name));
    return this.broker.stats({ ...options, queues });
  }

  events(filter?: EventFilter): AsyncIterableIterator<BrokerEvent> {
    this.permit.enterValid();
    const events = this.broker.events(filter);
    return new SeenEvents(events, this.permit.principal, (event) => this.#isSeen(event));
  }

  #isSeen(event: BrokerEvent): boolean {
    // What was cut off the log concerns those who run the server.
    if (event.event === "torn") return this.permit.canAll(["admin"]);
    // Of a gate, and of a failed log, all may know.
    return !("queue" in event) || this.permit.sees(event.queue);
  }

  /** The broker is the server's, not the caller's. */
  async close(): Promise<void> {}
}

defineCalls(Guard, (name, row) => guardedCall(name, row));
const CLOCK = new SystemClock();

boundCalls(Guard, { clockOf: () => CLOCK, except: ["add"] });

function isMissing(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "QUEUE_NOT_FOUND";
}

function isEmpty(options: QueueOptions): boolean {
  return typeof options === "object" && options !== null && Object.keys(options).length === 0;
}
