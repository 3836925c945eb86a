/** What is left of an indexer's limits, and when a search would go. */
import type { GateInfo } from "sluice";
import { pruneQuery } from "../client/query.ts";
import { taskKey } from "../scheduler/normalise.ts";
import { maxWaitOf, PRIORITIES, type Priority } from "../scheduler/priority.ts";
import { type TaskJob, waitingTasks } from "./activity.ts";
import { hostOf, type IndexerRecord } from "./indexers.ts";
import { type Ahead, isBusy, limitsNow, nextAt, nextBehind } from "./limits-now.ts";
import { priorityOf, type SearchRequest, type TorznabService } from "./service.ts";

export interface WindowLeft {
  readonly limit: number;
  readonly per: number;
  readonly used: number;
  readonly left: number;
}

export interface Budget {
  readonly indexer: string;
  readonly windows: readonly WindowLeft[];
  readonly grabs: readonly WindowLeft[];
  /** What it shares with the other indexers of its host, where limits are set for that. */
  readonly host?: { name: string; running: number; windows: readonly WindowLeft[] };
  readonly running: number;
  readonly ladderStep: number;
  /** What the indexer itself last said of its limit, when it does. */
  readonly reported?: { current?: number; max?: number };
  readonly cooldown?: { until: number; reason: string };
  /** When a request of each priority could go, were nothing else waiting. */
  readonly nextSlot: Readonly<Record<Priority, number>>;
  readonly text: string;
}

export interface Dry {
  readonly indexer: string;
  readonly goes: "now" | "later" | "cached" | "rate_limited" | "skipped";
  readonly at?: number;
  readonly reason?: string;
}

export async function budgetOf(service: TorznabService, record: IndexerRecord): Promise<Budget> {
  const { clock, calls } = service.parts;
  const reported = calls.reported.get(record.id);
  const gates = await limitsNow(service.parts, record);
  const [gate, host] = gates;
  const [grab] = await limitsNow(service.parts, record, "grab");
  const nextSlot = Object.fromEntries(
    PRIORITIES.map((priority, tier) => [priority, nextAt(gates, tier, clock.now())]),
  ) as Record<Priority, number>;
  const windows = gate.windows.map(windowLeft);
  return {
    indexer: record.id,
    windows,
    grabs: grab.windows.map(windowLeft),
    ...(host === undefined
      ? {}
      : {
          host: {
            name: hostOf(record),
            running: host.inFlight,
            windows: host.windows.map(windowLeft),
          },
        }),
    running: gate.inFlight,
    ladderStep: gate.ladderStep,
    ...(reported === undefined ? {} : { reported }),
    ...(gate.cooldown === undefined ? {} : { cooldown: gate.cooldown }),
    nextSlot,
    text: say(windows, nextSlot.interactive, clock.now()),
  };
}

/** A dry run: nothing is asked, nothing is counted. */
export async function forecast(service: TorznabService, request: SearchRequest): Promise<Dry[]> {
  const { indexers } = service.parts;
  const records = request.indexers?.map((id) => indexers.get(id)) ?? indexers.all;
  const waiting = await waitingTasks(service);
  return Promise.all(records.map((record) => dryRun(service, record, request, waiting)));
}

async function dryRun(
  service: TorznabService,
  record: IndexerRecord,
  { query, priority = priorityOf(query), maxWaitMs, deadlineMs }: SearchRequest,
  waiting: readonly TaskJob[],
): Promise<Dry> {
  const { clock, indexers, settings } = service.parts;
  const indexer = record.id;
  const now = clock.now();
  const why = indexers.whyNot(record) ?? whyUnable(record, query);
  if (why !== undefined) return { indexer, goes: "skipped", reason: why };
  const { limit: _limit, offset: _offset, ...plain } = query;
  const cached = service.cache.get(taskKey(indexer, plain), now);
  if (cached !== undefined) return { indexer, goes: "cached", at: now };
  const gates = await limitsNow(service.parts, record);
  const tier = PRIORITIES.indexOf(priority);
  const ahead = aheadOf(service, indexer, tier, waiting);
  const opens = nextAt(gates, tier, now);
  const at = nextBehind(gates, tier, now, ahead);
  if (at <= now) return { indexer, goes: "now", at: now };
  const reason = reasonOf(gates, opens, ahead, now);
  const deadline = now + (deadlineMs ?? settings[`${priority}DeadlineMs`]);
  // How long a request takes is unknown, so a busy indexer is not skipped.
  if (isBusy(gates) && at <= deadline) return { indexer, goes: "later", at, reason };
  const waitsUntil = Math.min(now + (maxWaitOf(priority, maxWaitMs) ?? Infinity), deadline);
  const isLate = opens > waitsUntil || at > deadline;
  return { indexer, goes: isLate ? "rate_limited" : "later", at, reason };
}

/** The requests of this indexer that wait and go before one of this tier. */
export function aheadOf(
  { parts: { history } }: TorznabService,
  indexer: string,
  tier: number,
  waiting: readonly TaskJob[],
): Ahead {
  const mine = waiting.filter((job) => job.payload.indexer === indexer && job.tier <= tier);
  const last = history.last(indexer);
  const tookMs = last === undefined ? 0 : last.endedAt - last.at;
  return { tiers: mine.map((job) => job.tier).sort((a, b) => a - b), tookMs };
}

function reasonOf(
  [own, host]: readonly [GateInfo, GateInfo?],
  at: number,
  { tiers }: Ahead,
  now: number,
): string {
  if (own.cooldown !== undefined && own.cooldown.until >= at) return own.cooldown.reason;
  if (tiers.length === 1) return "a request that waits for this indexer goes first";
  if (tiers.length > 1) return `${tiers.length} requests that wait for this indexer go first`;
  if (own.inFlight > 0) return "it is being asked";
  const shared = host === undefined ? 0 : (host.opensAtByTier[0] ?? 0);
  const isOwn = at > shared || shared <= now;
  return isOwn ? limitOf(own, at) : `${limitOf(host!, at)} (shared by all indexers of its host)`;
}

function limitOf({ windows, opensAtByTier }: GateInfo, at: number): string {
  // Only the spacing differs from tier to tier.
  const isSpacing = at > (opensAtByTier[0] ?? at);
  const full = windows.find(({ limit, used }) => used >= limit);
  if (full === undefined || isSpacing) return "the spacing between two requests";
  return `all ${full.limit} requests of its window are used`;
}

function whyUnable({ caps }: IndexerRecord, query: SearchRequest["query"]): string | undefined {
  try {
    if (caps !== undefined) pruneQuery(query, caps);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

export function windowLeft(window: Omit<WindowLeft, "left">): WindowLeft {
  return { ...window, left: Math.max(0, window.limit - window.used) };
}

function say(windows: Budget["windows"], at: number, now: number): string {
  const [tightest] = [...windows].sort((a, b) => a.left / a.limit - b.left / b.limit);
  const slot = at <= now ? "next slot now" : `next slot ${new Date(at).toISOString()}`;
  if (tightest === undefined) return `no window set, ${slot}`;
  return `${tightest.left} of ${tightest.limit} left, ${slot}`;
}
