import { allQueues, type Broker, type Clock } from "@sluice/protocol";
import { every } from "../every.ts";
import { HISTORY_EVERY_MS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { QueueHistories } from "./queue-histories.ts";

/** The chore that samples all queues at intervals. Answers where it writes the samples down. */
export function keepHistory(
  ready: () => Broker,
  clock: Clock,
  closing: AbortSignal,
): QueueHistories {
  const history = new QueueHistories();
  // While the log is read, or after it has failed, there is nothing to note.
  const look = (): Promise<void> => sample(ready, history, clock).catch(() => undefined);
  closing.addEventListener("abort", every(clock, HISTORY_EVERY_MS, look), { once: true });
  return history;
}

async function sample(ready: () => Broker, history: QueueHistories, clock: Clock): Promise<void> {
  const broker = ready();
  // A partition that moves is back in a moment: only one that stays away is done without.
  const all = await allQueues(broker).catch(() => allQueues(broker, { partial: true }));
  const queues = all.slice(0, HISTORY_QUEUES_MAX);
  const times = await broker.stats({ queues: queues.map(({ name }) => name) });
  history.record(clock.now(), queues, times.queues, times.missing);
}
