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
import type { HashLists } from "./hash-lists.ts";
import { FULL_SCRAPE_HASHES_MAX } from "./limits.ts";
import type { CompletedCounts } from "./peers/completed-counts.ts";
import { NOTHING_TOLD, pickPeers } from "./peers/pick-peers.ts";
import type { Swarm, Swarms } from "./peers/swarms.ts";
import type { Settings } from "./settings/settings.ts";
import type { Upstream } from "./upstream/upstream.ts";
import {
  type Announce,
  addressOf,
  COMPLETED,
  endpointOf,
  portOf,
  type Refused,
  type ScrapeCounts,
  STARTED,
  STOPPED,
} from "./wire/announce.ts";

/** What an announce is answered with; the peers are chosen where the form is known. */
export interface Accepted {
  readonly announce: Announce;
  readonly complete: number;
  readonly incomplete: number;
  readonly swarm: Swarm;
}

export interface TrackerParts {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly swarms: Swarms;
  readonly lists: HashLists;
  readonly completed: CompletedCounts;
  readonly upstream: Upstream;
}

/** Rows that a purge looks at before others get their turn: less than a millisecond. */
const PURGE_ROWS = 16_384;

export class Tracker {
  readonly #parts: TrackerParts;
  announces = 0;
  scrapes = 0;
  refused = 0;

  constructor(parts: TrackerParts) {
    this.#parts = parts;
  }

  /**
   * Answers give this as the minimum interval, and also as the client's interval if intervals are
   * not spread.
   */
  get intervalSeconds(): number {
    return this.#parts.settings.announce_interval;
  }

  /** Always the same for one client, so that its announces come at even distances. */
  intervalOf({ peerId }: Announce): number {
    const { announce_interval: seconds, interval_spread_pct: percent } = this.#parts.settings;
    if (percent === 0) return seconds;
    const chance = ((peerId.charCodeAt(18) << 8) | peerId.charCodeAt(19)) / 0x10000;
    return seconds + Math.floor((seconds * percent * chance) / 100);
  }

