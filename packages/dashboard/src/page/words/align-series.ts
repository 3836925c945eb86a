/** Lines with times of their own, brought onto one row of times with gaps. */

type Line = readonly (readonly [timeMs: number, value: number])[];

export interface Aligned {
  times: number[];
  lines: (number | null)[][];
}

export function alignSeries(series: readonly Line[]): Aligned {
  const times = [...new Set(series.flatMap((line) => line.map(([at]) => at)))].sort(
    (a, b) => a - b,
  );
  const lines = series.map((line) => {
    const values = new Map(line);
    return times.map((at) => values.get(at) ?? null);
  });
  return { times, lines };
}
