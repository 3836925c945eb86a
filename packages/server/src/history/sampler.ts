import { allQueues, type Broker } from "@sluice/protocol";
import { HISTORY_EVERY_MS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { History } from "./history.ts";

/** The chore that takes a look at all queues now and then. Returns where it writes it down. */
export function keepHistory(ready: () => Broker, closing: AbortSignal): History {
  const history = new History();
  let isSampling = false;
  const timer = setInterval(async () => {
    // One that waits for a partition is not overtaken by the next.
    if (isSampling) return;
    isSampling = true;
    // While the log is read, or after it has failed, there is nothing to note.
    await sample(ready, history).catch(() => undefined);
    isSampling = false;
  }, HISTORY_EVERY_MS);
  timer.unref();
  closing.addEventListener("abort", () => clearInterval(timer), { once: true });
  return history;
}

async function sample(ready: () => Broker, history: History): Promise<void> {
  const broker = ready();
  // A partition that moves is back in a moment: only one that stays away is done without.
  const all = await allQueues(broker).catch(() => allQueues(broker, { partial: true }));
  const queues = all.slice(0, HISTORY_QUEUES_MAX);
  const times = await broker.stats({ queues: queues.map(({ name }) => name) });
  history.record(Date.now(), queues, times.queues, times.missing);
}
