import { allQueues, type Broker, type Clock, SystemClock, type Timer } from "@sluice/protocol";
import { HISTORY_EVERY_MS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { QueueHistories } from "./queue-histories.ts";

/** The chore that samples all queues at intervals. Answers where it writes the samples down. */
export function keepHistory(
  ready: () => Broker,
  closing: AbortSignal,
  clock: Clock = new SystemClock(),
): QueueHistories {
  const history = new QueueHistories();
  let timer: Timer;
  // The next sample is set when the last is taken: one that waits for a partition delays the next.
  const sampleAt = (time: number): void => {
    timer = clock.at(time, async () => {
      // While the log is read, or after it has failed, there is nothing to note.
      await sample(ready, history, clock).catch(() => undefined);
      if (!closing.aborted) sampleAt(Math.max(time + HISTORY_EVERY_MS, clock.now()));
    });
    timer.unref?.();
  };
  closing.addEventListener("abort", () => timer.cancel(), { once: true });
  sampleAt(clock.now() + HISTORY_EVERY_MS);
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
