/** Searching on the page: the form, how far each indexer is, and what was found. */
import type { AppAction, AppDone, AppSection, AppValue } from "sluice/http";
import { parseQuery } from "../client/query.ts";
import type { Merged } from "../service/merge.ts";
import { ownCaps } from "../service/own-caps.ts";
import type { Search } from "../service/search.ts";
import type { TorznabService } from "../service/service.ts";

/** Releases of a search that the page shows: the API has all of them. */
const RELEASES_SHOWN = 500;

const MODES = [
  { value: "search", label: "Everything" },
  { value: "tvsearch", label: "TV" },
  { value: "movie", label: "Movies" },
  { value: "music", label: "Music" },
  { value: "book", label: "Books" },
];

export function searchAction({ parts: { indexers } }: TorznabService): AppAction {
  const { categories } = ownCaps("", indexers.all);
  const named = categories.flatMap(({ id, name, subs }) => [
    { value: String(id), label: `${id} ${name}` },
    ...subs.map((sub) => ({ value: String(sub.id), label: `${sub.id} ${name} / ${sub.name}` })),
  ]);
  const choices = indexers.all.map(({ id, name }) => ({ value: id, label: name }));
  return {
    name: "search",
    title: "Search",
    verb: "Search",
    isInPlace: true,
    fields: [
      { name: "q", label: "Words" },
      { name: "t", label: "What", value: "search", options: MODES },
      { name: "cat", label: "Category", options: [{ value: "", label: "All" }, ...named] },
      { name: "indexer", label: "Indexer", options: [{ value: "", label: "All" }, ...choices] },
    ],
  };
}

/** Starts a search; the page of this reader shows it from now on. */
export function startSearch(
  service: TorznabService,
  { q = "", t = "search", cat = "", indexer = "" }: Readonly<Record<string, string>>,
): AppDone {
  const query = parseQuery({ t, q, cat });
  const indexers = indexer === "" ? undefined : [indexer];
  const search = service.search({ query, priority: "interactive", indexers });
  void search.done.then(() => service.release(search));
  const { length } = search.reports;
  if (length === 0) return { message: "There is no indexer yet. Add one first." };
  const asked = `${length} ${length === 1 ? "indexer" : "indexers"}`;
  return { message: `Searching ${asked}. Results appear as they arrive.`, show: search.id };
}

/** What is found so far, and which indexers have not answered. */
export function searchSections(
  service: TorznabService,
  show: string | undefined,
  base: string,
): AppSection[] {
  const search = service.searches.find(({ id }) => id === show);
  if (show === undefined) return [];
  if (search === undefined) {
    const facts = [{ label: "Search", value: "no longer kept; search again" }];
    return [{ kind: "facts", title: "Results", facts }];
  }
  const releases = search.releases();
  return [
    { kind: "facts", title: titleOf(search), facts: [...factsOf(search, releases.length)] },
    {
      kind: "table",
      title: "Results",
      isSortable: true,
      columns: ["Release", "Size", "Seeders", "Peers", "Published", "Category", "Indexers", "File"],
      rows: releases.slice(0, RELEASES_SHOWN).map((release) => rowOf(release, base)),
    },
  ];
}

function titleOf({ facts: { query } }: Search): string {
  return query.q === undefined ? "Newest releases" : `Search for ${query.q}`;
}

function* factsOf(search: Search, found: number) {
  const waiting = search.reports.filter(({ status }) => status === "waiting").length;
  const shown = found > RELEASES_SHOWN ? `${found}, the first ${RELEASES_SHOWN} shown` : found;
  yield { label: "Found", value: shown };
  yield { label: "Still searching", value: waiting };
  for (const { name, status, count, error } of search.reports) {
    const isGood = status === "ok" || status === "empty" || status === "waiting";
    const value = error ?? (status === "ok" ? `${count} found` : status);
    yield { label: name, value, ...(isGood ? {} : { tone: "warn" as const }) };
  }
}

function rowOf(release: Merged, base: string): AppValue[] {
  const { title, sizeBytes, seeders, peers, publishedAt, categories, from } = release;
  return [
    title,
    sizeBytes === undefined ? "" : { bytes: sizeBytes },
    seeders ?? "",
    peers ?? "",
    publishedAt === undefined ? "" : { at: publishedAt },
    categories.join(", "),
    from.map(({ name }) => name).join(", "),
    linkOf(release, base),
  ];
}

function linkOf({ download, magnet, indexer }: Merged, base: string): AppValue {
  if (download !== undefined) {
    return { href: `${base}download/${indexer.id}?token=${download}`, text: "Download" };
  }
  return magnet === undefined ? "" : { href: magnet, text: "Magnet" };
}
