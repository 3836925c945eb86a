/**
 * What forwarders know of our hashes and peers, and what they have answered about them. Stores keep
 * the next announce times and the peers from forwarders. So after a restart no peer is announced
 * twice, and answers are as full as before.
 */
import type { Sluice, Store, StoreChange } from "sluice";
import { MERGED_PEERS_MAX, REGISTRATIONS_MAX } from "../limits.ts";
import type { Told } from "../peers/pick-peers.ts";
import { fromHex, toHex } from "../wire/hex.ts";
import type { Answered } from "./outcome.ts";

/** One peer of one hash at one forwarder. */
export interface Registration {
  /** When it may be announced again; 0 when it never was. */
  next: number;
  /** Announces that failed in a row. */
  failures: number;
  /** The forwarder has answered and has it in its list. */
  isKnown: boolean;
  /** A job for it is in the queue or runs. */
  isPending: boolean;
  /** The id of that job, once the queue has answered. */
  job: string | undefined;
}

export interface PeerEntry {
  readonly hash: string;
  /** The peer's address and port. */
  readonly endpoint: string;
  readonly registrations: Map<string, Registration>;
  /** Nothing is eligible before this time, unless the list of forwarders changes. */
  lookAt: number;
  version: number;
  /** Its place among the due peers. */
  slot: number;
}

/** What one forwarder has answered about one hash. */
interface Cache {
  readonly at: number;
  readonly v4: Buffer;
  readonly v6: Buffer;
  readonly complete: number;
  readonly incomplete: number;
  readonly trackerId: string | undefined;
  readonly externalIp: string | undefined;
}

export interface HashEntry extends Told {
  readonly hash: string;
  /** A forwarder was queued or contacted for it. */
  wasForwarded: boolean;
  readonly peers: Map<string, PeerEntry>;
  readonly caches: Map<string, Cache>;
  v4: Buffer;
  v6: Buffer;
  complete: number;
  incomplete: number;
  externalIps: readonly string[];
  /** Who waits for the first answer of a forwarder. */
  waiters: (() => void)[];
}

type KeptRegistration = [next: number, failures: number, isKnown: 0 | 1];
type KeptCache = [at: number, v4: string, v6: string, c: number, i: number, t: string, x: string];

const NO_BYTES = Buffer.alloc(0);
/** Hex digits of an address with its port. */
const V4_DIGITS = 12;
const V6_DIGITS = 36;

export class Registry {
  readonly #registrations: Store<KeptRegistration>;
  readonly #caches: Store<KeptCache>;
  readonly #hashes = new Map<string, HashEntry>();
  #count = 0;

  private constructor(sluice: Sluice) {
    this.#registrations = sluice.store<KeptRegistration>("retracker.announced");
    this.#caches = sluice.store<KeptCache>("retracker.told");
  }

