/**
 * The Broker port with a check before every call. HTTP and the stream alike see a broker only
 * through it, so there is one place that decides who may do what; docs/operating.md has the table.
 * The check is made on each call, so a key that is revoked is refused at its next one. What the
 * audit log has entries of is noted here too, before the check.
 *
 * Which right a call needs is in its row. Written here are the calls that do more than ask for it.
 */
import {
  type Added,
  type AddFlowOptions,
  type AddOptions,
  type Broker,
  type BrokerEvent,
  type BrokerStats,
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  boundCalls,
  CALLS,
  type CallName,
  type CancelOptions,
  type ConsumeOptions,
  type Consumer,
  type CountOptions,
  callsOf,
  type DeleteQueueOptions,
  type Deliver,
  defineCalls,
  type EventFilter,
  type Failures,
  type FailuresOptions,
  type FindOptions,
  type FlowAdded,
  type FlowJob,
  type FoundJobs,
  type GateInfo,
  type GatesOptions,
  type GatesPage,
  type JobCounts,
  type JobFilter,
  type LeasedJob,
  type LeaseOptions,
  type Nack,
  type NewJob,
  type OperationOptions,
  type Outcome,
  type Page,
  type PageOptions,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type ScheduleInfo,
  type ScheduleOptions,
  type SchedulesOptions,
  SluiceError,
  type StatsOptions,
  type Suspension,
  SystemClock,
  type Why,
} from "@sluice/protocol";
import { type CallerAudit, notedCalls } from "../audit/noted-calls.ts";
import { forAllowed, noteForbidden } from "../batch.ts";
import { type RequestBucket, tooManyAdds } from "../request-bucket.ts";
import { forbidden, forbiddenGate } from "./grant.ts";
import { EITHER, guardedCall } from "./guarded-call.ts";
import { guardedConsumer, guardedLease } from "./guarded-leases.ts";
import { type Access, Permit, whileAllowed } from "./permit.ts";
import type { Principal } from "./principal.ts";
import {
  checkGroup,
  enterJob,
  forOwnJobs,
  hiddenJobs,
  limitedPolicy,
  refuseAfter,
  refuseGates,
  refuseGroup,
  seenQueues,
} from "./rights.ts";
import { SeenEvents, seenWhy } from "./seen.ts";

interface GuardOptions {
  /** Limits the jobs that all callers add together. */
  readonly adds?: RequestBucket | undefined;
  /** Absent: what the caller does is not noted. */
  readonly audit?: CallerAudit | undefined;
}

export function guard(broker: Broker, principal: Principal, options: GuardOptions = {}): Broker {
  return new Guard(broker, new Permit(principal), options);
}

type Own =
  | ("add" | "addFlow" | "cancel" | "nack" | "suspend" | "why" | "queuesOf" | "stats")
  | ("setQueue" | "deleteQueue" | "queues" | "gate" | "gates")
  | ("setSchedule" | "schedules" | "findJobs" | "countJobs" | "failures")
  | ("startBulk" | "bulk" | "bulks" | "stopBulk");

class Guard extends callsOf<Exclude<CallName, Own>>() implements Broker, Access {
  readonly broker: Broker;
  readonly permit: Permit;
  readonly audit: CallerAudit | undefined;
  readonly #adds: RequestBucket | undefined;

  constructor(broker: Broker, permit: Permit, { adds, audit }: GuardOptions) {
    super();
    this.broker = broker;
    this.permit = permit;
    this.audit = audit;
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
    // Few jobs wait for others, and adds are frequent.
    const hidden = waitForOthers(jobs) ? await hiddenJobs(this, jobs) : NONE_HIDDEN;
    const refuse = (job: NewJob): SluiceError | undefined =>
      refuseGroup(this.permit, queue, job) ??
      refuseGates(nameable, job) ??
      refuseAfter(hidden, job);
    // The broker refuses values that are no lists. Of most batches nothing is refused here.
    if (!Array.isArray(jobs) || !jobs.some(refuse)) return add(jobs);
    const refusals = jobs.map((job): Outcome<Added> | undefined => {
      const error = refuse(job);
      return error === undefined ? undefined : { error: error.toJSON() };
    });
    return forAllowed(jobs, refusals, add).catch(noteForbidden(refusals));
  }

