import type { Engine, GatePlace } from "@sluice/engine";
import {
  type DeleteQueueOptions,
  type FairnessKey,
  type GateConfig,
  type GateInfo,
  type GateSort,
  type GatesOptions,
  type GatesPage,
  type OperationOptions,
  type Page,
  type QueueConfig,
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
import { parseId } from "./job-ids.ts";
import { checkInteger } from "./jobs.ts";
import type { LendAnswer, LendRequest } from "./lending/port.ts";
import { PAGE_MAX, REDRIVE_SLICE, STORE_VALUE_BYTES_MAX } from "./limits.ts";
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

  async deleteQueue(queue: string, options: DeleteQueueOptions): Promise<QueueDeleted> {
    const { deadLetters = "keep" } = options;
    if (deadLetters !== "keep" && deadLetters !== "delete") {
      throw invalid("deadLetters", '"keep" or "delete"', deadLetters);
    }
    const isDeleting = deadLetters === "delete";
    const before = isDeleting ? await this.#deleteLetters(queue, options) : 0;
    const call = `deleteQueue ${queue} ${deadLetters}`;
    return this.#runtime.changeOnce(call, options, (engine, now) => {
      engine.queueConfig(queue);
      // Those that died since the last step.
      const late = isDeleting ? engine.deleteLetters(queue, now) : 0;
      this.#runtime.ends.queueGone(queue, now);
      const { kept, deleted } = engine.deleteQueue(queue, now);
      this.#runtime.consumers.queueGone(queue);
      this.#runtime.policies.forget(queue);
      return { lettersKept: kept, lettersDeleted: before + late + deleted };
    });
  }

  #deleteLetters(queue: string, options: OperationOptions): Promise<number> {
    return this.#inParts(`deleteLetters ${queue}`, options, (engine, now) =>
      engine.deleteLetters(queue, now),
    );
  }

  /** Repeats a bounded step until it does nothing more; under each number it is one operation. */
  async #inParts(
    call: string,
    { operationId }: OperationOptions,
    step: (engine: Engine, now: number, done: number) => number,
    most = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    let done = 0;
    for (let part = 0; ; part++) {
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${part}` };
      const some = await this.#runtime.changeOnce(
        call,
        named,
        (engine, now) => step(engine, now, done),
        most,
      );
      done += some;
      if (some === 0 || done >= most) return done;
    }
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

  async redrive(queue: string, options: RedriveOptions): Promise<number> {
    const { count = Number.POSITIVE_INFINITY, ids } = options;
    if (ids !== undefined) return this.#redriveByIds(queue, ids, options);
    return this.#inParts(
      `redrive ${queue}`,
      options,
      (engine, now, done) => engine.redrive(queue, { count: count - done }, now),
      count,
    );
  }

  async #redriveByIds(
    queue: string,
    ids: readonly string[],
    { count, operationId }: RedriveOptions,
  ): Promise<number> {
    if (count !== undefined) throw invalid("count", "absent when ids are given", count);
    checkBatch("ids", ids);
    let moved = 0;
    // Also once without any, so that a queue that is no dead letter queue is refused.
    for (let from = 0; from === 0 || from < ids.length; from += REDRIVE_SLICE) {
      const some = ids.slice(from, from + REDRIVE_SLICE);
      const slice = some.flatMap(numberOf);
      const named = operationId === undefined ? {} : { operationId: `${operationId}.${from}` };
      moved += await this.#runtime.changeOnce(
        `redrive ${queue}`,
        named,
        (engine, now) => engine.redrive(queue, { ids: slice }, now),
        some,
      );
    }
    return moved;
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

/** What is no id names no letter. */
function numberOf(id: string): number[] {
  try {
    return [parseId(id)];
  } catch {
    return [];
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
