/** The figures of the retracker, gathered when they are asked for. */
import type { Clock } from "sluice";
import type { Admission } from "../admission.ts";
import type { Swarms } from "../peers/swarms.ts";
import type { Tracker } from "../tracker.ts";
import type { Forwarder } from "../upstream/forwarder.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { WebServer } from "../webtorrent/web-server.ts";

export interface ForwarderStatistics {
  name: string;
  protocol: string;
  state: string;
  reason: string;
  /** Why the last announce that did not succeed did not; empty when all did. */
  last_failure: string;
  /** Seconds since then; -1 when all succeeded. */
  last_failure_seconds: number;
  /** Seconds for which it is suspended; -1 when it is not. */
  suspended_seconds: number;
  /** Seconds since the state began; -1 when it never changed. */
  since_seconds: number;
  /** Seconds to the next probe; -1 when none is planned. */
  next_probe_seconds: number;
  average_response_ms: number;
  last_interval: number;
  answers: number;
  failures: number;
  dropped_full: number;
}

export interface Statistics {
  queue_depth: number;
  queue_capacity: number;
  queue_fill_pct: number;
  dropped_full: number;
  rate_limited: number;
  throttled_forwarders: number;
  active_workers: number;
  max_workers: number;
  pending_jobs: number;
  evicted: number;
  tracked_hashes: number;
  active_forwarders: number;
  disabled_forwarders: number;
  local_peers: number;
  seeders: number;
  leechers: number;
  peers_ipv4: number;
  peers_ipv6: number;
  web_peers: number;
  web_announces: number;
  announces: number;
  scrapes: number;
  refused: number;
  scheduled_announces: { info_hash: string; forwarder: string; time_to_exec: number }[];
  forwarders: ForwarderStatistics[];
  /** In private mode: the keys by name. */
  passkeys: { name: string; announces: number; last_used_seconds: number }[];
}

export interface StatisticsParts {
  readonly clock: Clock;
  readonly tracker: Tracker;
  readonly swarms: Swarms;
  readonly upstream: Upstream;
  readonly web: WebServer | undefined;
  readonly admission: Admission;
  readonly maxWorkers: number;
}

const SCHEDULED_SHOWN = 10;
/** Delayed jobs that are looked through for the next ones. */
const SCHEDULED_LOOKED_AT = 20_000;

export async function gather(parts: StatisticsParts): Promise<Statistics> {
  const { upstream, tracker, swarms, clock, maxWorkers, web, admission } = parts;
  const { announcer, forwarders, queue, workers } = upstream;
  const now = clock.now();
  const figures = await queue.figures();
  const all = forwarders.all.map((forwarder) => ofForwarder(forwarder, now));
  const isUsable = ({ state }: ForwarderStatistics): boolean =>
    state !== "disabled" && state !== "off";
  const active = all.filter(isUsable).length;
  return {
    queue_depth: figures.depth,
    queue_capacity: figures.capacity,
    queue_fill_pct: Math.min(100, Math.round((figures.depth / figures.capacity) * 1000) / 10),
    dropped_full: announcer.droppedFull,
    rate_limited: announcer.rateLimited,
    throttled_forwarders: announcer.throttled,
    active_workers: workers.concurrency,
    max_workers: maxWorkers,
    pending_jobs: figures.pending,
    evicted: swarms.evicted,
    tracked_hashes: swarms.hashes,
    active_forwarders: active,
    disabled_forwarders: all.length - active,
    local_peers: swarms.peers,
    seeders: swarms.allSeeders,
    leechers: swarms.peers - swarms.allSeeders,
    peers_ipv4: swarms.peersV4,
    peers_ipv6: swarms.peers - swarms.peersV4,
    web_peers: web?.swarms.peers ?? 0,
    web_announces: web?.announces ?? 0,
    announces: tracker.announces,
    scrapes: tracker.scrapes,
    refused: tracker.refused + admission.refused,
    scheduled_announces: figures.delayed === 0 ? [] : await scheduled(upstream, now),
    forwarders: all,
    passkeys: admission.keys.map(({ name, announces, lastUsedAt }) => ({
      name,
      announces,
      last_used_seconds: lastUsedAt === 0 ? -1 : Math.round((now - lastUsedAt) / 1000),
    })),
  };
}

async function scheduled(
  upstream: Upstream,
  now: number,
): Promise<Statistics["scheduled_announces"]> {
  const found: { hash: string; forwarder: string; at: number }[] = [];
  let looked = 0;
  for await (const { job, at } of upstream.queue.queued()) {
    if (++looked > SCHEDULED_LOOKED_AT) break;
    if (at !== undefined) found.push({ hash: job.hash, forwarder: job.forwarder, at });
  }
  found.sort((a, b) => a.at - b.at);
  return found.slice(0, SCHEDULED_SHOWN).map(({ hash, forwarder, at }) => ({
    info_hash: hash,
    forwarder,
    time_to_exec: Math.max(0, Math.round((at - now) / 1000)),
  }));
}

function ofForwarder(forwarder: Forwarder, now: number): ForwarderStatistics {
  const state = forwarder.stateAt(now);
  const { since, probeAt, lastFailure, suspendedUntil } = forwarder;
  return {
    name: forwarder.name,
    protocol: forwarder.spec.protocol,
    state,
    reason: state === "active" ? "" : forwarder.reason,
    last_failure: lastFailure.reason,
    last_failure_seconds: lastFailure.at === 0 ? -1 : Math.round((now - lastFailure.at) / 1000),
    suspended_seconds: state === "suspended" ? Math.ceil((suspendedUntil - now) / 1000) : -1,
    since_seconds: since === 0 ? -1 : Math.round((now - since) / 1000),
    next_probe_seconds: probeAt === 0 ? -1 : Math.max(0, Math.round((probeAt - now) / 1000)),
    average_response_ms: Math.round(forwarder.averageMs),
    last_interval: forwarder.lastIntervalSeconds,
    answers: forwarder.answers,
    failures: forwarder.failures,
    dropped_full: forwarder.droppedFull,
  };
}