  /** It needs the right on the queue of each of its jobs, and is refused as a whole. */
  async addFlow(
    queue: string,
    jobs: readonly FlowJob[],
    options: AddFlowOptions = {},
  ): Promise<FlowAdded> {
    this.permit.enter("produce", queue);
    const { flow } = options;
    if (flow !== undefined) checkGroup(this.permit, "produce", flow);
    if (Array.isArray(jobs)) {
      const hidden = await hiddenJobs(this, jobs);
      for (const job of jobs as readonly FlowJob[]) this.#checkFlowJob(job, hidden);
    }
    this.#takeAdds(jobs as readonly NewJob[]);
    return this.permit.underOwnId(options, (own) => this.broker.addFlow(queue, jobs, own));
  }

  /** The broker refuses what is no job. */
  #checkFlowJob(job: FlowJob, hidden: ReadonlySet<string>): void {
    const queue = job?.queue;
    if (typeof queue !== "string") return;
    this.permit.check("produce", queue);
    const own = job as NewJob;
    const error =
      refuseGroup(this.permit, queue, own) ??
      refuseGates(this.permit.nameable(queue), own) ??
      refuseAfter(hidden, own);
    if (error !== undefined) throw error;
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

  /** A step may wait for gates that the key's grants name. */
  async suspend(
    items: readonly Suspension[],
    options: OperationOptions = {},
  ): Promise<Outcome<boolean>[]> {
    const suspend = (allowed: readonly Suspension[]): Promise<Outcome<boolean>[]> =>
      this.permit.underOwnId(options, (own) => this.broker.suspend(allowed, own));
    return forOwnJobs(this, CALLS.suspend, items, (allowed) => {
      if (!Array.isArray(allowed)) return suspend(allowed);
      const refusals = allowed.map((item): Outcome<boolean> | undefined => {
        const gates: unknown = (item as Suspension | undefined)?.gates;
        const gate = Array.isArray(gates) && gates.find((one) => !this.permit.cools(String(one)));
        return typeof gate === "string"
          ? { error: forbiddenGate("wait for", gate).toJSON() }
          : undefined;
      });
      return forAllowed(allowed, refusals, suspend);
    });
  }

  /** What a job waits for may be in any queue. */
  async cancel(ids: readonly string[], options: CancelOptions = {}): Promise<Outcome<boolean>[]> {
    if (options.dependencies === true) this.permit.checkAll("produce");
    return forOwnJobs(this, CALLS.cancel, ids, (allowed) => this.broker.cancel(allowed, options));
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
    if (isPause(options) && !this.permit.can("admin", queue)) {
      return this.#pauseQueue(queue, options);
    }
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

  /** It makes no queue: that takes `admin`. */
  async #pauseQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    this.permit.enter("operate", queue);
    await this.broker.queue(queue);
    return this.broker.setQueue(queue, options);
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

  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    this.permit.enterValid();
    return seenPage(options, {
      read: (from) => this.broker.queues(from),
      isSeen: ({ name }) => this.permit.sees(name),
      cursorOf: ({ name }) => name,
    });
  }

  /** A schedule must add nothing that its key could not add. */
  async setSchedule(
    queue: string,
    schedule: string,
    options: ScheduleOptions,
  ): Promise<ScheduleInfo> {
    this.permit.enter("admin", queue);
    const job = options?.options as NewJob;
    const hidden = await hiddenJobs(this, [job]);
    const error =
      refuseGroup(this.permit, queue, job) ??
      refuseGates(this.permit.nameable(queue), job) ??
      refuseAfter(hidden, job);
    if (error !== undefined) throw error;
    return this.broker.setSchedule(queue, schedule, options);
  }

  async schedules(options: SchedulesOptions = {}): Promise<Page<ScheduleInfo>> {
    if (options.queue === undefined) this.permit.enterValid();
    else this.permit.enterAny(options.queue);
    return seenPage(options, {
      read: (from) => this.broker.schedules(from),
      isSeen: ({ queue }) => this.permit.sees(queue),
      cursorOf: ({ queue, name }) => `${queue}/${name}`,
    });
  }

  // A key finds the jobs of the queues that it may look at.

