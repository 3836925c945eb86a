/** The indexers that are configured, kept in a store; their keys only sealed. */
import { type Sluice, SluiceError, type Store } from "sluice";
import type { Endpoint } from "../client/torznab-client.ts";
import { INDEXERS_MAX } from "../limits.ts";
import type { IndexerLimits } from "../scheduler/limits-of.ts";
import type { Indexer } from "../scheduler/submission.ts";
import type { IndexerInput } from "../settings/indexer-input.ts";
import type { Caps } from "../xml/read-caps.ts";
import type { SecretCipher } from "./secret-cipher.ts";
import type { SharedLimits } from "./shared-limits.ts";

export interface IndexerRecord extends Readonly<Omit<IndexerInput, "apiKey" | "enabled">> {
  readonly sealedKey: string;
  /** The latest ones before it: an indexer may repeat them in its errors. */
  readonly sealedOldKeys?: readonly string[];
  readonly enabled: boolean;
  /** Where it was described: what the file says is not changed by the API. */
  readonly source: "api" | "settings";
  /** Its key was refused: left alone until the key changes or it is reset by hand. */
  readonly refusedBecause?: string;
  readonly caps?: Caps;
  readonly capsAt?: number;
}

/** A few seconds between two requests, as the programs of this field have it. */
const USUAL_LIMITS: IndexerLimits = { interval: 10_000, floor: 2_000 };

/** Former keys of an indexer that are still taken out of what it says. */
const OLD_KEYS_MAX = 3;

export class Indexers {
  readonly #store: Store<IndexerRecord>;
  readonly #cipher: SecretCipher;
  readonly #hosts: SharedLimits;
  readonly #records = new Map<string, IndexerRecord>();

  private constructor(store: Store<IndexerRecord>, cipher: SecretCipher, hosts: SharedLimits) {
    this.#store = store;
    this.#cipher = cipher;
    this.#hosts = hosts;
  }

  static async open(sluice: Sluice, cipher: SecretCipher, hosts: SharedLimits): Promise<Indexers> {
    const store = sluice.store<IndexerRecord>("torznab-indexers");
    const indexers = new Indexers(store, cipher, hosts);
    for await (const { key, value } of store.scan()) indexers.#records.set(key, value);
    return indexers;
  }

