/**
 * Programs that know many indexers: a Prowlarr or a Jackett. All its indexers are taken over, each
 * as an indexer of its own, and kept in step: new ones are added, those that are gone are removed,
 * and a new name or a switch there is followed here. Limits, names and pauses that a user sets here
 * stay.
 *
 * An indexer is known by its address, which has the number or id that the program gave it. Its name
 * may change: an indexer that is renamed keeps its limits and what is left of its budgets.
 */
import { SluiceError, type Store } from "sluice";
import { SOURCES_MAX, SYNC_DELAY_MS, SYNC_EVERY_MS } from "../limits.ts";
import { redact } from "../redact.ts";
import type { IndexerInput } from "../settings/indexer-input.ts";
import type { IndexerRecord } from "./indexers.ts";
import type { Parts } from "./parts.ts";
import { callFailed, listJackett, listProwlarr, type RemoteIndexer } from "./remote-indexers.ts";

export type SourceKind = "prowlarr" | "jackett";

export interface SourceInput {
  readonly kind: SourceKind;
  readonly url: string;
  readonly apiKey: string;
}

interface SourceRecord {
  readonly id: string;
  readonly kind: SourceKind;
  readonly url: string;
  readonly sealedKey: string;
  readonly syncedAt?: number;
  readonly error?: string;
  /** Its indexers as it last described them, by the name that it calls them. */
  readonly seen?: Readonly<Record<string, Seen>>;
}

type Seen = Pick<RemoteIndexer, "name" | "enabled">;

export interface SourceInfo extends Omit<SourceRecord, "sealedKey" | "seen"> {
  readonly indexers: readonly string[];
}

/** What sources need of the service. */
export interface IndexerKeeper {
  readonly parts: Parts;
  change(id: string, change: Partial<Omit<IndexerInput, "id">>): Promise<IndexerRecord>;
  remove(id: string): Promise<void>;
}

export interface Synced {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

type Added = SourceInfo & Synced & { readonly isNew: boolean };

export class Sources {
  readonly #service: IndexerKeeper;
  readonly #store: Store<SourceRecord>;
  readonly #records = new Map<string, SourceRecord>();
  readonly #syncing = new Map<string, Promise<SourceInfo & Synced>>();
  #timer: { cancel(): void } | undefined = undefined;

  private constructor(service: IndexerKeeper) {
    this.#service = service;
    this.#store = service.parts.sluice.store<SourceRecord>("torznab-sources");
  }

