// Handlers of the server under load: one that notes how long its job waited, one that tells.

const waits: Record<string, number[]> = { preferred: [], other: [] };

export default {
  stamp: (args: unknown): void => {
    const { group, dueAt } = args as { group: string; dueAt: number };
    waits[group]!.push(Date.now() - dueAt);
  },
  tell: (): unknown => {
    const told = structuredClone(waits);
    for (const list of Object.values(waits)) list.length = 0;
    return Object.fromEntries(
      Object.entries(told).map(([group, list]) => [group, summaryOf(list)]),
    );
  },
};

function summaryOf(list: readonly number[]): { count: number; p50: number; p99: number } {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99) };
}
