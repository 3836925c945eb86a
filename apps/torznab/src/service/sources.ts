/**
 * Programs that know many indexers: a Prowlarr or a Jackett. All its indexers are taken over, each
 * as an indexer of its own, and kept in step: new ones are added, those that are gone are removed.
 * Limits, names and pauses that a user sets here stay.
 */
import { SluiceError, type Store } from "sluice";
import { SOURCES_MAX, SYNC_EVERY_MS } from "../limits.ts";
import { redact } from "../redact.ts";
import type { IndexerInput } from "../settings/indexer-input.ts";
import type { IndexerRecord } from "./indexers.ts";
import type { Parts } from "./parts.ts";
import { listJackett, listProwlarr, type RemoteIndexer } from "./remote-indexers.ts";

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
}

export interface SourceInfo extends Omit<SourceRecord, "sealedKey"> {
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

export class Sources {
  readonly #service: IndexerKeeper;
  readonly #store: Store<SourceRecord>;
  readonly #records = new Map<string, SourceRecord>();
  #timer: { cancel(): void } | undefined = undefined;

  private constructor(service: IndexerKeeper) {
    this.#service = service;
    this.#store = service.parts.sluice.store<SourceRecord>("torznab-sources");
  }

  static async open(service: IndexerKeeper): Promise<Sources> {
    const sources = new Sources(service);
    for await (const { key, value } of sources.#store.scan()) sources.#records.set(key, value);
    sources.#plan();
    return sources;
  }

  get list(): SourceInfo[] {
    return [...this.#records.values()].map((record) => this.#shown(record));
  }

  /** Refuses a source whose indexers cannot be listed, and keeps nothing of it. */
  async add({ kind, url, apiKey }: SourceInput): Promise<SourceInfo & Synced> {
    if (this.#records.size >= SOURCES_MAX) {
      throw new SluiceError("QUEUE_FULL", `there are ${SOURCES_MAX} sources already`);
    }
    const { hostname, port } = new URL(url);
    const id = `${kind}-${hostname}${port === "" ? "" : `-${port}`}`
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .slice(0, 40);
    if (this.#records.has(id)) {
      throw new SluiceError("CONFLICT", `there is a source ${id} already`, { field: "url" });
    }
    const found = await this.#fetch(kind, url, apiKey);
    const sealedKey = this.#service.parts.cipher.seal(`source:${id}`, apiKey);
    await this.#put({ id, kind, url, sealedKey });
    const synced = await this.#take(this.#get(id), apiKey, found);
    return { ...this.#shown(this.#get(id)), ...synced };
  }

  async sync(id: string): Promise<SourceInfo & Synced> {
    const record = this.#get(id);
    const { kind, url, sealedKey } = record;
    const apiKey = this.#service.parts.cipher.unseal(`source:${id}`, sealedKey) ?? "";
    try {
      const found = await this.#fetch(kind, url, apiKey);
      const synced = await this.#take(record, apiKey, found);
      return { ...this.#shown(this.#get(id)), ...synced };
    } catch (error) {
      const text = redact((error as Error).message, [apiKey]);
      await this.#put({ ...record, error: text });
      throw error;
    }
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

  #plan(): void {
    const { clock } = this.#service.parts;
    this.#timer = clock.at(clock.now() + SYNC_EVERY_MS, () => {
      for (const { id } of this.list) this.sync(id).catch(() => {});
      this.#plan();
    });
  }

  #fetch(kind: SourceKind, url: string, apiKey: string): Promise<RemoteIndexer[]> {
    const { client } = this.#service.parts;
    return kind === "prowlarr" ? listProwlarr(url, apiKey) : listJackett(client, url, apiKey);
  }

  async #take(
    record: SourceRecord,
    apiKey: string,
    found: readonly RemoteIndexer[],
  ): Promise<Synced> {
    const { indexers, clock } = this.#service.parts;
    const before = this.#indexersOf(record.id);
    if (found.length === 0 && before.length > 0) {
      throw new Error("it lists no indexers any more: those that it had are kept");
    }
    const added: string[] = [];
    const listed = new Set<string>();
    for (const one of found) {
      const id = idOf(record.id, one);
      listed.add(id);
      const known = indexers.find(id);
      if (known?.url === one.url) continue;
      const input: IndexerInput = { id, name: one.name, url: one.url, apiKey, limits: {} };
      const own = { ...input, kind: one.kind, enabled: one.enabled, from: record.id };
      if (known === undefined) {
        await indexers.add(own);
        added.push(id);
      } else await this.#service.change(id, { url: one.url, apiKey });
    }
    const removed = before.filter((id) => !listed.has(id));
    for (const id of removed) await this.#service.remove(id);
    const { error: _, ...rest } = record;
    await this.#put({ ...rest, syncedAt: clock.now() });
    return { added, removed };
  }

  #indexersOf(id: string): string[] {
    return this.#service.parts.indexers.all.flatMap((one) => (one.from === id ? [one.id] : []));
  }

  #shown({ sealedKey: _, ...record }: SourceRecord): SourceInfo {
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

function idOf(source: string, { key, name }: RemoteIndexer): string {
  const slug = `${source}-${key}-${name}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return slug.replace(/-+$/, "").slice(0, 64);
}
