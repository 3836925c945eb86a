/**
 * What is answered to whom. The life of an announce:
 *
 *   refused by the lists of hashes ──────────────────────────────→ failure
 *   stopped    peer removed, its jobs cancelled, forwarders told ──→ answer without peers
 *   completed  peer stored and counted, forwarders told ───────────→ answer when that is durable
 *   others     peer stored, forwarders queued ─────────────────────→ answer, or failure when busy
 *
 * Where nothing has to be waited for the answer is given in the same turn.
 */
import type { Clock } from "sluice";
import { FULL_SCRAPE_HASHES_MAX } from "./limits.ts";
import type { CompletedCounts } from "./peers/completed-counts.ts";
import { compactOf, NOTHING_TOLD, pickPeers } from "./peers/pick-peers.ts";
import type { Swarm, Swarms } from "./peers/swarms.ts";
import type { Settings } from "./settings/settings.ts";
import type { Upstream } from "./upstream/upstream.ts";
import {
  type Announce,
  COMPLETED,
  type Refused,
  type ScrapeCounts,
  STOPPED,
} from "./wire/announce.ts";
import { toHex } from "./wire/hex.ts";

/** What an announce is answered with; the peers are chosen where the form is known. */
export interface Accepted {
  readonly announce: Announce;
  readonly complete: number;
  readonly incomplete: number;
  readonly swarm: Swarm | undefined;
  /** The row of the requester; -1 after `stopped`. */
  readonly row: number;
}

export interface TrackerParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly swarms: Swarms;
  readonly completed: CompletedCounts;
  readonly upstream: Upstream;
}

const SHARDS = 256;

export class Tracker {
  readonly #parts: TrackerParts;
  readonly #allow: ReadonlySet<string>;
  readonly #deny: ReadonlySet<string>;
  announces = 0;
  scrapes = 0;
  refused = 0;

  constructor(parts: TrackerParts) {
    this.#parts = parts;
    const { settings } = parts;
    this.#allow = new Set(settings.allow.map((hash) => hash.toLowerCase()));
    this.#deny = new Set(settings.deny.map((hash) => hash.toLowerCase()));
  }

  get intervalSeconds(): number {
    return this.#parts.settings.announce_interval;
  }

