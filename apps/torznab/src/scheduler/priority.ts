/** How urgent a search is. The order of the names is the order of the queue's tiers. */
export const PRIORITIES = ["interactive", "rss", "completion", "background"] as const;

export type Priority = (typeof PRIORITIES)[number];

/** What of an indexer's base interval each priority waits for, most urgent first. */
export const INTERVAL_FACTORS = [0.1, 0.5, 0.7, 1] as const;

/** A person or a batch waits as long as it takes; feeds and sweeps come again anyway. */
const MAX_WAIT_MS: Readonly<Record<Priority, number>> = {
  interactive: Number.POSITIVE_INFINITY,
  rss: 15_000,
  completion: Number.POSITIVE_INFINITY,
  background: 60_000,
};

/**
 * How long a task would wait for its indexer's limits; undefined: as long as it takes. A `maxWait`
 * of 0 asks for the default of the priority, and without a priority there is no default.
 */
export function maxWaitOf(priority: Priority | undefined, maxWait = 0): number | undefined {
  const fallback = priority === undefined ? Number.POSITIVE_INFINITY : MAX_WAIT_MS[priority];
  const ms = maxWait === 0 ? fallback : maxWait;
  return ms === Number.POSITIVE_INFINITY ? undefined : ms;
}

export function isPriority(value: unknown): value is Priority {
  return (PRIORITIES as readonly unknown[]).includes(value);
}
