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
    const entry = entryOf(kind, title, self, parts.settings.apiKey ?? "", program);
    const answer = (await callProgram(
      url,
      known === undefined ? "/api/v3/indexer" : `/api/v3/indexer/${known.id}`,
      apiKey,
      known === undefined
        ? { method: "POST", body: entry }
        : { method: "PUT", body: { ...entry, id: known.id } },
    )) as Entry;
    done.push({ program, name: title, kind, id: answer.id, isNew: known === undefined });
  }
  return done;
}

interface Entry {
  readonly id: number;
  readonly name: string;
}

function entryOf(
  kind: "torznab" | "newznab",
  name: string,
  self: string,
  apiKey: string,
  program: Program,
): object {
  const isTorznab = kind === "torznab";
  const fields = {
    baseUrl: self,
    apiPath: isTorznab ? "/api" : "/newznab/api",
    apiKey,
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