  announce(announce: Announce): Accepted | Refused | Promise<Accepted | Refused> {
    this.announces++;
    const refused = this.#judge(announce.hash);
    if (refused !== undefined) return this.#refuse(refused);
    if (announce.event === STOPPED) return this.#stopped(announce);
    const { swarms } = this.#parts;
    const known = announce.event === COMPLETED ? swarms.rowOf(announce.hash, announce.peerId) : -1;
    const wasSeeder = known !== -1 && swarms.rows.isSeeder(known);
    const row = swarms.put(announce, this.#second());
    if (row === -1) return this.#refuse({ failure: "tracker is full" });
    if (announce.event === COMPLETED) return this.#completed(announce, row, wasSeeder);
    const forwarded = this.#parts.upstream.announcer.announced(announce);
    if (forwarded === undefined) return this.#accept(announce, row);
    return this.#afterForwarding(announce, row, forwarded);
  }

  /** Compact peers of one family for an accepted announce, to be taken before the next call. */
  peers({ announce, swarm, row }: Accepted, isV4: boolean, want: number): Buffer {
    if (want === 0) return NOTHING_TOLD.v4;
    const { upstream, swarms } = this.#parts;
    const told = upstream.registry.find(announce.hash);
    const own =
      told === undefined
        ? []
        : [announce.address, ...told.externalIps].map((ip) => compactOf(ip, announce.port));
    return pickPeers(swarms.rows, swarm, told ?? NOTHING_TOLD, { row, own }, isV4, want);
  }

  /** The peer id of a local peer, by its compact address; forwarders tell none. */
  peerIdAt(swarm: Swarm | undefined, entry: string): string | undefined {
    const { rows } = this.#parts.swarms;
    const target = Buffer.alloc(18);
    for (const row of swarm?.members ?? []) {
      if (!rows.copyCompact(row, entry.length === 6, target, 0)) continue;
      if (target.toString("latin1", 0, entry.length) === entry) return rows.peerIdOf(row);
    }
    return undefined;
  }

  scrape(hash: string, wantsUpstream = false): ScrapeCounts {
    const swarm = this.#parts.swarms.find(hash);
    const { complete, incomplete } = this.#counts(hash, swarm, wantsUpstream);
    return { complete, incomplete, downloaded: this.#parts.completed.of(hash) };
  }

  /** Undefined when it is not enabled. */
  fullScrape(wantsUpstream: boolean): Map<string, ScrapeCounts> | undefined {
    if (!this.#parts.settings.full_scrape) return undefined;
    const all = new Map<string, ScrapeCounts>();
    for (const [hash] of this.#parts.swarms.entries()) {
      if (all.size === FULL_SCRAPE_HASHES_MAX) break;
      all.set(hash, this.scrape(hash, wantsUpstream));
    }
    return all;
  }

  /** Removes peers that have said nothing for `age`, and what forwarders told before that. */
  async purge(): Promise<void> {
    const { swarms, upstream, settings, clock } = this.#parts;
    const before = clock.now() - settings.age * 60_000;
    for (let shard = 0; shard < SHARDS; shard++) {
      const gone: [string, string][] = [];
      const second = Math.floor(before / 1000);
      swarms.purge(shard, second, (hash, peerId) => gone.push([hash, peerId]));
      for (const [hash, peerId] of gone) {
        await upstream.announcer.gone(hash, peerId, swarms.find(hash) === undefined);
      }
      // One shard at a time, so that no request waits for all of them.
      await new Promise(setImmediate);
    }
    for (const entry of [...upstream.registry.all()]) await upstream.registry.age(entry, before);
  }

  #judge(hash: string): Refused | undefined {
    if (this.#allow.size === 0 && this.#deny.size === 0) return undefined;
    const hex = toHex(hash);
    if (this.#deny.has(hex)) return { failure: "this info hash is denied here" };
    if (this.#allow.size === 0 || this.#allow.has(hex)) return undefined;
    return { failure: "this info hash is not among those allowed here" };
  }

  #refuse(refused: Refused): Refused {
    this.refused++;
    return refused;
  }

  async #stopped(announce: Announce): Promise<Accepted> {
    const { swarms, upstream } = this.#parts;
    swarms.remove(announce.hash, announce.peerId);
    const isLast = swarms.find(announce.hash) === undefined;
    await upstream.announcer.stopped(announce, isLast);
    return this.#accept(announce, -1);
  }

  async #completed(announce: Announce, row: number, wasSeeder: boolean): Promise<Accepted> {
    const { completed, upstream } = this.#parts;
    const accepted = this.#accept(announce, row);
    await Promise.all([
      wasSeeder ? undefined : completed.add(announce.hash),
      upstream.announcer.completed(announce),
    ]);
    return accepted;
  }

  async #afterForwarding(
    announce: Announce,
    row: number,
    forwarded: Promise<Refused | undefined>,
  ): Promise<Accepted | Refused> {
    const isFirst = this.#parts.upstream.registry.find(announce.hash)?.wasForwarded !== true;
    const refused = await forwarded;
    if (refused !== undefined) return this.#refuse(refused);
    const waitMs = this.#parts.settings.first_announce_wait_ms;
    if (isFirst && waitMs > 0) await this.#firstAnswer(announce.hash, waitMs);
    // Others may have come and gone meanwhile.
    const { swarms } = this.#parts;
    const now = swarms.rowOf(announce.hash, announce.peerId);
    return this.#accept(announce, now === -1 ? row : now);
  }

  /** Resolves when a forwarder has told something, or the time is over. */
  async #firstAnswer(hash: string, waitMs: number): Promise<void> {
    const { upstream, clock } = this.#parts;
    const entry = upstream.registry.find(hash);
    if (entry === undefined || entry.caches.size > 0) return;
    await new Promise<void>((resolve) => {
      const timer = clock.at(clock.now() + waitMs, resolve);
      entry.waiters.push(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  #accept(announce: Announce, row: number): Accepted {
    const swarm = this.#parts.swarms.find(announce.hash);
    const { complete, incomplete } = this.#counts(announce.hash, swarm, true);
    return { announce, complete, incomplete, swarm, row };
  }

  /** Forwarders count our peers too, so the greater number holds and nothing is added up. */
  #counts(hash: string, swarm: Swarm | undefined, wantsUpstream: boolean) {
    const complete = swarm?.seeders ?? 0;
    const incomplete = (swarm?.members.length ?? 0) - complete;
    const told = wantsUpstream ? this.#parts.upstream.registry.find(hash) : undefined;
    if (told === undefined) return { complete, incomplete };
    return {
      complete: Math.max(complete, told.complete),
      incomplete: Math.max(incomplete, told.incomplete),
    };
  }

  #second(): number {
    return Math.floor(this.#parts.clock.now() / 1000);
  }
}

export function isRefused(answer: Accepted | Refused): answer is Refused {
  return "failure" in answer;
}
