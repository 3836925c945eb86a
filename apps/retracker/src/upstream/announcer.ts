/**
 * Decides who is announced to which forwarder, and puts it into the queue. The client's answer
 * never waits for a forwarder; it may wait for the queue to say whether it has room.
 */
import type { Clock } from "sluice";
import { Chore } from "../chore.ts";
import type { Settings } from "../settings/settings.ts";
import {
  type Announce,
  COMPLETED,
  endpointOf,
  NONE,
  type Refused,
  STOPPED,
} from "../wire/announce.ts";
import { fromHex, toHex } from "../wire/hex.ts";
import { AnnounceBucket } from "./announce-bucket.ts";
import { type AnnounceJob, endpointOfJob, isAside, jobOf } from "./announce-job.ts";
import type { AnnounceQueue } from "./announce-queue.ts";
import { BUCKET_MS, DuePeers } from "./due-peers.ts";
import type { Forwarder } from "./forwarder.ts";
import type { Forwarders } from "./forwarders.ts";
import type { PeerEntry, Registration, Registry } from "./registry.ts";

/** A peer some of whose forwarders were passed over is looked at again after this long. */
const REST_AGAIN_MS = 10_000;
/** And this long when there was no room: looking is what costs most then. */
const FULL_AGAIN_MS = 60_000;
/** The timer comes this much later than the time a forwarder named, at most. */
const JITTER = 0.05;
const JITTER_MS_MAX = 60_000;
/** Peers that one turn of the timer looks at, and after how many others get their turn. */
const DUE_PER_TURN = 500;
const DUE_AT_ONCE = 10;

export interface AnnouncerOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly queue: AnnounceQueue;
  readonly registry: Registry;
  readonly forwarders: Forwarders;
  /** What a local peer said last, or undefined when it is gone. */
  localPeer(hash: string, endpoint: string): Announce | undefined;
  /** Whether a hash may be sent to any forwarder. */
  isForwarded(hash: string): boolean;
  /** Whether this one may. */
  mayLeave(hash: string, forwarder: string): boolean;
  onError(error: unknown): void;
}

