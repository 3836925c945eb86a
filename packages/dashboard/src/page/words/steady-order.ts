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

export function steadyOrder<T>(
  last: Steady<T> | undefined,
  rows: readonly T[],
  nameOf: (row: T) => string,
  isMarked: (row: T) => boolean = () => false,
): Steady<T> {
  const names = rows.map(nameOf);
  const marked = rows.filter(isMarked).map(nameOf);
  const reason = JSON.stringify([[...names].sort(), marked.sort()]);
  if (last?.reason !== reason) return { reason, names, rows };
  const byName = new Map(rows.map((row) => [nameOf(row), row]));
  return { reason, names: last.names, rows: last.names.map((name) => byName.get(name)!) };
}
