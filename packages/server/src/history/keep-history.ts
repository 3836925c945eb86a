import { allQueues, type Broker, type Clock, type QueueHistory } from "@sluice/protocol";
import { every } from "../every.ts";
import { HISTORY_EVERY_MS, HISTORY_QUEUES_MAX, HISTORY_RANGES } from "../limits.ts";
import { QueueHistories } from "./queue-histories.ts";
import { StoredHistory } from "./stored-history.ts";

export const RANGES = ["30m", "6h", "24h"] as const;
export type Range = (typeof RANGES)[number];

/** The last half hour in memory, and longer ranges that are stored. */
export class History {
  readonly recent = new QueueHistories();
  readonly ranges: Readonly<Record<keyof typeof HISTORY_RANGES, StoredHistory>> = {
    "6h": new StoredHistory("6h", HISTORY_RANGES["6h"]),
    "24h": new StoredHistory("24h", HISTORY_RANGES["24h"]),
  };

  of(queue: string, range: Range = "30m"): QueueHistory {
    return range === "30m" ? this.recent.of(queue) : this.ranges[range].histories.of(queue);
  }
}

/** The chore that samples all queues at intervals. Answers where it writes the samples down. */
export function keepHistory(ready: () => Broker, clock: Clock, closing: AbortSignal): History {
  const history = new History();
  // While the log is read, or after it has failed, there is nothing to note.
  const look = (): Promise<void> => sample(ready, history, clock).catch(() => undefined);
  closing.addEventListener("abort", every(clock, HISTORY_EVERY_MS, look), { once: true });
  return history;
}

async function sample(ready: () => Broker, history: History, clock: Clock): Promise<void> {
  const broker = ready();
  // A partition that moves is back in a moment: only one that stays away is done without.
  const all = await allQueues(broker).catch(() => allQueues(broker, { partial: true }));
  const queues = all.slice(0, HISTORY_QUEUES_MAX);
  const { queues: times, missing } = await broker.stats({ queues: queues.map(({ name }) => name) });
  const now = clock.now();
  history.recent.record(now, queues, times, missing);
  for (const range of Object.values(history.ranges)) {
    await range.note(broker, now, queues, times, missing);
  }
}
