// What every world answers, whatever it is a world of, and the sums over many of them.

export type Counts = Readonly<Record<string, number>>;

export interface WorldEnd {
  // What broke: the rule comes first.
  readonly failure: string | undefined;
  // Of one world. A count whose name ends with AT_MOST is the largest of all worlds, not their sum.
  readonly counts: Counts;
  // All that a reader needs of a failure: what led to it, and how to see it again.
  readonly report?: () => string;
}

export type RunWorld = (seed: number) => WorldEnd | Promise<WorldEnd>;

const AT_MOST = "at most";

export function sum(a: Counts, b: Counts): Counts {
  const all: Record<string, number> = { ...a };
  for (const [name, count] of Object.entries(b)) {
    const had = all[name] ?? 0;
    all[name] = name.endsWith(AT_MOST) ? Math.max(had, count) : had + count;
  }
  return all;
}

export function tell(counts: Counts): string {
  const parts = Object.entries(counts).map(([name, n]) => `${Number(n.toFixed(1))} ${name}`);
  return parts.join(", ");
}

// Seeds that are new every day and the same all day: what breaks in the morning breaks at noon.
const DAY_MS = 86_400_000;
const SEEDS_PER_DAY = 1_000_000;

export function seedOfDay(): number {
  return Math.floor(Date.now() / DAY_MS) * SEEDS_PER_DAY;
}
