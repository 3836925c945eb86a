/**
 * Lists over several partitions. Without an order they are read one partition after the other; with
 * one, side by side. A cursor says where the next page begins, in each partition that is not read
 * to its end: which page of it, and how many items of that page were handed on already.
 */
import { checkInteger, invalid, PAGE_MAX, type Page, type PageOptions } from "@sluice/protocol";
import { PAGE } from "../limits.ts";

type Read<T> = (partition: number, options: PageOptions) => Promise<Page<T>>;

/** One partition after the other. */
export async function pageInTurn<T>(
  placement: readonly number[],
  { limit = PAGE, cursor }: PageOptions,
  read: Read<T>,
): Promise<Page<T>> {
  checkInteger("limit", limit, 1, PAGE_MAX);
  let [partition, from] = cursor === undefined ? [placement[0]!, ""] : placeOf(cursor, placement);
  const items: T[] = [];
  for (;;) {
    const left = limit - items.length;
    const page = await read(partition, { limit: left, ...(from === "" ? {} : { cursor: from }) });
    items.push(...page.items);
    if (page.cursor === undefined) {
      const next = placement[placement.indexOf(partition) + 1];
      if (next === undefined) return { items };
      [partition, from] = [next, ""];
    } else from = page.cursor;
    if (items.length >= limit) return { items, cursor: `${partition}~${from}` };
  }
}

function placeOf(cursor: unknown, placement: readonly number[]): [number, string] {
  const [, partition, from] = /^(\d+)~(.*)$/s.exec(String(cursor)) ?? [];
  if (partition === undefined || !placement.includes(Number(partition))) {
    throw invalid("cursor", "the cursor of an earlier answer", cursor);
  }
  return [Number(partition), from!];
}

interface Place {
  readonly partition: number;
  /** Of the page; absent: the first. */
  readonly cursor?: string;
  readonly told: number;
}

/** Side by side, the item first for which `value` is largest. */
export async function pageByValue<T>(
  placement: readonly number[],
  { limit = PAGE, cursor }: PageOptions,
  value: (item: T) => number,
  read: Read<T>,
): Promise<Page<T>> {
  checkInteger("limit", limit, 1, PAGE_MAX);
  const places =
    cursor === undefined
      ? placement.map((partition): Place => ({ partition, told: 0 }))
      : placesOf(cursor, placement);
  const lists = await Promise.all(places.map((place) => readFrom(place, limit, read)));
  const items: T[] = [];
  while (items.length < limit) {
    const best = lists
      .filter((list) => list.at < list.page.items.length)
      .sort((a, b) => value(b.page.items[b.at]!) - value(a.page.items[a.at]!))[0];
    if (best === undefined) break;
    items.push(best.page.items[best.at++]!);
  }
  const next = lists.flatMap(({ place, page, at }): Place[] => {
    if (at < page.items.length) return [{ ...place, told: at }];
    const { partition } = place;
    return page.cursor === undefined ? [] : [{ partition, cursor: page.cursor, told: 0 }];
  });
  return next.length === 0 ? { items } : { items, cursor: JSON.stringify(next) };
}

interface List<T> {
  readonly place: Place;
  readonly page: Page<T>;
  at: number;
}

/** Reads a page again with the same limit, so what was handed on of it is at the same place. */
async function readFrom<T>(place: Place, limit: number, read: Read<T>): Promise<List<T>> {
  const { partition, cursor, told } = place;
  const page = await read(partition, { limit, ...(cursor === undefined ? {} : { cursor }) });
  return { place, page, at: told };
}

function placesOf(cursor: unknown, placement: readonly number[]): Place[] {
  try {
    const places: unknown = JSON.parse(String(cursor));
    if (Array.isArray(places) && places.every((place) => isPlace(place, placement))) return places;
  } catch {
    // Refused below, like all else that is no cursor.
  }
  throw invalid("cursor", "the cursor of an earlier answer", cursor);
}

function isPlace(place: unknown, placement: readonly number[]): boolean {
  const { partition, cursor, told } = (place ?? {}) as Partial<Place>;
  const isCursor = cursor === undefined || typeof cursor === "string";
  return placement.includes(partition!) && isCursor && Number.isInteger(told) && told! >= 0;
}