  async findJobs(options: FindOptions = {}): Promise<FoundJobs> {
    return this.broker.findJobs(this.#readable(options));
  }

  async countJobs(options: CountOptions = {}): Promise<JobCounts> {
    return this.broker.countJobs(this.#readable(options));
  }

  async failures(options: FailuresOptions = {}): Promise<Failures> {
    return this.broker.failures(this.#readable(options));
  }

  #readable<O extends { readonly queues?: readonly string[] | undefined }>(options: O): O {
    this.permit.enterValid();
    const queues = this.permit.within("view", options.queues);
    return queues === undefined ? options : { ...options, queues };
  }

  // An action on many jobs needs `operate` on all queues that its filter names. Without names it
  // covers the queues on which the key has it.

  async startBulk(
    action: BulkAction,
    filter: JobFilter,
    options: BulkOptions = {},
  ): Promise<BulkInfo> {
    this.permit.enterValid();
    const queues = this.permit.within("operate", filter?.queues);
    // It would be an action on nothing.
    if (queues?.length === 0) this.permit.checkAll("operate");
    if (typeof options.to === "string") this.permit.check("operate", options.to);
    const own = queues === undefined ? filter : { ...filter, queues };
    const by = this.permit.principal.id;
    return this.permit.underOwnId({ ...options, by }, (named) =>
      this.broker.startBulk(action, own, named),
    );
  }

  async bulk(id: string): Promise<BulkInfo> {
    this.permit.enterValid();
    return this.#ownBulk(await this.broker.bulk(id));
  }

  async bulks(): Promise<readonly BulkInfo[]> {
    this.permit.enterValid();
    const all = await this.broker.bulks();
    return all.filter((info) => this.#isOwnBulk(info));
  }

  async stopBulk(id: string): Promise<BulkInfo> {
    this.permit.enterValid();
    this.#ownBulk(await this.broker.bulk(id));
    return this.broker.stopBulk(id);
  }

  #isOwnBulk({ filter }: BulkInfo): boolean {
    return (
      this.permit.canAll("operate") || this.permit.coversAll("operate", filter.queues ?? ["*"])
    );
  }

  #ownBulk(info: BulkInfo): BulkInfo {
    if (this.#isOwnBulk(info)) return info;
    const message = `there is no bulk action ${JSON.stringify(info.id)}`;
    throw new SluiceError("NOT_FOUND", message, { field: "id", value: info.id });
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
    const { permit } = this;
    const queue = filter?.queue;
    // Of a queue that it may not see a reader would hear nothing, without a word of the reason.
    const check = (): void => {
      if (queue === undefined) permit.principal.grants();
      else permit.checkAny(queue);
    };
    permit.principal.charge();
    check();
    const events = this.broker.events(filter);
    return new SeenEvents(events, permit.principal, check, (event) => this.#isSeen(event));
  }

  #isSeen(event: BrokerEvent): boolean {
    // What was cut off the log concerns the operators of the server.
    if (event.event === "torn") return this.permit.canAll(["admin"]);
    // As `bulks`: it names another key, and tells how many jobs there are.
    if (event.event === "bulk") {
      return this.permit.canAll("operate") || event.by === this.permit.principal.id;
    }
    // Of a gate, and of a failed log, all may know.
    return !("queue" in event) || this.permit.sees(event.queue);
  }

  /** The broker is the server's, not the caller's. */
  async close(): Promise<void> {}
}

const NONE_HIDDEN: ReadonlySet<string> = new Set();

function waitForOthers(jobs: readonly NewJob[]): boolean {
  return Array.isArray(jobs) && jobs.some((job) => job?.after !== undefined);
}

defineCalls(Guard, (name, row) => guardedCall(name, row));
const CLOCK = new SystemClock();

boundCalls(Guard, { clockOf: () => CLOCK, except: ["add"] });
notedCalls(Guard, ({ audit }) => audit);

interface SeenPages<T, O> {
  readonly read: (options: O) => Promise<Page<T>>;
  readonly isSeen: (item: T) => boolean;
  /** The cursor of a page that ends with an item. */
  readonly cursorOf: (item: T) => string;
}

/** A page is filled with what the caller may see, however much of other callers lies between. */
async function seenPage<T, O extends PageOptions>(
  options: O,
  { read, isSeen, cursorOf }: SeenPages<T, O>,
): Promise<Page<T>> {
  const items: T[] = [];
  let page = await read(options);
  const limit = options.limit ?? page.items.length;
  for (;;) {
    for (const [i, item] of page.items.entries()) {
      if (isSeen(item)) items.push(item);
      const isMore = i + 1 < page.items.length || page.cursor !== undefined;
      if (items.length === limit && isMore) return { items, cursor: cursorOf(item) };
    }
    if (page.cursor === undefined) return { items };
    page = await read({ ...options, cursor: page.cursor });
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "QUEUE_NOT_FOUND";
}

function isPause(options: QueueOptions): boolean {
  if (typeof options !== "object" || options === null) return false;
  const names = Object.keys(options);
  return names.length === 1 && names[0] === "paused";
}

function isEmpty(options: QueueOptions): boolean {
  return typeof options === "object" && options !== null && Object.keys(options).length === 0;
}
