/** What is left of an indexer's limits, and when a search would go. */
import type { GateInfo } from "sluice";
import { pruneQuery } from "../client/query.ts";
import { gateKey, gateOptions } from "../scheduler/limits-of.ts";
import { taskKey } from "../scheduler/normalise.ts";
import { INTERVAL_FACTORS, maxWaitOf, PRIORITIES, type Priority } from "../scheduler/priority.ts";
import { type IndexerRecord, Indexers } from "./indexers.ts";
import { priorityOf, type SearchRequest, type TorznabService } from "./service.ts";

export interface Budget {
  readonly indexer: string;
  readonly windows: readonly { limit: number; per: number; used: number; left: number }[];
  readonly grabs: readonly { limit: number; per: number; used: number; left: number }[];
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
  const gate = await gateOf(service, record, "query");
  const grab = await gateOf(service, record, "grab");
  const nextSlot = Object.fromEntries(
    PRIORITIES.map((priority, tier) => [priority, nextAt(gate, tier, clock.now())]),
  ) as Record<Priority, number>;
  const windows = gate.windows.map(left);
  return {
    indexer: record.id,
    windows,
    grabs: grab.windows.map(left),
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
  return Promise.all(records.map((record) => dryRun(service, record, request)));
}

async function dryRun(
  service: TorznabService,
  record: IndexerRecord,
  { query, priority = priorityOf(query), maxWaitMs, deadlineMs }: SearchRequest,
): Promise<Dry> {
  const { clock, indexers, settings } = service.parts;
  const indexer = record.id;
  const now = clock.now();
  const why = indexers.whyNot(record) ?? whyUnable(record, query);
  if (why !== undefined) return { indexer, goes: "skipped", reason: why };
  const { limit: _limit, offset: _offset, ...plain } = query;
  const cached = service.cache.get(taskKey(indexer, plain), now);
  if (cached !== undefined) return { indexer, goes: "cached", at: now };
  const gate = await gateOf(service, record, "query");
  const at = nextAt(gate, PRIORITIES.indexOf(priority), now);
  if (at <= now) return { indexer, goes: "now", at: now };
  const reason = reasonOf(gate, at);
  // How long it is busy is unknown, so that it is not skipped for that.
  if (gate.inFlight > 0) return { indexer, goes: "later", at, reason };
  const mostMs = Math.min(
    maxWaitOf(priority, maxWaitMs) ?? Infinity,
    deadlineMs ?? settings[`${priority}DeadlineMs`],
  );
  return { indexer, goes: at - now > mostMs ? "rate_limited" : "later", at, reason };
}

function reasonOf(gate: GateInfo, at: number): string {
  const { cooldown, windows, inFlight, opensAtByTier } = gate;
  if (cooldown !== undefined && cooldown.until >= at) return cooldown.reason;
  if (inFlight > 0) return "it is being asked";
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

/** An indexer that was never asked has no gate yet. */
async function gateOf(
  { parts: { sluice } }: TorznabService,
  record: IndexerRecord,
  budget: "query" | "grab",
): Promise<GateInfo> {
  const gate = sluice.gate(gateKey(record.id, budget));
  const info = await gate.info();
  return info.config === undefined ? gate.set(gateOptions(Indexers.limited(record), budget)) : info;
}

/** The gate has a clock of its own, which never goes back: the two are a little apart. */
const CLOCKS_APART_MS = 50;

/** While it is being asked, the spacing begins at the earliest now. */
function nextAt({ opensAtByTier, inFlight, config }: GateInfo, tier: number, now: number): number {
  const timed = opensAtByTier[Math.min(tier, opensAtByTier.length - 1)] ?? now;
  const at = timed <= now + CLOCKS_APART_MS ? now : timed;
  if (inFlight === 0) return at;
  const { every = 0, floor = 0 } = config?.interval ?? {};
  return Math.max(at, now + Math.max(every * INTERVAL_FACTORS[tier]!, floor));
}

function left(window: { limit: number; per: number; used: number }) {
  return { ...window, left: Math.max(0, window.limit - window.used) };
}

function say(windows: Budget["windows"], at: number, now: number): string {
  const [tightest] = [...windows].sort((a, b) => a.left / a.limit - b.left / b.limit);
  const slot = at <= now ? "next slot now" : `next slot ${new Date(at).toISOString()}`;
  if (tightest === undefined) return `no window set, ${slot}`;
  return `${tightest.left} of ${tightest.limit} left, ${slot}`;
}
