/** The calls of the port that travel by their name. */
import type {
  Broker,
  BrokerStats,
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
  protected abstract call<T>(name: CallName, args: readonly unknown[]): Promise<T>;

  protected ask<T>(name: CallName, args: readonly unknown[]): Ask<T> {
    return {
      kind: KIND.call,
      write: (writer) => writeCall(writer, name, args),
      read: (reader) => readAnswer(reader, name) as T,
    };
  }

  /** Done twice it is not as if done once: it gets a name by which the broker knows it again. */
  protected once<T>(
    name: CallName,
    args: readonly unknown[],
    options: OperationOptions = {},
  ): Promise<T> {
    const { operationId = this.operationId() } = options;
    return this.call(name, [...args, { ...options, operationId }]);
  }

  protected abstract operationId(): string;

  async progress(items: readonly Progress[]): Promise<Outcome<true>[]> {
    return this.call("progress", [items]);
  }

  async cancel(ids: readonly string[]): Promise<Outcome<boolean>[]> {
    return this.call("cancel", [ids]);
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

  async job(id: string): Promise<JobInfo> {
    return this.call("job", [id]);
  }

  async why(id: string): Promise<Why> {
    return this.call("why", [id]);
  }

  async history(id: string): Promise<readonly HistoryEntry[]> {
    return this.call("history", [id]);
  }

  async jobs(queue: string, options?: JobsOptions): Promise<Page<JobInfo>> {
    return this.call("jobs", [queue, options]);
  }

  async queuesOf(ids: readonly string[]): Promise<(string | undefined)[]> {
    return this.call("queuesOf", [ids]);
  }

  async releaseGroups(groups: readonly string[]): Promise<void> {
    await this.call("releaseGroups", [groups]);
  }

  async stats(options?: StatsOptions): Promise<BrokerStats> {
    return this.call("stats", [options]);
  }

  async group(group: string): Promise<GroupInfo> {
    return this.call("group", [group]);
  }

  async setQueue(queue: string, options: QueueOptions): Promise<QueueInfo> {
    return this.call("setQueue", [queue, options]);
  }

  async deleteQueue(queue: string, options?: OperationOptions): Promise<void> {
    await this.once("deleteQueue", [queue], options);
  }

  async queue(queue: string): Promise<QueueInfo> {
    return this.call("queue", [queue]);
  }

  async queues(options?: QueuesOptions): Promise<Page<QueueInfo>> {
    return this.call("queues", options === undefined ? [] : [options]);
  }

  async purge(queue: string, options?: OperationOptions): Promise<void> {
    await this.once("purge", [queue], options);
  }

  async redrive(queue: string, options?: RedriveOptions): Promise<number> {
    return this.once("redrive", [queue], options);
  }

  async lanes(queue: string, options?: LanesOptions): Promise<Page<LaneStats>> {
    return this.call("lanes", [queue, options]);
  }

  async setLaneWeight(queue: string, key: FairnessKey, weight: number): Promise<void> {
    await this.call("setLaneWeight", [queue, key, weight]);
  }

  async workers(queue: string): Promise<readonly WorkerInfo[]> {
    return this.call("workers", [queue]);
  }

  async setGate(key: string, config: GateConfig): Promise<GateInfo> {
    return this.call("setGate", [key, config]);
  }

  async deleteGate(key: string): Promise<void> {
    await this.call("deleteGate", [key]);
  }

  async gate(key: string): Promise<GateInfo> {
    return this.call("gate", [key]);
  }

  async gates(options?: GatesOptions): Promise<GatesPage> {
    return this.call("gates", [options]);
  }

  async cooldown(key: string, ms: number, reason?: string): Promise<void> {
    await this.call("cooldown", [key, ms, reason]);
  }

  async clearCooldown(key: string): Promise<void> {
    await this.call("clearCooldown", [key]);
  }

  async reportGate(key: string, ok: boolean, options?: OperationOptions): Promise<void> {
    await this.once("reportGate", [key, ok], options);
  }

  async storeGet(store: string, keys: readonly string[]): Promise<(unknown | undefined)[]> {
    return this.call("storeGet", [store, keys]);
  }

  async storeWrite(
    store: string,
    entries: readonly StoreEntry[],
    options?: OperationOptions,
  ): Promise<void> {
    await this.once("storeWrite", [store, entries], options);
  }

  async storeScan(store: string, options?: ScanOptions): Promise<Page<StoreEntry>> {
    return this.call("storeScan", [store, options]);
  }

  /** What one partition of a cluster says to another: no part of the port, and refused to users. */
  async lend(request: object): Promise<object> {
    return this.call("lend", [request]);
  }
}
