import type { Broker } from "@sluice/protocol";
import { HISTORY_EVERY_MS, HISTORY_QUEUES_MAX } from "../limits.ts";
import { History } from "./history.ts";

/** The chore that takes a look at all queues now and then. Returns where it writes it down. */
export function keepHistory(ready: () => Broker, closing: AbortSignal): History {
  const history = new History();
  const timer = setInterval(() => {
    // While the log is read, or after it has failed, there is nothing to note.
    sample(ready, history).catch(() => undefined);
  }, HISTORY_EVERY_MS);
  timer.unref();
  closing.addEventListener("abort", () => clearInterval(timer), { once: true });
  return history;
}

async function sample(ready: () => Broker, history: History): Promise<void> {
  const broker = ready();
  const queues = (await broker.queues()).slice(0, HISTORY_QUEUES_MAX);
  const times = await broker.stats({ queues: queues.map(({ name }) => name) });
  history.record(Date.now(), queues, times.queues);
}
