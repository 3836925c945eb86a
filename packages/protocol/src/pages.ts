import type { Broker, LookOptions } from "./port.ts";
import type { Page, QueueInfo, WorkerInfo } from "./queue.ts";

/** Items of one page when all are read: the most that a call answers. */
const PAGE = 1000;

/** Where a page begins; empty for the first. */
export interface PageStart {
  cursor?: string;
}

/** Walks through a list page by page; requests the next page when the last one is used up. */
export async function* walkPages<T>(
  ask: (from: PageStart) => Promise<Page<T>>,
): AsyncGenerator<T, undefined> {
  for (let from: PageStart | undefined = {}; from !== undefined; ) {
    const { items, cursor }: Page<T> = await ask(from);
    yield* items;
    from = cursor === undefined ? undefined : { cursor };
  }
}

/** All queues, read page by page, so that no single call looks at more than a page of them. */
export function allQueues(
  broker: Pick<Broker, "queues">,
  options: LookOptions = {},
): Promise<QueueInfo[]> {
  const ask = (from: PageStart) => broker.queues({ ...options, limit: PAGE, ...from });
  return Array.fromAsync(walkPages(ask));
}

export interface AllWorkersOptions extends LookOptions {
  /** Part of the name of the worker or of its queue, whatever its case. */
  search?: string;
  /** Jobs listed for each, those first that it has held longest. */
  jobs?: number;
}

/** Workers of all queues, those first that hold most. Queues without any are not asked. */
export async function allWorkers(
  broker: Pick<Broker, "queues" | "workers">,
  { search = "", jobs, ...look }: AllWorkersOptions = {},
): Promise<WorkerInfo[]> {
  const part = search.toLowerCase();
  const found: WorkerInfo[] = [];
  for (const { name, stats } of await allQueues(broker, look)) {
    if (stats.running + stats.freeWorkers === 0) continue;
    for (const worker of await broker.workers(name, jobs === undefined ? {} : { jobs })) {
      if (`${worker.name}\n${name}`.toLowerCase().includes(part)) found.push(worker);
    }
  }
  return found.sort((a, b) => b.running - a.running || (a.name < b.name ? -1 : 1));
}
