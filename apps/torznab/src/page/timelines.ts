/**
 * Requests, cooldowns and budgets on lines of time. The past is what the history has, the present
 * what the gates say, and the future what both foretell.
 */
import type { AppSection, AppTimeline } from "sluice/http";
import { HISTORY_PAGE_MAX } from "../limits.ts";
import { type TaskJob, waitingTasks } from "../service/activity.ts";
import { aheadOf, type Budget, budgetOf, type WindowLeft } from "../service/forecast.ts";
import { hostOf, type IndexerRecord } from "../service/indexers.ts";
import { limitsNow, nextBehind } from "../service/limits-now.ts";
import type { HistoryRow } from "../service/search-history.ts";
import type { TorznabService } from "../service/service.ts";
import { about, perText } from "./indexer-forms.ts";

const HOUR_MS = 3_600_000;
const FORECAST_MS_MAX = 24 * HOUR_MS;
/** Requests that wait and are drawn, of one indexer. */
const WAITING_SHOWN = 20;
/** Parts of a window's line: as fine as a screen shows. */
const STEPS = 96;

export async function timelineSections(service: TorznabService): Promise<AppSection[]> {
  const { indexers, history, clock } = service.parts;
  const now = clock.now();
  const rows = history.rows({ limit: HISTORY_PAGE_MAX });
  const waiting = await waitingTasks(service);
  const drawn = await Promise.all(
    indexers.all.map(async (record) => {
      const budget = await budgetOf(service, record);
      return { record, budget, waits: await forecastOf(service, record, waiting) };
    }),
  );
  if (drawn.length === 0) return [];
  const ends = drawn.flatMap(({ budget, waits }) => [budget.cooldown?.until ?? 0, ...waits]);
  const to = Math.min(now + FORECAST_MS_MAX, Math.max(now + HOUR_MS, ...ends));
  return [
    {
      kind: "timeline",
      title: "Requests, cooldowns and forecast",
      from: now - HOUR_MS,
      to,
      rows: drawn.map((one) => requestsOf({ ...one, rows, now })),
    },
    ...budgetSections(service, drawn, rows, now),
  ];
}

/** When each of the requests that wait for an indexer goes, at the earliest. */
async function forecastOf(
  service: TorznabService,
  record: IndexerRecord,
  waiting: readonly TaskJob[],
): Promise<number[]> {
  const now = service.parts.clock.now();
  const { tiers, tookMs } = aheadOf(service, record.id, Infinity, waiting);
  if (tiers.length === 0) return [];
  const gates = await limitsNow(service.parts, record);
  return tiers
    .slice(0, WAITING_SHOWN)
    .map((tier, i) => nextBehind(gates, tier, now, { tiers: tiers.slice(0, i), tookMs }));
}

interface Drawn {
  readonly record: IndexerRecord;
  readonly budget: Budget;
  readonly waits: readonly number[];
}

interface WithHistory extends Drawn {
  readonly rows: readonly HistoryRow[];
  readonly now: number;
}

function requestsOf({ record, budget, waits, rows, now }: WithHistory): AppTimeline {
  const { cooldown, nextSlot } = budget;
  const own = rows.filter(({ indexer }) => indexer === record.id);
  const past = own.map(({ at, status, what, error }) => ({
    at,
    text: `${what}: ${status}${error === undefined ? "" : `, ${error}`}`,
    tone: toneOf(status),
  }));
  // Less than a second is nothing that one could see.
  const shut = nextSlot.interactive - now < 1_000 ? 0 : nextSlot.interactive - now;
  const parts = [
    shut <= 0 ? "next slot now" : `next slot in ${about(shut)}`,
    ...(waits.length === 0 ? [] : [`${waits.length} waiting`]),
    ...(cooldown === undefined ? [] : [`cooling down for ${about(cooldown.until - now)}`]),
  ];
  return {
    label: record.name,
    text: record.enabled ? parts.join(", ") : "paused",
    spans: [
      ...(shut > 0 && cooldown === undefined
        ? [{ from: now, to: nextSlot.interactive, text: budget.text, tone: "warn" as const }]
        : []),
      ...(cooldown === undefined
        ? []
        : [{ from: now, to: cooldown.until, text: cooldown.reason, tone: "bad" as const }]),
    ],
    marks: [...past, ...waits.map((at) => ({ at, text: "forecast of a request that waits" }))],
  };
}

