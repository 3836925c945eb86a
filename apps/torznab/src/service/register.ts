/** Makes this service known to Sonarr or Radarr, through their API (`/api/v3/indexer`). */
import { callProgram } from "./remote-indexers.ts";
import type { TorznabService } from "./service.ts";

export type Program = "sonarr" | "radarr";

export interface Registration {
  readonly program: Program;
  readonly url: string;
  readonly apiKey: string;
  /** Where the program reaches this service. */
  readonly self: string;
  readonly name: string;
}

export interface Registered {
  readonly program: Program;
  readonly name: string;
  readonly kind: "torznab" | "newznab";
  readonly id: number;
  readonly isNew: boolean;
}

const CATEGORIES: Readonly<Record<Program, readonly number[]>> = {
  sonarr: [5000, 5010, 5020, 5030, 5040, 5045],
  radarr: [2000, 2010, 2020, 2030, 2040, 2045, 2050, 2060],
};
const ANIME = [5070];

/** One entry for torrents, and one for usenet when there are such indexers. */
export async function register(
  { parts }: TorznabService,
  { program, url, apiKey, self, name }: Registration,
): Promise<Registered[]> {
  const kinds = new Set(parts.indexers.all.map(({ kind = "torznab" }) => kind));
  if (kinds.size === 0) kinds.add("torznab");
  const existing = (await callProgram(url, "/api/v3/indexer", apiKey)) as Entry[];
  const done: Registered[] = [];
  for (const kind of kinds) {
    const title = kind === "torznab" ? name : `${name} (usenet)`;
    const known = existing.find((entry) => entry.name === title);
    const place = placeOf(kind, self, parts.settings.apiKey ?? "");
    // A warning, such as that no release of these categories was found yet, is no reason to refuse.
    const path = `/api/v3/indexer${known === undefined ? "" : `/${known.id}`}?forceSave=true`;
    const answer = (await callProgram(
      url,
      path,
      apiKey,
      known === undefined
        ? { method: "POST", body: entryOf(kind, title, place, program) }
        : { method: "PUT", body: movedTo(known, place) },
    )) as Entry;
    done.push({ program, name: title, kind, id: answer.id, isNew: known === undefined });
  }
  return done;
}

interface Entry {
  readonly id: number;
  readonly name: string;
  readonly fields?: readonly { readonly name: string; readonly value?: unknown }[];
}

/** Where the program finds this service. */
interface Place {
  readonly baseUrl: string;
  readonly apiPath: string;
  readonly apiKey: string;
}

function placeOf(kind: "torznab" | "newznab", baseUrl: string, apiKey: string): Place {
  return { baseUrl, apiPath: kind === "torznab" ? "/api" : "/newznab/api", apiKey };
}

/** What else was set in the program, such as categories and tags, stays. */
function movedTo(known: Entry, place: Place): object {
  const others = (known.fields ?? []).filter(({ name }) => !Object.hasOwn(place, name));
  const own = Object.entries(place).map(([name, value]) => ({ name, value }));
  return { ...known, fields: [...others, ...own] };
}

function entryOf(
  kind: "torznab" | "newznab",
  name: string,
  place: Place,
  program: Program,
): object {
  const isTorznab = kind === "torznab";
  const fields = {
    ...place,
    categories: CATEGORIES[program],
    ...(program === "sonarr" ? { animeCategories: ANIME } : {}),
    ...(isTorznab ? { minimumSeeders: 1 } : {}),
  };
  return {
    name,
    implementation: isTorznab ? "Torznab" : "Newznab",
    configContract: isTorznab ? "TorznabSettings" : "NewznabSettings",
    protocol: isTorznab ? "torrent" : "usenet",
    enableRss: true,
    enableAutomaticSearch: true,
    enableInteractiveSearch: true,
    priority: 25,
    fields: Object.entries(fields).map(([field, value]) => ({ name: field, value })),
    tags: [],
  };
}
