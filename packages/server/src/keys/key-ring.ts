/**
 * The keys of a server, in a reserved store on the same log as the jobs. All are in memory, so that
 * a check costs a hash and a revocation bites at the next call; the store is what a restart reads.
 */
import {
  type Broker,
  type Clock,
  type PageStart,
  SluiceError,
  walkPages,
  wallTime,
} from "@sluice/protocol";
import { KEYS_MAX } from "../limits.ts";
import { RequestBucket } from "../request-bucket.ts";
import { covers, EVERYTHING, type Grant } from "./grant.ts";
import { KeyWatchers } from "./key-watchers.ts";
import { parseKeyChange, parseNewKey } from "./new-key.ts";
import { ANYONE, chargeBucket, type Principal, unauthorized } from "./principal.ts";
import { KEYS_STORE } from "./rights.ts";
import { newSecret, opens, parseSecret, type Sealed, seal } from "./secret.ts";

/** What a list shows of a key. */
export interface KeyInfo {
  id: string;
  name: string;
  grants: readonly Grant[];
  createdAt: number;
  /** The id of the key that made it. */
  createdBy: string;
  expiresAt?: number;
  requestsPerSecond?: number;
}

interface KeyRecord extends KeyInfo, Sealed {}

export interface CreatedKey extends KeyInfo {
  /** Shown this once. */
  key: string;
}

/** The other nodes of a cluster, which have the same keys. */
export interface KeyPeers {
  /** Keys have been written: resolves when every living node has read them again. */
  changed(): Promise<void>;
  /** Calls back when another node has written keys; it is done when the promise resolves. */
  onChange(reload: () => Promise<void>): void;
  /** Whether this node, of all that find no key, makes the first. */
  isFirst(): Promise<boolean>;
}

export interface KeyRingOptions {
  /** A key with all permissions that the operator brings along; it is not stored. */
  rootKey?: string | undefined;
  /** For keys that do not say otherwise. */
  requestsPerSecond?: number | undefined;
  clock: Clock;
  peers?: KeyPeers | undefined;
}

/** What a key may not have more of than the one that makes or changes it. */
type Limits = Pick<KeyInfo, "grants" | "expiresAt" | "requestsPerSecond">;

const SCAN = 1000;
const ROOT = "root";

export class KeyRing {
  readonly #broker: Broker;
  #records = new Map<string, KeyRecord>();
  /** What was revoked here stays so, whatever is read that was written before. */
  readonly #revoked = new Set<string>();
  readonly #buckets = new Map<string, RequestBucket>();
  readonly #options: KeyRingOptions;
  readonly #root: Sealed | undefined;
  readonly #watchers: KeyWatchers;

  private constructor(broker: Broker, options: KeyRingOptions) {
    this.#broker = broker;
    this.#options = options;
    this.#watchers = new KeyWatchers(options.clock);
    this.#root = options.rootKey === undefined ? undefined : seal(options.rootKey);
  }