export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #bucket: AnnounceBucket;
  readonly #duePeers = new DuePeers();
  readonly #chore: Chore;
  /** Pairs of peer and forwarder of which a job runs. */
  readonly #running = new Set<string>();
  rateLimited = 0;
  throttled = 0;
  droppedFull = 0;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    const { settings, clock, onError } = options;
    const { rate_limit_initial_per_sec: rate, rate_limit_initial_burst: burst } = settings;
    this.#bucket = new AnnounceBucket(rate, burst, clock.now());
    const run = (): Promise<void> => this.#turn();
    this.#chore = new Chore({ clock, everyMs: BUCKET_MS, run, onError });
  }

  async close(): Promise<void> {
    await this.#chore.stop();
  }

  /** A first or later announce. Answers at once when there is nothing to do. */
  announced(announce: Announce): undefined | Promise<Refused | undefined> {
    const { forwarders, registry, clock } = this.#options;
    if (forwarders.all.length === 0) return undefined;
    const peer = registry.findPeer(announce.hash, endpointOf(announce));
    const isQuiet = peer?.version === forwarders.version && peer.lookAt > clock.now();
    if (isQuiet || !this.#options.isForwarded(announce.hash)) return undefined;
    return this.#forward(announce);
  }

  /** `completed` goes to all forwarders that are enabled and may get the hash. */
  async completed(announce: Announce): Promise<void> {
    const { forwarders, registry } = this.#options;
    if (!this.#options.isForwarded(announce.hash)) return;
    const told = forwarders.all.filter((forwarder) => this.#canTell(forwarder, announce.hash));
    if (told.length === 0) return;
    registry.peer(announce.hash, endpointOf(announce));
    registry.find(announce.hash)!.wasForwarded = true;
    await this.#addEvents(
      announce,
      told.map(({ name }) => jobOf({ ...announce, event: COMPLETED }, name)),
    );
  }

  /** `stopped` goes to the forwarders that know the peer, or to which its announce is running. */
  async stopped(announce: Announce, isLast: boolean): Promise<void> {
    const { registry, queue, forwarders } = this.#options;
    const peer = registry.findPeer(announce.hash, endpointOf(announce));
    if (peer === undefined) return;
    this.#duePeers.remove(peer);
    const told: string[] = [];
    const waiting: string[] = [];
    for (const [name, registration] of peer.registrations) {
      const forwarder = forwarders.find(name);
      const isRunning = registration.isPending && this.#running.has(pairOf(announce, name));
      if (registration.job !== undefined && !isRunning) waiting.push(registration.job);
      const isWanted = registration.isKnown || isRunning;
      if (isWanted && forwarder && this.#canTell(forwarder, announce.hash)) told.push(name);
    }
    await Promise.all([
      ...waiting.map((id) => queue.cancel(id)),
      this.#addEvents(
        announce,
        told.map((name) => this.#stoppedJob(announce, name)),
      ),
      isLast ? registry.dropHash(announce.hash) : registry.dropPeer(announce.hash, peer.endpoint),
    ]);
  }

  /** Says that a job of a peer at a forwarder runs; the answer ends it. */
  runs(announce: Announce, name: string): () => void {
    const pair = pairOf(announce, name);
    this.#running.add(pair);
    return () => void this.#running.delete(pair);
  }

  /** A local peer has aged out. */
  async gone(hash: string, endpoint: string, isLast: boolean): Promise<void> {
    const peer = this.#options.registry.findPeer(hash, endpoint);
    if (peer !== undefined) this.#duePeers.remove(peer);
    const { registry } = this.#options;
    await (isLast ? registry.dropHash(hash) : registry.dropPeer(hash, endpoint));
  }

  /** Has a peer looked at when a time has come, with jitter so that not all come at once. */
  schedule(hash: string, endpoint: string, at: number): void {
    const peer = this.#options.registry.findPeer(hash, endpoint);
    if (peer === undefined) return;
    peer.lookAt = Math.min(peer.lookAt, at);
    const now = this.#options.clock.now();
    const spread = Math.min(Math.max(peer.lookAt - now, 0) * JITTER, JITTER_MS_MAX);
    this.#duePeers.set(peer, Math.max(peer.lookAt, now) + Math.random() * spread);
  }

  /** A forwarder takes announces (again): every local peer is looked at within a minute. */
  scheduleAll(): void {
    const now = this.#options.clock.now();
    for (const entry of this.#options.registry.all()) {
      for (const peer of entry.peers.values()) {
        peer.lookAt = now;
        this.#duePeers.set(peer, now + Math.random() * JITTER_MS_MAX);
      }
    }
  }

  /** Tries a disabled forwarder with a local peer; it passes the others by. */
  async probe(announce: Announce, forwarder: Forwarder): Promise<void> {
    forwarder.isProbeDue = false;
    const job = jobOf({ ...announce, event: NONE }, forwarder.name);
    await this.#options.queue.add([{ ...job, isProbe: true }]);
  }

  /** Cancels the queued announces of a forwarder. Its events end when their turn comes. */
  async cancelAll(name: string): Promise<void> {
    const cancelled: Promise<void>[] = [];
    for (const entry of this.#options.registry.all()) {
      for (const { hash, endpoint, registrations } of entry.peers.values()) {
        const registration = registrations.get(name);
        if (!registration?.isPending || this.#running.has(hash + endpoint + name)) continue;
        if (registration.job !== undefined)
          cancelled.push(this.#options.queue.cancel(registration.job));
        registration.isPending = false;
        registration.job = undefined;
      }
    }
    await Promise.all(cancelled);
  }

  /** After a restart: peers are due when the registry says, and queued jobs are marked. */
  async resume(): Promise<void> {
    const { registry, queue } = this.#options;
    for await (const { id, job, at } of queue.queued()) {
      if (at === undefined) queue.restored(id, job);
      if (isAside(job)) continue;
      const peer = registry.peer(fromHex(job.hash), endpointOfJob(job));
      const registration = registry.registration(peer, job.forwarder);
      registry.find(peer.hash)!.wasForwarded = true;
      if (registration === undefined) continue;
      registration.isPending = true;
      registration.job = id;
    }
    for (const entry of registry.all()) {
      for (const peer of entry.peers.values()) {
        const times = [...peer.registrations.values()].map(({ next }) => next);
        peer.lookAt = Number.POSITIVE_INFINITY;
        this.schedule(peer.hash, peer.endpoint, Math.min(...times, Number.MAX_SAFE_INTEGER));
      }
    }
  }

  /** A queue that is well filled gets nothing from the timer: clients go first. */
  async #turn(): Promise<void> {
    const { clock, queue, settings } = this.#options;
    const due = this.#duePeers.takeDue(clock.now(), DUE_PER_TURN);
    for (const [i, peer] of due.entries()) {
      if ((await queue.fill()) * 100 >= settings.queue_throttle_threshold) {
        this.#postpone(due.slice(i));
        return;
      }
      const announce = this.#options.localPeer(peer.hash, peer.endpoint);
      if (announce !== undefined) await this.#forward({ ...announce, event: NONE });
      if (i % DUE_AT_ONCE === DUE_AT_ONCE - 1) await new Promise(setImmediate);
    }
  }

  #postpone(peers: readonly PeerEntry[]): void {
    const at = this.#options.clock.now() + FULL_AGAIN_MS;
    for (const peer of peers) this.#duePeers.set(peer, at + Math.random() * FULL_AGAIN_MS);
  }

  /** The hash may be forgotten before the job runs. */
  #stoppedJob(announce: Announce, name: string): AnnounceJob {
    const job = jobOf({ ...announce, event: STOPPED }, name);
    const cache = this.#options.registry.find(announce.hash)?.caches.get(name);
    return cache?.trackerId === undefined ? job : { ...job, trackerId: toHex(cache.trackerId) };
  }

  #canTell(forwarder: Forwarder, hash: string): boolean {
    const state = forwarder.stateAt(this.#options.clock.now());
    if (state === "disabled" || state === "off") return false;
    return this.#options.mayLeave(hash, forwarder.name);
  }

  async #forward(announce: Announce): Promise<Refused | undefined> {
    const { registry, queue, settings, clock } = this.#options;
    const { jobs: room, fill } = await queue.room(announce.address);
    const isFirst = registry.find(announce.hash)?.wasForwarded !== true;
    if (isFirst && room === 0) return queueFull(settings);
    const eligible = this.#eligible(announce);
    if (eligible.length === 0) return undefined;
    const refused = isFirst ? this.#refuse(fill) : undefined;
    if (refused !== undefined) return refused;
    const chosen = shuffle(eligible).slice(0, this.#fanOut(fill));
    this.throttled += eligible.length - chosen.length;
    for (const forwarder of chosen.slice(room)) this.#drop(forwarder);
    const peer = registry.peer(announce.hash, endpointOf(announce));
    const added = room === 0 ? 0 : await this.#add(announce, peer, chosen.slice(0, room));
    const entry = registry.find(announce.hash);
    if (added > 0 && entry !== undefined) entry.wasForwarded = true;
    if (added < eligible.length) {
      const againMs = added < chosen.length ? FULL_AGAIN_MS : REST_AGAIN_MS;
      this.schedule(peer.hash, peer.endpoint, clock.now() + againMs);
    }
    return added > 0 || !isFirst ? undefined : queueFull(settings);
  }

  /** Only first announces are refused; tokens are taken only when the queue is that full. */
  #refuse(fill: number): Refused | undefined {
    const { settings, clock } = this.#options;
    const threshold = settings.queue_rate_limit_threshold / 100;
    if (threshold === 0 || fill < threshold || this.#bucket.take(clock.now())) return undefined;
    this.rateLimited++;
    return {
      failure: `tracker busy, retry in ${settings.retry_period} seconds`,
      retryInMinutes: Math.ceil(settings.retry_period / 60),
    };
  }

  #fanOut(fill: number): number {
    const { settings } = this.#options;
    const { max_forwarders_per_announce: most, queue_throttle_top_n: top } = settings;
    const isFull = fill * 100 >= settings.queue_throttle_threshold;
    return isFull && top > 0 ? Math.min(most, top) : most;
  }

  /** Also notes when the next look at this peer is of use. */
  #eligible({ hash, address, port }: Announce): Forwarder[] {
    const { forwarders, registry, clock } = this.#options;
    const now = clock.now();
    const endpoint = endpointOf({ address, port });
    const peer = registry.findPeer(hash, endpoint);
    const eligible: Forwarder[] = [];
    let lookAt = Number.POSITIVE_INFINITY;
    for (const forwarder of forwarders.all) {
      const registration = peer?.registrations.get(forwarder.name);
      if (registration?.isPending || !this.#options.mayLeave(hash, forwarder.name)) continue;
      const state = forwarder.stateAt(now);
      const isProbe = state === "disabled" && forwarder.isProbeDue;
      if (!isProbe && (state === "disabled" || state === "off")) continue;
      const until = state === "suspended" ? forwarder.suspendedUntil : 0;
      const at = Math.max(registration?.next ?? 0, until);
      if (at <= now) eligible.push(forwarder);
      else lookAt = Math.min(lookAt, at);
    }
    if (peer !== undefined) {
      peer.lookAt = lookAt;
      peer.version = forwarders.version;
      if (lookAt !== Number.POSITIVE_INFINITY) this.schedule(hash, endpoint, lookAt);
    }
    return eligible;
  }

  /** Marks, queues, and takes the marks off again where there was no room. */
  async #add(announce: Announce, peer: PeerEntry, chosen: readonly Forwarder[]): Promise<number> {
    const { registry, queue, forwarders } = this.#options;
    const marked: [Forwarder, Registration][] = [];
    for (const forwarder of chosen) {
      const registration = registry.registration(peer, forwarder.name);
      if (registration === undefined) this.#drop(forwarder);
      else {
        registration.isPending = true;
        marked.push([forwarder, registration]);
      }
    }
    peer.version = forwarders.version;
    const jobs = marked.map(([forwarder]) => {
      const job = jobOf(announce, forwarder.name);
      const isProbe = forwarder.isProbeDue;
      forwarder.isProbeDue = false;
      return isProbe ? { ...job, isProbe: true as const } : job;
    });
    const ids = await queue.add(jobs);
    let added = 0;
    for (const [i, [forwarder, registration]] of marked.entries()) {
      registration.job = ids[i];
      if (ids[i] === undefined) {
        registration.isPending = false;
        this.#drop(forwarder);
      } else added++;
    }
    return added;
  }

  /** Events are not bounded by the queue's capacity, but one address cannot fill the memory. */
  async #addEvents({ address }: Announce, jobs: readonly AnnounceJob[]): Promise<void> {
    const { queue, forwarders } = this.#options;
    const room = queue.eventRoom(address);
    const ids = await queue.add(jobs.slice(0, room));
    for (const [i, job] of jobs.entries()) {
      const forwarder = ids[i] === undefined ? forwarders.find(job.forwarder) : undefined;
      if (forwarder !== undefined) this.#drop(forwarder);
    }
  }

  #drop(forwarder: Forwarder): void {
    this.droppedFull++;
    forwarder.droppedFull++;
  }
}

function queueFull({ retry_period }: Settings): Refused {
  const minutes = Math.ceil(retry_period / 60);
  return { failure: `tracker queue full, retry in ${minutes} minutes`, retryInMinutes: minutes };
}

/** One peer of one hash at one forwarder. */
export function pairOf(announce: Announce, name: string): string {
  return announce.hash + endpointOf(announce) + name;
}

function shuffle<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
