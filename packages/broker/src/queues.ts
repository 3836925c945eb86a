import type { Engine, GatePlace } from "@sluice/engine";
import {
  type FairnessKey,
  type GateConfig,
  type GateInfo,
  type GateSort,
  type GatesOptions,
  type GatesPage,
  type OperationOptions,
  type Page,
  type QueueConfig,
  type QueueInfo,
  type QueueOptions,
  type QueuesOptions,
  type RedriveOptions,
  type ScanOptions,
  SluiceError,
  type StoreEntry,
  type WorkerInfo,
} from "@sluice/protocol";
import { checkInteger } from "./jobs.ts";
import type { LendAnswer, LendRequest } from "./lending/port.ts";
import { PAGE_MAX, STORE_VALUE_BYTES_MAX } from "./limits.ts";
import { checkBatch } from "./operations.ts";
import { invalid } from "./refuse.ts";
import type { Runtime } from "./runtime.ts";

/** The calls of those who run the place: queues, gates, stores. */
export class Office {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    const { policies } = this.#runtime;
    this.#runtime.check();
    const own = withoutSpread(options);
    const policy = own?.policy;
    const checked =
      policy === undefined || policy === null
        ? own
        : { ...own, policy: await policies.check(queue, policy) };
    await this.#runtime.change((engine, now) => {
      this.#checkRoom(queue, engine);
      return engine.setQueue(queue, checked, now);
    });
    return this.queue(queue);
  }

  /** Dead letter queues that the engine makes by itself are counted, and never refused. */
  #checkRoom(queue: string, engine: Engine): void {
    const { queuesMax } = this.#runtime.options;
    const names = engine.queueNames();
    if (names.length < queuesMax || names.includes(queue)) return;
    const message =
      `queue ${queue} was not made: there are ${names.length} queues, and queuesMax is ` +
      `${queuesMax}. Delete some, or raise queuesMax`;
    throw new SluiceError("LIMIT_REACHED", message, { field: "queue", value: queue });
  }

  async deleteQueue(queue: string, options: OperationOptions): Promise<void> {
    await this.#runtime.changeOnce(`deleteQueue ${queue}`, options, (engine, now) => {
      engine.queueConfig(queue);
      this.#runtime.ends.queueGone(queue, now);
      engine.deleteQueue(queue, now);
      this.#runtime.consumers.queueGone(queue);
      this.#runtime.policies.forget(queue);
    });
  }

  async queue(queue: string): Promise<QueueInfo> {
    return this.#runtime.call((engine) => ({
      name: queue,
      config: engine.queueConfig(queue) as QueueConfig,
      stats: engine.queueStats(queue),
    }));
  }

  async queues({ limit = 100, cursor = "" }: QueuesOptions): Promise<Page<QueueInfo>> {
    checkInteger("limit", limit, 1, PAGE_MAX);
    if (typeof cursor !== "string") throw invalid("cursor", "that of the last page", cursor);
    const names = this.#runtime.call((engine) => engine.queueNames()).sort();
    const from = names.findIndex((name) => name > cursor);
    const page = from === -1 ? [] : names.slice(from, from + limit);
    const items = await Promise.all(page.map((name) => this.queue(name)));
    const isLast = from === -1 || from + limit >= names.length;
    return isLast ? { items } : { items, cursor: page.at(-1)! };
  }

  purge(queue: string, options: OperationOptions): Promise<void> {
    return this.#runtime.changeOnce(`purge ${queue}`, options, (engine, now) =>
      engine.purge(queue, now),
    );
  }

  /** The engine puts back a bounded number at once; under each number it is one operation. */
  async redrive(queue: string, options: RedriveOptions): Promise<number> {
    const { count = Number.POSITIVE_INFINITY, operationId } = options;
    let moved = 0;
    for (let part = 0; ; part++) {
      const left = count - moved;
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${part}` };
      const some = await this.#runtime.changeOnce(
        `redrive ${queue}`,
        named,
        (engine, now) => engine.redrive(queue, { count: left }, now),
        count,
      );
      moved += some;
      if (some === 0 || moved >= count) return moved;
    }
  }

  setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    return this.#runtime.change((engine, now) => engine.setLaneWeight(queue, key, weight, now));
  }

  async workers(queue: string): Promise<readonly WorkerInfo[]> {
    const workers = this.#runtime.call((engine) => engine.workers(queue));
    return workers.map((worker) => ({ ...worker, queue }));
  }

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    await this.#runtime.change((engine, now) => engine.setGate(key, withFrom(config), now));
    return this.gate(key);
  }

  deleteGate(key: string): Promise<void> {
    return this.#runtime.change((engine, now) => engine.deleteGate(key, now));
  }

  async gate(key: string): Promise<GateInfo> {
    return this.#runtime.call((engine, now) =>
      key.endsWith("*")
        ? patternInfo(key, engine.gateConfig(key))
        : { ...engine.gateStats(key, now), line: engine.gateLine(key) },
    );
  }

  async gates(options: GatesOptions): Promise<GatesPage> {
    const { limit = 100, search = "", sort = "key", queue, cursor, configured } = options;
    checkInteger("limit", limit, 1, PAGE_MAX);
    if (typeof search !== "string") throw invalid("search", "a text", search);
    if (!SORTS.includes(sort)) throw invalid("sort", `one of ${SORTS.join(", ")}`, sort);
    const after = parsePlace(cursor);
    const { keys, total, next } = this.#runtime.call((engine, now) =>
      engine.listGates(
        { search, sort, queue, isConfigured: configured === true, limit, after },
        now,
      ),
    );
    const items = await Promise.all(keys.map((key) => this.gate(key)));
    return next === undefined
      ? { items, total }
      : { items, total, cursor: `${next.value},${next.key}` };
  }

  cooldown(key: string, ms: number, reason = ""): Promise<void> {
    return this.#runtime.change((engine, now) => engine.cooldown(key, ms, reason, now));
  }

  clearCooldown(key: string): Promise<void> {
    return this.#runtime.change((engine, now) => engine.clearCooldown(key, now));
  }

  reportGate(key: string, ok: boolean, options: OperationOptions): Promise<void> {
    return this.#runtime.changeOnce(
      `reportGate ${key}`,
      options,
      (engine, now) => engine.reportGate(key, ok, now),
      ok,
    );
  }

  async lend(request: LendRequest): Promise<LendAnswer> {
    this.#runtime.check();
    const { sharing } = this.#runtime;
    if (sharing === undefined) throw new SluiceError("INVALID", "this broker shares no gates");
    return sharing.lender.lend(request);
  }

  async storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    checkBatch("keys", keys);
    return this.#runtime.call((engine) =>
      keys.map((key) => structuredClone(engine.storeGet(store, key))),
    );
  }

  /** All values are checked before the first is written, and the facts go into one commit. */
  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options: OperationOptions,
  ): Promise<void> {
    checkBatch("entries", entries);
    const checked = entries.map(({ key, value }) => ({ key, value: plainValue(key, value) }));
    await this.#runtime.changeOnce(
      `storeWrite ${store}`,
      options,
      (engine, now) => {
        for (const { key } of checked) engine.checkStoreKey(store, key);
        for (const { key, value } of checked) {
          if (value === undefined) engine.storeDelete(store, key, now);
          else engine.storePut(store, key, value, now);
        }
      },
      checked,
    );
  }

  async storeScan(
    store: string,
    { prefix = "", limit = 100, cursor = "" }: ScanOptions,
  ): Promise<Page<StoreEntry>> {
    checkInteger("limit", limit, 1, PAGE_MAX);
    const found = this.#runtime.call((engine) =>
      engine.storeScan(store, { prefix, after: cursor, limit }),
    );
    const items = found.map(([key, value]) => ({ key, value: structuredClone(value) }));
    const last = items.at(-1);
    return items.length < limit || last === undefined ? { items } : { items, cursor: last.key };
  }
}

/** One broker is one partition: more of them need a cluster. */
function withoutSpread(options: QueueOptions): Omit<QueueOptions, "spread"> {
  if (options?.spread === undefined) return options;
  const { spread, ...rest } = options;
  if (spread === 1) return rest;
  throw invalid("queue.spread", "1 outside of a cluster", spread);
}

/** A copy of what JSON makes of a value: nobody can change it afterwards. */
function plainValue(key: string, value: unknown): unknown {
  if (value === undefined) return undefined;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) throw invalid(`value of ${key}`, "something that JSON can carry", value);
  if (text.length > STORE_VALUE_BYTES_MAX) {
    throw invalid(`value of ${key}`, `at most ${STORE_VALUE_BYTES_MAX} bytes of JSON`, text.length);
  }
  return JSON.parse(text);
}

function withFrom(config: GateConfig): Parameters<Runtime["engine"]["setGate"]>[1] {
  const { interval, ...rest } = config;
  if (interval === undefined || interval === null) return rest;
  return { ...rest, interval: { ...interval, from: interval.from ?? "end" } };
}

/** A pattern has no level of its own: its gates have. */
const SORTS: readonly string[] = ["key", "waiting"] satisfies readonly GateSort[];

function parsePlace(cursor: string | undefined): GatePlace | undefined {
  if (cursor === undefined) return undefined;
  const [, value, key] = /^(\d+),(.+)$/.exec(String(cursor)) ?? [];
  if (key !== undefined) return { value: Number(value), key };
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}

function patternInfo(key: string, config: GateConfig | undefined): GateInfo {
  return {
    key,
    config,
    pattern: undefined,
    tokens: undefined,
    windows: [],
    inFlight: 0,
    ladderStep: 0,
    cooldown: undefined,
    opensAt: undefined,
    opensAtByTier: [],
    part: undefined,
    waitingLanes: 0,
    line: [],
  };
}