  static async open(broker: Broker, options: KeyRingOptions): Promise<KeyRing> {
    const ring = new KeyRing(broker, options);
    await ring.#load();
    options.peers?.onChange(() => ring.#load());
    return ring;
  }

  async #load(): Promise<void> {
    const records = new Map<string, KeyRecord>();
    const ask = (from: PageStart) => this.#broker.storeScan(KEYS_STORE, { limit: SCAN, ...from });
    for await (const { key, value } of walkPages(ask)) {
      if (!this.#revoked.has(key)) records.set(key, value as KeyRecord);
    }
    this.#records = records;
    this.#watchers.allChanged();
  }

  /** Whether there is no valid key. */
  get isEmpty(): boolean {
    return this.#records.size === 0 && this.#root === undefined;
  }

  /** Whose key this is. The same answer for a wrong key, an unknown one and none. */
  verify(text: string | undefined): Principal {
    if (text === undefined) {
      throw unauthorized(
        "this server needs an API key: `apiKey` of connect, `--key` of a command, " +
          "or `Authorization: Bearer KEY` over HTTP",
      );
    }
    const parsed = parseSecret(text);
    const record = this.#records.get(parsed?.id ?? "");
    // Both are always compared: the time taken tells nothing.
    const isRoot = opens(this.#root, text);
    const isKnown = opens(record, parsed?.secret ?? text);
    if (isRoot) return this.#rootPrincipal();
    if (!isKnown) throw unauthorized("the API key is not valid: it is misspelt or was revoked");
    const principal = this.#principal(record!.id);
    principal.grants();
    return principal;
  }

  /** Who made something with this key. Without a key of ours it was the operator. */
  holder(id: string): Principal {
    return id === ROOT || id === ANYONE.id ? this.#rootPrincipal() : this.#principal(id);
  }

  #rootPrincipal(): Principal {
    return { id: ROOT, grants: () => EVERYTHING, charge: () => {} };
  }

  #principal(id: string): Principal {
    const name = this.#records.get(id)?.name ?? "";
    return {
      id,
      ...(name === "" ? {} : { name }),
      grants: () => {
        const record = this.#records.get(id);
        if (record === undefined)
          throw unauthorized("the API key is not valid: it is misspelt or was revoked");
        if ((record.expiresAt ?? Number.POSITIVE_INFINITY) > wallTime(this.#options.clock))
          return record.grants;
        throw unauthorized("the API key has expired: make a new one with `sluice keys create`");
      },
      charge: () => chargeBucket(this.#bucketOf(id)),
      watch: (look) => this.#watchers.watch(id, this.#records.get(id)?.expiresAt, look),
    };
  }

  #bucketOf(id: string): RequestBucket | undefined {
    const known = this.#buckets.get(id);
    if (known !== undefined) return known;
    const perSecond = this.#records.get(id)?.requestsPerSecond ?? this.#options.requestsPerSecond;
    if (perSecond === undefined) return undefined;
    const bucket = new RequestBucket(perSecond);
    this.#buckets.set(id, bucket);
    return bucket;
  }

  /** Makes a key. It gets no more permissions than its maker has, and no longer. */
  async create(input: unknown, by: Principal): Promise<CreatedKey> {
    const now = wallTime(this.#options.clock);
    const asked = parseNewKey(input, now);
    this.#refuseMore(asked, by);
    if (this.#records.size >= KEYS_MAX) {
      const message = `there are ${KEYS_MAX} keys, the maximum; revoke some first`;
      throw new SluiceError("LIMIT_REACHED", message);
    }
    const { id, text, salt, hash } = newSecret();
    const info: KeyInfo = { id, ...asked, createdAt: now, createdBy: by.id };
    const record: KeyRecord = { ...info, salt, hash };
    await this.#broker.storeWrite(KEYS_STORE, [{ key: id, value: record }]);
    this.#records.set(id, record);
    await this.#options.peers?.changed();
    return { ...info, key: text };
  }

  #refuseMore({ grants, expiresAt, requestsPerSecond }: Limits, by: Principal): void {
    const held = by.grants();
    const more = grants.find((grant) => !covers(held, grant));
    if (more !== undefined) {
      const message = `you cannot grant ${more.action} on ${more.on}: your own key does not have it`;
      throw new SluiceError("FORBIDDEN", message, { needs: more.action, on: more.on });
    }
    const own = this.#records.get(by.id);
    if ((own?.expiresAt ?? Number.POSITIVE_INFINITY) < (expiresAt ?? Number.POSITIVE_INFINITY)) {
      const message = "the new key would expire after your own; choose an earlier expiry";
      throw new SluiceError("FORBIDDEN", message, { field: "expiresAt", value: expiresAt });
    }
    const most = own?.requestsPerSecond ?? Number.POSITIVE_INFINITY;
    if ((requestsPerSecond ?? Number.POSITIVE_INFINITY) > most) {
      const message = `a new key may have at most ${most} requests a second, the limit of your own`;
      throw new SluiceError("FORBIDDEN", message, { field: "requestsPerSecond" });
    }
  }

  /** Those that the caller could have made. */
  list(by: Principal): KeyInfo[] {
    const held = by.grants();
    const own = [...this.#records.values()].filter((record) => isWithin(held, record));
    return own.map(infoOf);
  }

  /**
   * Changes what a key may do; its secret and its expiry stay. It counts from now on, before it is
   * durable: what the key has lost it cannot use any more, and calls that wait are ended.
   */
  async set(id: string, input: unknown, by: Principal): Promise<KeyInfo> {
    const change = parseKeyChange(input);
    const record: KeyRecord = { ...this.#ownedBy(id, by), ...change };
    this.#refuseMore(record, by);
    const apply = (): void => {
      this.#records.set(id, record);
      this.#buckets.delete(id);
      this.#watchers.changed(id);
    };
    apply();
    await this.#broker.storeWrite(KEYS_STORE, [{ key: id, value: record }]);
    // The former record may have been read meanwhile; a key that was revoked stays so.
    if (!this.#revoked.has(id)) apply();
    await this.#options.peers?.changed();
    return infoOf(record);
  }

  /** The key, if the caller could have made it. */
  #ownedBy(id: string, by: Principal): KeyRecord {
    const record = this.#records.get(id);
    if (record !== undefined && isWithin(by.grants(), record)) return record;
    throw new SluiceError("NOT_FOUND", `there is no key ${id}`, { field: "id", value: id });
  }

  /** The key is refused from now on, before that is durable. */
  async revoke(id: string, by: Principal): Promise<void> {
    this.#ownedBy(id, by);
    this.#records.delete(id);
    this.#revoked.add(id);
    this.#buckets.delete(id);
    this.#watchers.changed(id);
    await this.#broker.storeWrite(KEYS_STORE, [{ key: id, value: undefined }]);
    await this.#options.peers?.changed();
  }
}

function infoOf({ salt: _, hash: __, ...info }: KeyRecord): KeyInfo {
  return info;
}

function isWithin(held: readonly Grant[], { grants }: KeyInfo): boolean {
  return grants.every((grant) => covers(held, { ...grant, action: "admin" }));
}