  announce(announce: Announce): Accepted | Refused | Promise<Accepted | Refused> {
    this.announces++;
    const refused = this.#parts.lists.judge(announce.hash);
    if (refused !== undefined) return this.#refuse(refused);
    if (announce.event === STOPPED) return this.#stopped(announce);
    const { swarms } = this.#parts;
    const known = swarms.rowAt(announce);
    const wasSeeder = known !== -1 && swarms.rows.isSeeder(known);
    if (swarms.put(announce, this.#second(), known) === -1) {
      return this.#refuse({ failure: "tracker is full" });
    }
    if (announce.event === COMPLETED && !wasSeeder) return this.#completed(announce, known !== -1);
    return this.#forward(announce);
  }

  /** Another address of a client that is believed: a peer here, unknown to forwarders. */
  announceAside(announce: Announce): void {
    const { swarms, lists } = this.#parts;
    if (lists.judge(announce.hash) !== undefined) return;
    if (announce.event !== STOPPED) {
      swarms.put(announce, this.#second());
      return;
    }
    const row = swarms.rowAt(announce);
    if (row !== -1 && this.#isProven(row, announce)) swarms.remove(row);
  }

  /** Compact peers of one family for an accepted announce, to be taken before the next call. */
  peers({ announce, swarm }: Accepted, isV4: boolean, want: number): Buffer {
    if (want === 0 || announce.event === STOPPED) return NOTHING_TOLD.v4;
    const { upstream, swarms } = this.#parts;
    const { port, peerId } = announce;
    const told = upstream.registry.find(announce.hash);
    const addresses = told === undefined ? [] : [announce.address, ...told.externalIps];
    const own = addresses.map((address) => endpointOf({ address, port }));
    return pickPeers(swarms, swarm, told ?? NOTHING_TOLD, { peerId, own }, isV4, want);
  }

  /** The peer id of a local peer, where the operator lets clients see them. */
  peerIdAt(hash: string, endpoint: string): string | undefined {
    const { swarms, settings } = this.#parts;
    if (!settings.show_peer_ids) return undefined;
    const row = swarms.rowAt({ hash, address: addressOf(endpoint), port: portOf(endpoint) });
    return row === -1 ? undefined : swarms.rows.peerIdOf(row);
  }

  scrape(hash: string, wantsUpstream = false): ScrapeCounts {
    const swarm = this.#parts.swarms.find(hash);
    const { complete, incomplete } = this.#counts(hash, swarm, wantsUpstream);
    const downloaders = Math.max(0, incomplete - this.#parts.swarms.partial(swarm));
    return { complete, incomplete, downloaded: this.#parts.completed.of(hash), downloaders };
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

  /** Removes peers that were silent for `age`, and answers of forwarders that are older. */
  async purge(): Promise<void> {
    const { swarms, upstream, settings, clock } = this.#parts;
    const before = clock.now() - settings.age * 60_000;
    const second = Math.floor(before / 1000);
    for (let row = 0; row < swarms.rows.end; row += PURGE_ROWS) {
      const gone: [string, string][] = [];
      swarms.purge(row, row + PURGE_ROWS, second, (hash, address, port) =>
        gone.push([hash, endpointOf({ address, port })]),
      );
      for (const [hash, endpoint] of gone) {
        await upstream.announcer.gone(hash, endpoint, swarms.find(hash) === -1);
      }
      // Some rows at a time, so that no request waits for all of them.
      await new Promise(setImmediate);
    }
    for (const entry of [...upstream.registry.all()]) await upstream.registry.age(entry, before);
  }

  #refuse(refused: Refused): Refused {
    this.refused++;
    return refused;
  }

  /** Only a client with the peer's address, port, id and key may remove it. */
  #stopped(announce: Announce): Accepted | Promise<Accepted> {
    const { swarms, upstream } = this.#parts;
    const row = swarms.rowAt(announce);
    if (row === -1 || !this.#isProven(row, announce)) return this.#accept(announce);
    swarms.remove(row);
    const isLast = swarms.find(announce.hash) === -1;
    return upstream.announcer.stopped(announce, isLast).then(() => this.#accept(announce));
  }

  #isProven(row: number, { peerId, key }: Announce): boolean {
    const { rows } = this.#parts.swarms;
    if (!rows.hasPeerId(row, peerId)) return false;
    const known = rows.keyOf(row);
    return known === 0 || known === key;
  }

  /** If the peer was known here, the event is forwarded at once. A new peer is a first announce. */
  async #completed(announce: Announce, wasKnown: boolean): Promise<Accepted | Refused> {
    const { completed, upstream } = this.#parts;
    const counted = completed.add(announce.hash);
    if (!wasKnown) {
      await counted;
      return this.#forward({ ...announce, event: STARTED });
    }
    await Promise.all([counted, upstream.announcer.completed(announce)]);
    return this.#accept(announce);
  }

  #forward(announce: Announce): Accepted | Refused | Promise<Accepted | Refused> {
    const forwarded = this.#parts.upstream.announcer.announced(announce);
    if (forwarded === undefined) return this.#accept(announce);
    return this.#afterForwarding(announce, forwarded);
  }

  async #afterForwarding(
    announce: Announce,
    forwarded: Promise<Refused | undefined>,
  ): Promise<Accepted | Refused> {
    const isFirst = this.#parts.upstream.registry.find(announce.hash)?.wasForwarded !== true;
    const refused = await forwarded;
    if (refused !== undefined) return this.#refuse(refused);
    const waitMs = this.#parts.settings.first_announce_wait_ms;
    if (isFirst && waitMs > 0) await this.#firstAnswer(announce.hash, waitMs);
    return this.#accept(announce);
  }

  /** Resolves when a forwarder has answered, or when the time is over. */
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

  #accept(announce: Announce): Accepted {
    const swarm = this.#parts.swarms.find(announce.hash);
    const { complete, incomplete } = this.#counts(announce.hash, swarm, true);
    return { announce, complete, incomplete, swarm };
  }

  /** Forwarders count our peers too, so the greater number holds and nothing is added up. */
  #counts(hash: string, swarm: Swarm, wantsUpstream: boolean) {
    const { swarms } = this.#parts;
    const complete = swarms.seeders(swarm);
    const incomplete = swarms.count(swarm) - complete;
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
