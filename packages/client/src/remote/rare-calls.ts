/** The calls of the port that travel by their name. */
import type {
  Broker,
  BrokerStats,
  CallOptions,
  DeleteQueueOptions,
  FairnessKey,
  GateConfig,
  GateInfo,
  GatesOptions,
  GatesPage,
  GroupInfo,
  HistoryEntry,
  JobInfo,
  JobsOptions,
  LaneStats,
  LanesOptions,
  OperationOptions,
  Outcome,
  Page,
  Progress,
  QueueDeleted,
  QueueInfo,
  QueueOptions,
  QueuesOptions,
  RedriveOptions,
  ScanOptions,
  StatsOptions,
  StoreEntry,
  Why,
  WorkerInfo,
} from "@sluice/protocol";
import { type CallName, KIND, readAnswer, writeCall } from "@sluice/protocol/wire";
import type { Ask } from "./operations.ts";

type Rare = Pick<Broker, Exclude<CallName, "ended" | "groupEnded"> & keyof Broker>;

export abstract class RareCalls implements Rare {
  protected abstract call<T>(
    name: CallName,
    args: readonly unknown[],
    options?: OperationOptions,
  ): Promise<T>;

  protected ask<T>(name: CallName, args: readonly unknown[]): Ask<T> {
    return {
      name,
      kind: KIND.call,
      write: (writer) => writeCall(writer, name, args),
      read: (reader) => readAnswer(reader, name) as T,
    };
  }

  /** Calls that must not take effect twice get a name by which the broker recognises them. */
  protected once<T>(
    name: CallName,
    args: readonly unknown[],
    options: OperationOptions = {},
  ): Promise<T> {
    const { operationId = this.operationId() } = options;
    const named = { ...options, operationId };
    return this.call(name, [...args, told(named)], named);
  }

  protected abstract operationId(): string;

  async progress(items: readonly Progress[], options?: CallOptions): Promise<Outcome<true>[]> {
    return this.call("progress", [items], options);
  }

  async cancel(ids: readonly string[], options?: CallOptions): Promise<Outcome<boolean>[]> {
    return this.call("cancel", [ids], options);
  }

  async cancelByKey(
    queue: string,
    keys: readonly string[],
    options?: OperationOptions,
  ): Promise<Outcome<boolean>[]> {
    return this.once("cancelByKey", [queue, keys], options);
  }

  async retry(ids: readonly string[], options?: OperationOptions): Promise<Outcome<true>[]> {
    return this.once("retry", [ids], options);
  }

  async job(id: string, options?: CallOptions): Promise<JobInfo> {
    return this.call("job", [id], options);
  }

  async why(id: string, options?: CallOptions): Promise<Why> {
    return this.call("why", [id], options);
  }

  async history(id: string, options?: CallOptions): Promise<readonly HistoryEntry[]> {
    return this.call("history", [id], options);
  }

  async jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>> {
    return this.call("jobs", [queue, told(options)], options);
  }

  async queuesOf(ids: readonly string[], options?: CallOptions): Promise<(string | undefined)[]> {
    return this.call("queuesOf", [ids], options);
  }

  async releaseGroups(groups: readonly string[], options?: CallOptions): Promise<void> {
    await this.call("releaseGroups", [groups], options);
  }

  async stats(options?: StatsOptions): Promise<BrokerStats> {
    return this.call("stats", [told(options)], options);
  }

  async group(group: string, options?: CallOptions): Promise<GroupInfo> {
    return this.call("group", [group], options);
  }

  async setQueue(queue: string, options: QueueOptions, call?: CallOptions): Promise<QueueInfo> {
    return this.call("setQueue", [queue, options], call);
  }

  async deleteQueue(queue: string, options?: DeleteQueueOptions): Promise<QueueDeleted> {
    return this.once("deleteQueue", [queue], options);
  }

  async queue(queue: string, options?: CallOptions): Promise<QueueInfo> {
    return this.call("queue", [queue], options);
  }

  async queues(options?: QueuesOptions): Promise<Page<QueueInfo>> {
    const said = told(options);
    return this.call("queues", said === undefined ? [] : [said], options);
  }

  async purge(queue: string, options?: OperationOptions): Promise<void> {
    await this.once("purge", [queue], options);
  }

  async redrive(queue: string, options?: RedriveOptions): Promise<number> {
    return this.once("redrive", [queue], options);
  }

  async lanes(queue: string, options?: LanesOptions): Promise<Page<LaneStats>> {
    return this.call("lanes", [queue, told(options)], options);
  }

  async setLaneWeight(
    queue: string,
    key: FairnessKey,
    weight: number,
    options?: CallOptions,
  ): Promise<void> {
    await this.call("setLaneWeight", [queue, key, weight], options);
  }

  async workers(queue: string, options?: CallOptions): Promise<readonly WorkerInfo[]> {
    return this.call("workers", [queue], options);
  }

  async setGate(key: string, config: GateConfig, options?: CallOptions): Promise<GateInfo> {
    return this.call("setGate", [key, config], options);
  }

  async deleteGate(key: string, options?: CallOptions): Promise<void> {
    await this.call("deleteGate", [key], options);
  }

  async gate(key: string, options?: CallOptions): Promise<GateInfo> {
    return this.call("gate", [key], options);
  }

  async gates(options?: GatesOptions): Promise<GatesPage> {
    return this.call("gates", [told(options)], options);
  }

  async cooldown(key: string, ms: number, reason?: string, options?: CallOptions): Promise<void> {
    await this.call("cooldown", [key, ms, reason], options);
  }

  async clearCooldown(key: string, options?: CallOptions): Promise<void> {
    await this.call("clearCooldown", [key], options);
  }

  async reportGate(key: string, ok: boolean, options?: OperationOptions): Promise<void> {
    await this.once("reportGate", [key, ok], options);
  }

  async storeGet(
    store: string,
    keys: readonly string[],
    options?: CallOptions,
  ): Promise<(unknown | undefined)[]> {
    return this.call("storeGet", [store, keys], options);
  }

  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options?: OperationOptions,
  ): Promise<void> {
    await this.once("storeWrite", [store, entries], options);
  }

  async storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>> {
    return this.call("storeScan", [store, told(options)], options);
  }

  /** What one partition of a cluster says to another: no part of the port, and refused to users. */
  async lend(request: object): Promise<object> {
    return this.call("lend", [request]);
  }
}

/** What travels: how long the caller waits is its own matter. Undefined when nothing is left. */
function told<O extends CallOptions>(options: O | undefined): object | undefined {
  if (options === undefined) return undefined;
  const { signal: _signal, timeoutMs: _timeoutMs, ...rest } = options;
  return rest;
}
