/**
 * Pages of an indexer's answer. Each is a request of its own within the indexer's limits, of the
 * same size for every search, so that searches share them in the cache.
 */

import { PAGE_ITEMS_USUAL, RELEASES_WANTED_MAX } from "../limits.ts";
import type { More, Outcome } from "../scheduler/outcome.ts";
import type { Caps } from "../xml/read-caps.ts";
import type { Feed } from "../xml/read-feed.ts";
import type { Found } from "./found.ts";

/** The part of a search's releases that its caller wants. */
export interface PageWanted {
  readonly offset: number;
  readonly limit: number;
}

export interface FoundPage {
  readonly releases: readonly Found[];
  readonly more?: More | undefined;
}

/** How many releases of each indexer a page needs, as any indexer may have the newest ones. */
export function wantedOf(page: PageWanted | undefined): number {
  if (page === undefined) return 0;
  // Whole blocks: they are sorted by themselves, so half of one would be in another order.
  const blocks = Math.ceil((page.offset + page.limit) / PAGE_ITEMS_USUAL);
  return Math.min(blocks * PAGE_ITEMS_USUAL, RELEASES_WANTED_MAX);
}

export function pageSizeOf({ limits }: Caps): number {
  return Math.max(limits.default, Math.min(limits.max, PAGE_ITEMS_USUAL));
}

/** Some indexers report the size of the page as their total: a full page may have a next one. */
export function moreOf(feed: Feed, asked: PageWanted): More | undefined {
  const { releases, total = 0 } = feed;
  const offset = asked.offset + releases.length;
  if (releases.length === 0) return undefined;
  if (total > offset) return { offset, count: total - offset };
  return releases.length >= asked.limit ? { offset, count: 1 } : undefined;
}

/** The first page, and those after it until enough is found or the indexer has no more. */
export async function restOf(
  first: Outcome<Found>,
  wanted: number,
  ask: (offset: number) => Promise<Outcome<Found>>,
): Promise<Outcome<Found>> {
  const { more: _more, ...alone } = first;
  // Nothing in the wanted categories: further pages would cost requests for nothing.
  if (first.results.length === 0) return alone;
  let whole = first;
  const known = new Set(first.results.map(({ guid }) => guid));
  while (whole.more !== undefined && whole.cut !== true && known.size < wanted) {
    const page = await ask(whole.more.offset);
    if (page.status !== "ok" && page.status !== "empty") {
      return { ...whole, error: page.error ?? new Error(page.status) };
    }
    const fresh = page.results.filter(({ guid }) => !known.has(guid));
    const { more: _, ...rest } = whole;
    // An indexer that ignores the offset repeats itself: a page with nothing new is the end.
    if (fresh.length === 0) return rest;
    for (const { guid } of fresh) known.add(guid);
    const results = [...whole.results, ...fresh];
    whole = {
      ...rest,
      status: "ok",
      results,
      ...(page.more === undefined ? {} : { more: page.more }),
    };
  }
  return whole;
}
