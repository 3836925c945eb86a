/** Actions on many jobs, which each partition does with its own. */
import {
  type BulkAction,
  type BulkInfo,
  type BulkOptions,
  invalid,
  type JobFilter,
  SluiceError,
} from "@sluice/protocol";
import type { PartitionCalls } from "./partition-calls.ts";

const NOT_FOUND = ["NOT_FOUND"] as const;

export class ClusterBulks {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /** All partitions get the same operation id, and so have one name for the action. */
  async startBulk(action: BulkAction, filter: JobFilter, options: BulkOptions): Promise<BulkInfo> {
    const { all, directory } = this.#calls;
    const { to } = options;
    if (to !== undefined && directory.placementOf(to).length < all.length) {
      await this.#calls.ask(directory.placementOf(to)[0]!, (port) => port.queue(to));
      const wanted = `a queue that is spread over all ${all.length} partitions: jobs do not change partition`;
      throw invalid("to", wanted, to);
    }
    // The first one judges what was asked for: what is refused has started nowhere.
    const at = (partition: number): Promise<BulkInfo> =>
      this.#calls.make(partition, (port) => port.startBulk(action, filter, options));
    const begin = await at(all[0]!);
    const others = await Promise.all(all.slice(1).map(at));
    return merged([begin, ...others], filter);
  }

  async bulk(id: string): Promise<BulkInfo> {
    const known = await this.#calls.known(this.#calls.all, NOT_FOUND, (port) => port.bulk(id));
    return merged(known.map(({ value }) => value));
  }

  async stopBulk(id: string): Promise<BulkInfo> {
    const known = await this.#calls.known(this.#calls.all, NOT_FOUND, (port) => port.stopBulk(id));
    return merged(known.map(({ value }) => value));
  }

  async bulks(): Promise<readonly BulkInfo[]> {
    const lists = await this.#calls.known(this.#calls.all, [], (port) => port.bulks());
    const byId = Map.groupBy(
      lists.flatMap(({ value }) => value),
      ({ id }) => id,
    );
    const all = Array.from(byId.values(), (parts) => merged(parts));
    return all.sort((a, b) => b.startedAt - a.startedAt);
  }
}

/** One action, by what its partitions tell. `filter` is as it was asked for. */
function merged(parts: readonly BulkInfo[], asked?: JobFilter): BulkInfo {
  const [first] = parts;
  if (first === undefined) throw new SluiceError("NOT_FOUND", "there is no such bulk action");
  const sum = (of: (part: BulkInfo) => number): number =>
    parts.reduce((all, part) => all + of(part), 0);
  const isCounted = parts.every(({ matched }) => matched !== undefined);
  const isOver = parts.every(({ endedAt }) => endedAt !== undefined);
  const { matched: _, endedAt: __, ...rest } = first;
  const refusal = parts.find((part) => part.refusal !== undefined)?.refusal;
  const ids = asked?.ids;
  return {
    ...rest,
    filter: ids === undefined ? first.filter : { ...first.filter, ids },
    state: parts.find(({ state }) => state === "running")?.state ?? first.state,
    ...(isCounted ? { matched: sum(({ matched }) => matched ?? 0) } : {}),
    done: sum(({ done }) => done),
    refused: sum(({ refused }) => refused),
    ...(refusal === undefined ? {} : { refusal }),
    startedAt: Math.min(...parts.map(({ startedAt }) => startedAt)),
    ...(isOver ? { endedAt: Math.max(...parts.map(({ endedAt }) => endedAt!)) } : {}),
  };
}
