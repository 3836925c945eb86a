import {
  type Broker,
  type DeleteQueueOptions,
  type FairnessKey,
  type GateConfig,
  type GateInfo,
  type GatesOptions,
  type GatesPage,
  type LaneStats,
  type LanesOptions,
  type OperationOptions,
  type Page,
  type QueueDeleted,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  type ScanOptions,
  SluiceError,
  type StoreEntry,
  type WorkerInfo,
} from "@sluice/protocol";
import { forbidden } from "./grant.ts";
import { GuardedJobs } from "./guard-jobs.ts";
import { limitedPolicy } from "./limited-policy.ts";
import type { Permit } from "./permit.ts";
import { CONFIG_STORE, isReserved } from "./stores.ts";

/** The calls about queues, gates and stores, each for those who may make it. */
export class GuardedPlace extends GuardedJobs {
  readonly #broker: Broker;
  readonly #permit: Permit;

  constructor(broker: Broker, permit: Permit) {
    super(broker, permit);
    this.#broker = broker;
    this.#permit = permit;
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    // Opening a queue that is there changes nothing.
    if (isEmpty(options) && !this.#permit.can("admin", queue)) return this.#openQueue(queue);
    this.#permit.enter("admin", queue);
    const dlq = options?.dlq;
    if (typeof dlq === "string" && dlq !== `${queue}.dlq` && !this.#permit.can("admin", dlq)) {
      throw forbidden("admin", dlq);
    }
    return this.#broker.setQueue(queue, limitedPolicy(this.#permit, queue, options));
  }

  /** A key without rights here needs `admin`: it does not learn whether the queue exists. */
  async #openQueue(queue: string): Promise<QueueInfo> {
    if (!this.#permit.sees(queue)) this.#permit.enter("admin", queue);
    this.#permit.enterAny(queue);
    return this.#broker.queue(queue).catch((error: unknown) => {
      const isMissing = error instanceof SluiceError && error.code === "QUEUE_NOT_FOUND";
      throw isMissing ? forbidden("admin", queue) : error;
    });
  }

  /** Its dead letters are in another queue: who deletes them must be allowed to do so there. */
  async deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    this.#permit.enter("admin", queue);
    if (options?.deadLetters === "delete") {
      const { dlq } = (await this.#broker.queue(queue)).config;
      if (dlq !== false) this.#permit.enter("admin", dlq);
    }
    return this.#permit.underOwnId(options, (own) => this.#broker.deleteQueue(queue, own));
  }

  async queue(queue: string): Promise<QueueInfo> {
    this.#permit.enterAny(queue);
    return this.#broker.queue(queue);
  }

  /** A page is filled with what the caller may see, however much of other callers lies between. */
  async queues(options: QueuesOptions = {}): Promise<Page<QueueInfo>> {
    this.#permit.enterValid();
    const items: QueueInfo[] = [];
    let page = await this.#broker.queues(options);
    const limit = options.limit ?? page.items.length;
    for (;;) {
      for (const [i, info] of page.items.entries()) {
        if (this.#permit.sees(info.name)) items.push(info);
        const isMore = i + 1 < page.items.length || page.cursor !== undefined;
        if (items.length === limit && isMore) return { items, cursor: info.name };
      }
      if (page.cursor === undefined) return { items };
      page = await this.#broker.queues({ ...options, cursor: page.cursor });
    }
  }

  async purge(queue: string, options?: OperationOptions): Promise<void> {
    this.#permit.enter("admin", queue);
    return this.#permit.underOwnId(options, (own) => this.#broker.purge(queue, own));
  }

  async redrive(queue: string, options?: RedriveOptions): Promise<number> {
    this.#permit.enter("admin", queue);
    return this.#permit.underOwnId(options, (own) => this.#broker.redrive(queue, own));
  }

  async lanes(queue: string, options?: LanesOptions): Promise<Page<LaneStats>> {
    this.#permit.enterAny(queue);
    return this.#broker.lanes(queue, options);
  }

  async setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    this.#permit.enter("admin", queue);
    return this.#broker.setLaneWeight(queue, key, weight);
  }

  async workers(queue: string): Promise<readonly WorkerInfo[]> {
    this.#permit.enterAny(queue);
    return this.#broker.workers(queue);
  }

  // Gates are shared by all queues: every key may read them, and changes need rights of their own.

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    this.#permit.enterGateLimits(String(key));
    return this.#broker.setGate(key, config);
  }

  async deleteGate(key: string): Promise<void> {
    this.#permit.enterGateLimits(String(key));
    return this.#broker.deleteGate(key);
  }

  async gate(key: string): Promise<GateInfo> {
    this.#permit.enterValid();
    return this.#seenLine(await this.#broker.gate(key));
  }

  async gates(options: GatesOptions = {}): Promise<GatesPage> {
    if (options.queue === undefined) this.#permit.enterValid();
    else this.#permit.enterAny(options.queue);
    const page = await this.#broker.gates(options);
    return { ...page, items: page.items.map((gate) => this.#seenLine(gate)) };
  }

  /** How many wait is no secret, whose they are may be. */
  #seenLine(gate: GateInfo): GateInfo {
    return { ...gate, line: gate.line.filter(({ queue }) => this.#permit.sees(queue)) };
  }

  async cooldown(key: string, ms: number, reason?: string): Promise<void> {
    this.#permit.enterGate("cool down", String(key));
    return this.#broker.cooldown(key, ms, reason);
  }

  async clearCooldown(key: string): Promise<void> {
    this.#permit.enterGate("end the cooldown of", String(key));
    return this.#broker.clearCooldown(key);
  }

  async reportGate(key: string, ok: boolean, options?: OperationOptions): Promise<void> {
    this.#permit.enterGate("report to", String(key));
    return this.#permit.underOwnId(options, (own) => this.#broker.reportGate(key, ok, own));
  }

  // A store is governed like a queue of its name, but for those of the server itself.

  async storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    this.#enterToRead(store);
    return this.#broker.storeGet(store, keys);
  }

  async storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>> {
    this.#enterToRead(store);
    return this.#broker.storeScan(store, options);
  }

  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options?: OperationOptions,
  ): Promise<void> {
    if (isReserved(store)) throw reserved(store);
    if (store === CONFIG_STORE) this.#permit.enterAll("admin");
    else this.#permit.enter("produce", store);
    return this.#permit.underOwnId(options, (own) => this.#broker.storeWrite(store, entries, own));
  }

  #enterToRead(store: string): void {
    if (isReserved(store)) throw reserved(store);
    if (store === CONFIG_STORE) this.#permit.enterValid();
    else this.#permit.enterAny(store);
  }
}

function isEmpty(options: QueueOptions): boolean {
  return typeof options === "object" && options !== null && Object.keys(options).length === 0;
}

function reserved(store: string): SluiceError {
  const details = { field: "store", value: store };
  return new SluiceError("FORBIDDEN", `store ${store} belongs to the server`, details);
}
