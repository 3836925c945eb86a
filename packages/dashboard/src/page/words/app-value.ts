/** Values of an app's page: as text, in order, and as addresses that a link may have. */
import type { AppValue } from "@sluice/protocol";
import { bytes, count, fullTime } from "./format.ts";
import { visible } from "./visible.ts";

export function textOf(value: AppValue): string {
  if (typeof value === "string") return visible(value);
  if (typeof value === "number") return Number.isInteger(value) ? count(value) : String(value);
  if ("at" in value) return fullTime(value.at);
  if ("bytes" in value) return bytes(value.bytes);
  if ("limit" in value) return `${count(value.used)} of ${count(value.limit)} used`;
  return visible(value.text);
}

/** What a column is sorted by: figures by their size, all else by its text. */
function keyOf(value: AppValue): number | string {
  if (typeof value === "number") return value;
  if (typeof value === "string") return value.toLowerCase();
  if ("at" in value) return value.at;
  if ("bytes" in value) return value.bytes;
  if ("limit" in value) return value.used / Math.max(1, value.limit);
  return value.text.toLowerCase();
}

export interface Order {
  readonly column: number;
  readonly isDown: boolean;
}

/** Places of the rows that are shown, in their order. Rows without a value are last. */
export function arranged(
  rows: readonly (readonly AppValue[])[],
  filter: string,
  order: Order | undefined,
): number[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const places = rows.flatMap((row, place) => {
    const text = words.length === 0 ? "" : row.map(textOf).join(" ").toLowerCase();
    return words.every((word) => text.includes(word)) ? [place] : [];
  });
  if (order === undefined) return places;
  const { column, isDown } = order;
  const sign = isDown ? -1 : 1;
  return places.sort((a, b) => {
    const [one, other] = [rows[a]?.[column] ?? "", rows[b]?.[column] ?? ""];
    if (one === "" || other === "") return Number(one === "") - Number(other === "");
    return sign * compared(keyOf(one), keyOf(other));
  });
}

function compared(one: number | string, other: number | string): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}

/** Undefined for what could run as a script or lead to another place than it seems. */
export function safeHref(href: string): string | undefined {
  const isBelow = /^[\w-][\w./?=&%~+,-]*$/.test(href) && !href.includes("..");
  return isBelow || /^(https?:\/\/|magnet:\?)/i.test(href) ? href : undefined;
}
