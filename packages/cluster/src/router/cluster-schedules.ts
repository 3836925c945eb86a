/**
 * Schedules. A tick and its job are one fact, so a schedule is in the partition that its jobs go
 * to: that of its queue and, where the queue is spread, of its fairness key.
 */
import {
  type Page,
  type ScheduleInfo,
  type ScheduleOptions,
  type SchedulesOptions,
  toSluiceError,
} from "@sluice/protocol";
import { PAGE } from "../limits.ts";
import type { PartitionCalls } from "./partition-calls.ts";
import { slotOf } from "./routed-adds.ts";

export class ClusterSchedules {
  readonly #calls: PartitionCalls;

  constructor(calls: PartitionCalls) {
    this.#calls = calls;
  }

  /** Another fairness key may be at home elsewhere: there must not be two of one name. */
  async setSchedule(queue: string, name: string, options: ScheduleOptions): Promise<ScheduleInfo> {
    this.#calls.check();
    const placement = this.#calls.directory.placementOf(queue);
    const fairnessKey = options?.options?.fairnessKey ?? name;
    const adds = this.#calls.directory.addsTo(queue);
    const home = adds[slotOf({ fairnessKey }, adds.length)]!;
    for (const partition of placement) {
      if (partition !== home) await this.#remove(partition, queue, name);
    }
    return this.#calls.ask(home, (port) => port.setSchedule(queue, name, options));
  }

  async #remove(partition: number, queue: string, name: string): Promise<void> {
    try {
      await this.#calls.ask(partition, (port) => port.deleteSchedule(queue, name));
    } catch (error) {
      if (!["SCHEDULE_NOT_FOUND", "QUEUE_NOT_FOUND"].includes(toSluiceError(error).code))
        throw error;
    }
  }

  /** Those first of all are among the first of their partitions. */
  async schedules(options: SchedulesOptions = {}): Promise<Page<ScheduleInfo>> {
    const { limit = PAGE } = options;
    const { all } = this.#calls;
    const pages = await this.#calls.known(all, [], (port) => port.schedules({ ...options, limit }));
    const found = pages.flatMap(({ value }) => value.items);
    found.sort((a, b) => (cursorOf(a) < cursorOf(b) ? -1 : 1));
    const items = found.slice(0, limit);
    const isMore = found.length > limit || pages.some(({ value }) => value.cursor !== undefined);
    const last = items.at(-1);
    return isMore && last !== undefined ? { items, cursor: cursorOf(last) } : { items };
  }
}

/** In the order of a partition. */
function cursorOf({ queue, name }: ScheduleInfo): string {
  return `${queue}/${name}`;
}
