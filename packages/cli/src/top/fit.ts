/** A table with as many of its columns as there is room for. */
import { table } from "../show.ts";

/** `keep`: those with the smallest go first when the terminal is narrow; absent: it stays. */
export interface Column {
  readonly title: string;
  readonly keep?: number;
}

export function fitted(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const order = columns.flatMap(({ keep }, i) => (keep === undefined ? [] : [{ keep, i }]));
  order.sort((a, b) => a.keep - b.keep);
  const gone = new Set<number>();
  for (;;) {
    const isShown = (_: unknown, i: number): boolean => !gone.has(i);
    const titles = columns.filter(isShown).map(({ title }) => title);
    const text = table(
      titles,
      rows.map((row) => row.filter(isShown)),
    );
    const isWide = text.split("\n").some((line) => [...line].length > width);
    const first = order.shift();
    if (!isWide || first === undefined) return text;
    gone.add(first.i);
  }
}