  static async open(service: IndexerKeeper): Promise<Sources> {
    const sources = new Sources(service);
    for await (const { key, value } of sources.#store.scan()) sources.#records.set(key, value);
    sources.#plan(SYNC_DELAY_MS);
    return sources;
  }

  get list(): SourceInfo[] {
    return [...this.#records.values()].map((record) => this.#shown(record));
  }

  /** Refuses a source whose indexers cannot be listed. A known one gets the new key. */
  async add({ kind, url, apiKey }: SourceInput): Promise<Added> {
    const found = await this.#fetch(kind, url, apiKey);
    const known = [...this.#records.values()].find((one) => one.kind === kind && one.url === url);
    if (known === undefined && this.#records.size >= SOURCES_MAX) {
      throw new SluiceError("QUEUE_FULL", `there are ${SOURCES_MAX} sources already`);
    }
    const id = known?.id ?? this.#freeId(kind, url);
    const sealedKey = this.#service.parts.cipher.seal(`source:${id}`, apiKey);
    await this.#put({ ...known, id, kind, url, sealedKey });
    if (known !== undefined) {
      for (const indexer of this.#indexersOf(id)) await this.#service.change(indexer, { apiKey });
    }
    const synced = await this.#take(id, apiKey, found);
    return { ...this.#shown(this.#get(id)), ...synced, isNew: known === undefined };
  }

  /** A second call while one runs is answered by that one. */
  sync(id: string): Promise<SourceInfo & Synced> {
    const running = this.#syncing.get(id);
    if (running !== undefined) return running;
    const started = this.#sync(id).finally(() => this.#syncing.delete(id));
    this.#syncing.set(id, started);
    return started;
  }

  /** Its indexers go with it. */
  async remove(id: string): Promise<void> {
    this.#get(id);
    for (const indexer of this.#indexersOf(id)) await this.#service.remove(indexer);
    await this.#store.delete(id);
    this.#records.delete(id);
  }

  close(): void {
    this.#timer?.cancel();
  }

  #plan(delayMs: number): void {
    const { clock } = this.#service.parts;
    this.#timer = clock.at(clock.now() + delayMs, () => {
      for (const { id } of this.list) this.sync(id).catch(() => {});
      this.#plan(SYNC_EVERY_MS);
    });
  }

  async #sync(id: string): Promise<SourceInfo & Synced> {
    const { kind, url, sealedKey } = this.#get(id);
    const apiKey = this.#service.parts.cipher.unseal(`source:${id}`, sealedKey) ?? "";
    try {
      const found = await this.#fetch(kind, url, apiKey);
      const synced = await this.#take(id, apiKey, found);
      return { ...this.#shown(this.#get(id)), ...synced };
    } catch (error) {
      const text = redact((error as Error).message, [apiKey]);
      // It may have been removed meanwhile.
      const record = this.#records.get(id);
      if (record !== undefined) await this.#put({ ...record, error: text });
      throw error;
    }
  }

  async #fetch(kind: SourceKind, url: string, apiKey: string): Promise<RemoteIndexer[]> {
    const { client } = this.#service.parts;
    try {
      if (kind === "prowlarr") return await listProwlarr(url, apiKey);
      return await listJackett(client, url, apiKey);
    } catch (error) {
      if (error instanceof SluiceError) throw error;
      throw callFailed(url, redact((error as Error).message, [apiKey]));
    }
  }

  async #take(id: string, apiKey: string, found: readonly RemoteIndexer[]): Promise<Synced> {
    const { indexers, clock } = this.#service.parts;
    const { seen: before = {} } = this.#get(id);
    const had = this.#indexersOf(id);
    if (found.length === 0 && had.length > 0) {
      const message = "the source lists no indexers any more: those that it had are kept";
      throw new SluiceError("CONFLICT", message, { field: "id", value: id });
    }
    const added: string[] = [];
    const listed = new Set<string>();
    const seen: Record<string, Seen> = {};
    for (const one of found) {
      const { key, name, url, kind, enabled } = one;
      seen[key] = { name, enabled };
      const known =
        indexers.all.find((record) => record.from === id && record.url === url) ??
        indexers.find(idOf(id, one));
      if (known === undefined) {
        const input: IndexerInput = { id: idOf(id, one), name, url, apiKey, limits: {} };
        await indexers.add({ ...input, kind, enabled, from: id });
        added.push(input.id);
      } else {
        const change = changeOf(known, one, before[key]);
        const moved = known.url === url ? {} : { url, apiKey };
        if (Object.keys({ ...change, ...moved }).length > 0) {
          await this.#service.change(known.id, { ...change, ...moved });
        }
      }
      listed.add(known?.id ?? idOf(id, one));
    }
    const removed = had.filter((indexer) => !listed.has(indexer));
    for (const indexer of removed) await this.#service.remove(indexer);
    const { error: _, ...rest } = this.#get(id);
    await this.#put({ ...rest, seen, syncedAt: clock.now() });
    return { added, removed };
  }

  #freeId(kind: SourceKind, url: string): string {
    const { hostname, port, pathname } = new URL(url);
    const id = [kind, hostname, port, pathname]
      .join("-")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .slice(0, 40)
      .replace(/-+$/, "");
    let free = id;
    for (let n = 2; this.#records.has(free); n++) free = `${id}-${n}`;
    return free;
  }

  #indexersOf(id: string): string[] {
    return this.#service.parts.indexers.all.flatMap((one) => (one.from === id ? [one.id] : []));
  }

  #shown({ sealedKey: _key, seen: _seen, ...record }: SourceRecord): SourceInfo {
    return { ...record, indexers: this.#indexersOf(record.id) };
  }

  #get(id: string): SourceRecord {
    const record = this.#records.get(id);
    if (record !== undefined) return record;
    throw new SluiceError("NOT_FOUND", `there is no source ${id.slice(0, 64)}`, { field: "id" });
  }

  async #put(record: SourceRecord): Promise<void> {
    await this.#store.put(record.id, record);
    this.#records.set(record.id, record);
  }
}

/** What changed at the source since it was last read, unless a user has changed it here. */
function changeOf(here: IndexerRecord, there: Seen, before: Seen | undefined): Partial<Seen> {
  if (before === undefined) return {};
  const { name, enabled } = there;
  return {
    ...(name !== before.name && here.name === before.name ? { name } : {}),
    ...(enabled !== before.enabled && here.enabled === before.enabled ? { enabled } : {}),
  };
}

function idOf(source: string, { key, name }: RemoteIndexer): string {
  const slug = `${source}-${key}-${name}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return slug.replace(/-+$/, "").slice(0, 64);
}
