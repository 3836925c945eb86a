import type { Broker, LookOptions } from "./port.ts";
import type { QueueInfo } from "./queue.ts";

/** Queues of one page when all are read: the most that a call answers. */
const PAGE = 1000;

/** All queues, read page by page, so that no single call looks at more than a page of them. */
export async function allQueues(
  broker: Pick<Broker, "queues">,
  options: LookOptions = {},
): Promise<QueueInfo[]> {
  const queues: QueueInfo[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page = await broker.queues({ ...options, limit: PAGE, ...after });
    for (const queue of page.items) queues.push(queue);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return queues;
}
