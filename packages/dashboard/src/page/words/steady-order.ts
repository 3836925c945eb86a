/**
 * Rows that change every second in an order that does not: they keep their places until others are
 * among them, or until another of them needs attention. What one is about to click stays there.
 */
export interface Steady<T> {
  /** What the last order was made for. */
  readonly reason: string;
  readonly names: readonly string[];
  readonly rows: readonly T[];
}

export function steadyOrder<T extends { name: string }>(
  last: Steady<T> | undefined,
  rows: readonly T[],
  isMarked: (row: T) => boolean,
): Steady<T> {
  const names = rows.map(({ name }) => name);
  const marked = rows.filter(isMarked).map(({ name }) => name);
  const reason = JSON.stringify([[...names].sort(), marked.sort()]);
  if (last?.reason !== reason) return { reason, names, rows };
  const byName = new Map(rows.map((row) => [row.name, row]));
  return { reason, names: last.names, rows: last.names.map((name) => byName.get(name)!) };
}