function toneOf(status: HistoryRow["status"]): "good" | "warn" | "bad" {
  if (status === "ok" || status === "empty") return "good";
  return status === "error" || status === "timeout" ? "bad" : "warn";
}

interface Window {
  readonly label: string;
  readonly window: WindowLeft;
  /** When the requests that it counts were made. */
  readonly times: readonly number[];
}

/** One section for each length of a window, the longest first: they need scales of their own. */
function budgetSections(
  service: TorznabService,
  drawn: readonly Drawn[],
  rows: readonly HistoryRow[],
  now: number,
): AppSection[] {
  const windows = [
    ...drawn.flatMap(({ record, budget }) => windowsOf(record, budget, rows)),
    ...hostWindows(service, drawn, rows),
  ];
  const lengths = [...new Set(windows.map(({ window }) => window.per))].sort((a, b) => b - a);
  return lengths.map((per) => ({
    kind: "timeline",
    title: `Budgets per ${perText(per)}`,
    from: now - per,
    to: now + per,
    rows: windows
      .filter(({ window }) => window.per === per)
      .map(({ label, window, times }) => budgetLine(label, window, times, now)),
  }));
}

function windowsOf(
  { id, name }: IndexerRecord,
  { windows, grabs }: Budget,
  rows: readonly HistoryRow[],
): Window[] {
  const own = rows.filter(({ indexer }) => indexer === id);
  const timesOf = (isGrab: boolean) =>
    own.filter(({ kind }) => (kind === "download") === isGrab).map(({ at }) => at);
  return [
    ...windows.map((window) => ({ label: name, window, times: timesOf(false) })),
    ...grabs.map((window) => ({ label: `${name}, downloads`, window, times: timesOf(true) })),
  ];
}

function hostWindows(
  { parts: { hosts } }: TorznabService,
  drawn: readonly Drawn[],
  rows: readonly HistoryRow[],
): Window[] {
  return hosts.all.flatMap(({ host }) => {
    const sharing = drawn.filter(({ record }) => hostOf(record) === host);
    const ids = new Set(sharing.map(({ record }) => record.id));
    const times = rows.filter(({ indexer }) => ids.has(indexer)).map(({ at }) => at);
    const windows = sharing[0]?.budget.host?.windows ?? [];
    return windows.map((window) => ({ label: `host ${host}`, window, times }));
  });
}

/** What was left of a window over its last length, and what becomes free over the next. */
function budgetLine(
  label: string,
  { limit, per, left }: WindowLeft,
  times: readonly number[],
  now: number,
): AppTimeline {
  const counted = times.filter((at) => at > now - 2 * per && at <= now);
  const leftAt = (at: number): number =>
    limit - counted.filter((one) => one > at - per && one <= at).length;
  const spans: AppTimeline["spans"] = [];
  for (let i = 0; i < STEPS; i++) {
    const from = now - per + (i * 2 * per) / STEPS;
    const to = from + (2 * per) / STEPS;
    const free = Math.max(0, leftAt(to));
    const text = `${free} of ${limit} left`;
    const before = spans.at(-1);
    if (before?.text === text) before.to = to;
    else spans.push({ from, to, text, tone: fillTone(free, limit) });
  }
  const oldest = Math.min(...counted.filter((at) => at > now - per));
  const next = left < limit && Number.isFinite(oldest) ? oldest + per - now : 0;
  const soon = next > 0 ? `, one more in ${about(next)}` : "";
  return { label, text: `${left} of ${limit} left${soon}`, spans, marks: [] };
}

function fillTone(left: number, limit: number): "good" | "warn" | "bad" {
  if (left === 0) return "bad";
  return left / limit < 0.25 ? "warn" : "good";
}