  static async open(sluice: Sluice): Promise<Registry> {
    const registry = new Registry(sluice);
    for await (const { key, value } of registry.#registrations.scan()) {
      const [hash = "", endpoint = "", name = ""] = partsOf(key, 3);
      // Earlier versions knew peers by their ids, of 20 bytes.
      if (endpoint.length !== V4_DIGITS && endpoint.length !== V6_DIGITS) {
        await registry.#registrations.delete(key);
        continue;
      }
      const entry = registry.peer(fromHex(hash), fromHex(endpoint));
      const [next, failures, isKnown] = value;
      const registration = { next, failures, isKnown: isKnown === 1, isPending: false };
      entry.registrations.set(name, { ...registration, job: undefined });
      registry.#count++;
      registry.find(entry.hash)!.wasForwarded = true;
    }
    for await (const { key, value } of registry.#caches.scan()) {
      const [hash = "", name = ""] = partsOf(key, 2);
      registry.#entry(fromHex(hash)).caches.set(name, readCache(value));
    }
    for (const entry of registry.#hashes.values()) merge(entry);
    return registry;
  }

  /** Hashes that were sent to forwarders. */
  get hashes(): number {
    return this.#hashes.size;
  }

  get registrations(): number {
    return this.#count;
  }

  find(hash: string): HashEntry | undefined {
    return this.#hashes.get(hash);
  }

  findPeer(hash: string, endpoint: string): PeerEntry | undefined {
    return this.#hashes.get(hash)?.peers.get(endpoint);
  }

  *all(): Generator<HashEntry> {
    yield* this.#hashes.values();
  }

  peer(hash: string, endpoint: string): PeerEntry {
    const entry = this.#entry(hash);
    let peer = entry.peers.get(endpoint);
    if (peer === undefined) {
      const lookAt = Number.POSITIVE_INFINITY;
      peer = { hash, endpoint, registrations: new Map(), lookAt, version: -1, slot: -1 };
      entry.peers.set(endpoint, peer);
    }
    return peer;
  }

  /** The registration of a peer at a forwarder; undefined when there are too many in all. */
  registration(peer: PeerEntry, name: string): Registration | undefined {
    const known = peer.registrations.get(name);
    if (known !== undefined) return known;
    if (this.#count >= REGISTRATIONS_MAX) return undefined;
    const made = { next: 0, failures: 0, isKnown: false, isPending: false, job: undefined };
    peer.registrations.set(name, made);
    this.#count++;
    return made;
  }

  /** Resolves when it is durable. */
  async save(peer: PeerEntry, name: string, registration: Registration): Promise<void> {
    const { next, failures, isKnown } = registration;
    const key = keyOf(peer.hash, peer.endpoint, name);
    await this.#registrations.put(key, [next, failures, isKnown ? 1 : 0]);
  }

  /** Stores the answer of a forwarder. A hash that was removed meanwhile stays removed. */
  async tell(hash: string, name: string, told: Answered, now: number): Promise<void> {
    const entry = this.#hashes.get(hash);
    if (entry === undefined) return;
    const { v4, v6, complete, incomplete, trackerId, externalIp } = told;
    const cache = { at: now, v4, v6, complete, incomplete, trackerId, externalIp };
    entry.caches.set(name, cache);
    merge(entry);
    for (const wake of entry.waiters.splice(0)) wake();
    await this.#caches.put(`${toHex(hash)}:${name}`, writeCache(cache));
  }

  /** Ends a registration: the forwarder was notified, or is gone. */
  async dropRegistration(hash: string, endpoint: string, name: string): Promise<void> {
    const entry = this.#hashes.get(hash);
    const peer = entry?.peers.get(endpoint);
    if (entry === undefined || !peer?.registrations.delete(name)) return;
    this.#count--;
    if (peer.registrations.size === 0) entry.peers.delete(endpoint);
    await this.#registrations.delete(keyOf(hash, endpoint, name));
  }

  /** A local peer is gone, with all its registrations. */
  async dropPeer(hash: string, endpoint: string): Promise<void> {
    const entry = this.#hashes.get(hash);
    const peer = entry?.peers.get(endpoint);
    if (entry === undefined || peer === undefined) return;
    entry.peers.delete(endpoint);
    this.#count -= peer.registrations.size;
    const keys = [...peer.registrations.keys()].map((name) => keyOf(hash, endpoint, name));
    if (keys.length > 0) await this.#registrations.batch(keys.map((key) => ({ key })));
  }

  /** The last local peer is gone, so the answers of forwarders are no longer needed. */
  async dropHash(hash: string): Promise<void> {
    const entry = this.#hashes.get(hash);
    if (entry === undefined) return;
    this.#hashes.delete(hash);
    const changes: StoreChange<KeptRegistration>[] = [];
    for (const peer of entry.peers.values()) {
      this.#count -= peer.registrations.size;
      for (const name of peer.registrations.keys()) {
        changes.push({ key: keyOf(hash, peer.endpoint, name) });
      }
    }
    const caches = [...entry.caches.keys()].map((name) => ({ key: `${toHex(hash)}:${name}` }));
    if (changes.length > 0) await this.#registrations.batch(changes);
    if (caches.length > 0) await this.#caches.batch(caches);
  }

  /** Removes answers that are older than a time. */
  async age(entry: HashEntry, before: number): Promise<void> {
    const old = [...entry.caches].filter(([, cache]) => cache.at < before).map(([name]) => name);
    if (old.length === 0) return;
    for (const name of old) entry.caches.delete(name);
    merge(entry);
    await this.#caches.batch(old.map((name) => ({ key: `${toHex(entry.hash)}:${name}` })));
  }

  #entry(hash: string): HashEntry {
    let entry = this.#hashes.get(hash);
    if (entry === undefined) {
      entry = {
        hash,
        wasForwarded: false,
        peers: new Map(),
        caches: new Map(),
        v4: NO_BYTES,
        v6: NO_BYTES,
        complete: 0,
        incomplete: 0,
        externalIps: [],
        waiters: [],
      };
      this.#hashes.set(hash, entry);
    }
    return entry;
  }
}

/** Merges all answers into one list without repetitions. Each count is the greatest of all. */
function merge(entry: HashEntry): void {
  const caches = [...entry.caches.values()].sort((a, b) => b.at - a.at);
  entry.v4 = mergeEntries(
    caches.map(({ v4 }) => v4),
    6,
  );
  entry.v6 = mergeEntries(
    caches.map(({ v6 }) => v6),
    18,
  );
  entry.complete = Math.max(0, ...caches.map(({ complete }) => complete));
  entry.incomplete = Math.max(0, ...caches.map(({ incomplete }) => incomplete));
  const external = caches.map(({ externalIp }) => externalIp);
  entry.externalIps = [...new Set(external.filter((ip) => ip !== undefined))];
}

function mergeEntries(all: readonly Buffer[], bytes: number): Buffer {
  const seen = new Set<string>();
  for (const buffer of all) {
    for (let at = 0; at + bytes <= buffer.length; at += bytes) {
      if (seen.size < MERGED_PEERS_MAX) seen.add(buffer.toString("latin1", at, at + bytes));
    }
  }
  return Buffer.from([...seen].join(""), "latin1");
}

function keyOf(hash: string, endpoint: string, name: string): string {
  return `${toHex(hash)}:${toHex(endpoint)}:${name}`;
}

/** The last part is a name, which may hold colons itself. */
function partsOf(key: string, count: number): string[] {
  const parts = key.split(":");
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join(":")];
}

function writeCache(cache: Cache): KeptCache {
  const { at, v4, v6, complete, incomplete, trackerId = "", externalIp = "" } = cache;
  const bytes = [v4.toString("base64"), v6.toString("base64")] as const;
  return [at, ...bytes, complete, incomplete, toHex(trackerId), toHex(externalIp)];
}

function readCache([at, v4, v6, complete, incomplete, trackerId, externalIp]: KeptCache): Cache {
  return {
    at,
    v4: Buffer.from(v4, "base64"),
    v6: Buffer.from(v6, "base64"),
    complete,
    incomplete,
    trackerId: trackerId === "" ? undefined : fromHex(trackerId),
    externalIp: externalIp === "" ? undefined : fromHex(externalIp),
  };
}
