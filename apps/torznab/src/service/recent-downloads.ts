/**
 * Where the releases of our latest feeds are downloaded: some clients know a release by its guid
 * alone. In memory only; what is no longer known is asked of the indexer itself.
 */
import { RECENT_DOWNLOADS_MAX } from "../limits.ts";
import type { Found } from "./found.ts";

export interface RecentDownload {
  readonly indexer: string;
  /** The sealed link. */
  readonly token: string;
}

export class RecentDownloads {
  /** By indexer and guid, or the end of one; the latest is the last. */
  readonly #known = new Map<string, { readonly guid: string; readonly found?: RecentDownload }>();

  note(releases: readonly Found[]): void {
    for (const { indexer, guid, download } of releases) {
      if (download === undefined) continue;
      const found = { indexer: indexer.id, token: download };
      this.#put(`${indexer.id}\n${guid}`, guid, found);
      const end = endOf(guid);
      if (end !== undefined) this.#put(`${indexer.id}\n${end}`, guid, found);
    }
  }

  /** The first of these indexers that has it. */
  find(guid: string, indexers: readonly string[]): RecentDownload | undefined {
    for (const id of indexers) {
      const found = this.#known.get(`${id}\n${guid}`)?.found;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** An end that two releases share names neither. */
  #put(key: string, guid: string, found: RecentDownload): void {
    const before = this.#known.get(key);
    this.#known.delete(key);
    const isShared = before !== undefined && before.guid !== guid;
    this.#known.set(key, isShared ? { guid: before.guid } : { guid, found });
    if (this.#known.size <= RECENT_DOWNLOADS_MAX) return;
    this.#known.delete(this.#known.keys().next().value!);
  }
}

/** A guid is often an address, and its last part is what clients send. */
function endOf(guid: string): string | undefined {
  return /[/=]([^/?#=]+)$/.exec(guid)?.[1];
}
