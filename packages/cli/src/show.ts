/** How figures, times and tables look on a terminal. */
import { oneLine } from "./visible.ts";

/** Rows under their titles. A column whose title begins with `>` is aligned to the right. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const isRight = columns.map((title) => title.startsWith(">"));
  const titles = columns.map((title) => title.replace(/^>/, ""));
  const widths = titles.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (isRight[i] ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd();
  return [line(titles), ...rows.map(line)].join("\n");
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** `1 job`, `1,500 jobs`. */
export { counted } from "@sluice/protocol";

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

/** `1.5 s`, `3 min`, `250 ms`. */
export function duration(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => Math.abs(ms) >= least) ?? [1, "ms"];
  const value = ms / size;
  return `${value < 10 && unit !== "ms" ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

/** In the time zone of the reader. */
export function time(ms: number): string {
  const date = new Date(ms);
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function key(fairnessKey: string | readonly string[]): string {
  const text = typeof fairnessKey === "string" ? fairnessKey : fairnessKey.join(" / ");
  return printable(text === "" ? "(none)" : text);
}

const LONG = 200;

/** A payload or an error on one line: what came from outside must not move the cursor. */
export function printable(text: string, max = LONG): string {
  const line = oneLine(text);
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** Two columns of names and values. */
export function facts(pairs: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n");
}