  get all(): readonly IndexerRecord[] {
    return [...this.#records.values()];
  }

  find(id: string): IndexerRecord | undefined {
    return this.#records.get(id);
  }

  get(id: string): IndexerRecord {
    const record = this.#records.get(id);
    if (record !== undefined) return record;
    const details = { field: "indexer", value: id.slice(0, 100) };
    throw new SluiceError("NOT_FOUND", `there is no indexer ${details.value}`, details);
  }

  /** Why it is not asked at all; undefined when it may be. */
  whyNot({ id, enabled, refusedBecause, sealedKey }: IndexerRecord): string | undefined {
    if (!enabled) return "the indexer is paused";
    if (refusedBecause !== undefined) return `the indexer refused its key (${refusedBecause})`;
    if (this.#cipher.unseal(`key:${id}`, sealedKey) !== undefined) return undefined;
    return "its key cannot be read because the key file has changed; set the key again";
  }

  endpoint({ id, url, sealedKey, sealedOldKeys = [] }: IndexerRecord): Endpoint {
    const unseal = (sealed: string) => this.#cipher.unseal(`key:${id}`, sealed) ?? "";
    return { url, apiKey: unseal(sealedKey), oldKeys: sealedOldKeys.map(unseal) };
  }

  /** As the scheduler needs it. */
  limited(record: IndexerRecord): Indexer {
    const { id, name, limits } = record;
    const host = this.#hosts.limitsOf(hostOf(record));
    // Without an interval of its own: two programs that poll the same indexer do not collide.
    const usual = limits.interval === undefined ? USUAL_LIMITS : {};
    return { id, name, ...usual, ...limits, ...(host === undefined ? {} : { host }) };
  }

  async add(input: IndexerInput): Promise<IndexerRecord> {
    if (this.#records.has(input.id)) {
      const details = { field: "indexer.id", value: input.id };
      throw new SluiceError("CONFLICT", `there is an indexer ${input.id} already`, details);
    }
    if (this.#records.size >= INDEXERS_MAX) {
      throw new SluiceError("QUEUE_FULL", `there are ${INDEXERS_MAX} indexers already`);
    }
    return this.#put(this.#recordOf(input, "api"));
  }

  /** What the settings say replaces what was kept, but for what was learned since. */
  async settle(inputs: readonly IndexerInput[]): Promise<void> {
    const ids = new Set(inputs.map(({ id }) => id));
    for (const { id, source } of this.all) {
      if (source === "settings" && !ids.has(id)) await this.remove(id);
    }
    for (const input of inputs) {
      const before = this.#records.get(input.id);
      const record = this.#recordOf(input, "settings");
      const isSame = before !== undefined && this.#isSame(before, input);
      // An indexer paused by hand stays paused, unless the file says otherwise.
      const enabled = input.enabled ?? before?.enabled ?? true;
      if (isSame) await this.#put({ ...record, enabled, ...learned(before) });
      else await this.#put({ ...record, enabled, ...oldKeysOf(before) });
    }
  }

  async change(id: string, change: Partial<Omit<IndexerInput, "id">>): Promise<IndexerRecord> {
    const { refusedBecause, caps, capsAt, ...before } = this.get(id);
    const { apiKey, limits, ...plain } = change;
    const isElsewhere = change.url !== undefined && change.url !== before.url;
    const isFresh = apiKey !== undefined || isElsewhere;
    return this.#put({
      ...before,
      ...plain,
      limits: { ...before.limits, ...limits },
      ...(apiKey === undefined
        ? {}
        : { sealedKey: this.#cipher.seal(`key:${id}`, apiKey), ...oldKeysOf(before) }),
      // A new key or place is a new start.
      ...(isFresh || refusedBecause === undefined ? {} : { refusedBecause }),
      ...(isElsewhere || caps === undefined ? {} : { caps }),
      ...(isElsewhere || capsAt === undefined ? {} : { capsAt }),
    });
  }

  async refuse(id: string, because: string): Promise<void> {
    const record = this.#records.get(id);
    if (record !== undefined) await this.#put({ ...record, refusedBecause: because });
  }

  async forgive(id: string): Promise<IndexerRecord> {
    const { refusedBecause: _, ...record } = this.get(id);
    return this.#put(record);
  }

  async learnCaps(id: string, caps: Caps, now: number): Promise<void> {
    const record = this.#records.get(id);
    if (record !== undefined) await this.#put({ ...record, caps, capsAt: now });
  }

  /** They were wrong: the next search asks for them first. */
  async forgetCaps(id: string): Promise<void> {
    const record = this.#records.get(id);
    if (record === undefined) return;
    const { caps: _, capsAt: _at, ...rest } = record;
    await this.#put(rest);
  }

  async remove(id: string): Promise<void> {
    this.get(id);
    await this.#store.delete(id);
    this.#records.delete(id);
  }

  #isSame(before: IndexerRecord, { url, apiKey }: IndexerInput): boolean {
    return before.url === url && this.endpoint(before).apiKey === apiKey;
  }

  #recordOf(input: IndexerInput, source: IndexerRecord["source"]): IndexerRecord {
    const { apiKey, enabled = true, ...rest } = input;
    return { ...rest, enabled, source, sealedKey: this.#cipher.seal(`key:${input.id}`, apiKey) };
  }

  async #put(record: IndexerRecord): Promise<IndexerRecord> {
    await this.#store.put(record.id, record);
    this.#records.set(record.id, record);
    return record;
  }
}

/** Programs such as Prowlarr stand before many hosts, so an indexer may name its own. */
export function hostOf({ host, url }: Pick<IndexerRecord, "host" | "url">): string {
  return host ?? new URL(url).host;
}

/** What the service found out about an indexer, which no file says. */
function learned({ caps, capsAt, refusedBecause, sealedOldKeys }: IndexerRecord) {
  return {
    ...(caps === undefined ? {} : { caps }),
    ...(capsAt === undefined ? {} : { capsAt }),
    ...(refusedBecause === undefined ? {} : { refusedBecause }),
    ...(sealedOldKeys === undefined ? {} : { sealedOldKeys }),
  };
}

function oldKeysOf(before: Pick<IndexerRecord, "sealedKey" | "sealedOldKeys"> | undefined) {
  if (before === undefined) return {};
  const { sealedKey, sealedOldKeys = [] } = before;
  return { sealedOldKeys: [sealedKey, ...sealedOldKeys].slice(0, OLD_KEYS_MAX) };
}
