/** All queues at a glance, a page at a time, those that need attention first. */
import {
  allQueues,
  type Broker,
  type Clock,
  type Overview,
  type OverviewItem,
  type QueueInfo,
  type SeriesName,
  type StandingReason,
  wallTime,
} from "@sluice/protocol";
import type { QueueHistories } from "../history/queue-histories.ts";
import { GATED_LOOK_MS_MAX, OVERVIEW_PAGE_MAX, SPARK_POINTS } from "../limits.ts";
import { explain, guessStanding, type Motion } from "./standing.ts";

export const OVERVIEW_SORTS = ["attention", "name", "waiting", "in", "out", "failures"] as const;

export interface OverviewQuery {
  search?: string;
  /** The one of exactly this name. */
  queue?: string;
  sort?: (typeof OVERVIEW_SORTS)[number];
  limit?: number;
  cursor?: number;
  /** The moment up to which the caller has the lines: they are left out when it is the last. */
  tick?: number;
}

const SPARKS = ["waiting", "in", "out", "failures"] as const satisfies readonly SeriesName[];

interface Line {
  readonly info: QueueInfo;
  readonly motion: Motion;
  readonly reason: StandingReason | undefined;
}

export async function readOverview(
  broker: Broker,
  history: QueueHistories,
  query: OverviewQuery,
  clock: Clock,
): Promise<Overview> {
  const { limit = OVERVIEW_PAGE_MAX / 2, cursor = 0, sort = "attention" } = query;
  const all = await allQueues(broker, { partial: true });
  const byName = new Map(all.map((info) => [info.name, info]));
  const dlqs = new Set(all.map(({ name, config }) => (config.dlq === name ? "" : config.dlq)));
  const every = all.map((info): Line => {
    const motion = motionOf(history, info.name);
    return { info, motion, reason: guessStanding(info, dlqs.has(info.name), motion) };
  });
  const isWanted = matcher(query);
  const lines = every.filter(({ info }) => isWanted(info));
  lines.sort(ORDERS[sort](history));
  const page = lines.slice(cursor, cursor + limit);
  const names = page.map(({ info }) => info.name);
  const { queues, missing } = await broker.stats({ queues: names, oldest: true });
  const timesOf = new Map(queues.map((times) => [times.name, times]));
  const until = performance.now() + GATED_LOOK_MS_MAX;
  const items: OverviewItem[] = [];
  // One after the other, so that each sees how long those before it took.
  for (const line of page) {
    const times = timesOf.get(line.info.name);
    const mayLook = performance.now() < until;
    const standing = await explain(broker, { ...line, times, mayLook });
    const item = itemOf(line.info, history, byName, query.tick);
    if (dlqs.has(item.name)) item.isDeadLetters = true;
    if (times?.oldest !== undefined) item.oldestAt = times.oldest.addedAt;
    if (standing !== undefined) item.standing = standing;
    items.push(item);
  }
  const overview: Overview = {
    at: wallTime(clock),
    tick: history.tick,
    total: lines.length,
    totals: totalsOf(every, history),
    items,
  };
  if (missing !== undefined) overview.missing = missing;
  if (cursor + limit < lines.length) overview.cursor = String(cursor + limit);
  return overview;
}

function motionOf(history: QueueHistories, queue: string): Motion {
  return {
    isKnown: history.tick >= 1,
    outRate: history.last(queue, "out"),
    failureRate: history.last(queue, "failures"),
  };
}

function matcher({ search = "", queue }: OverviewQuery): (info: QueueInfo) => boolean {
  const part = search.toLowerCase();
  return ({ name }) => (queue === undefined ? name.toLowerCase().includes(part) : name === queue);
}

type Order = (a: Line, b: Line) => number;

const byName: Order = (a, b) => (a.info.name < b.info.name ? -1 : 1);
const most =
  (value: (line: Line) => number): Order =>
  (a, b) =>
    value(b) - value(a) || byName(a, b);
const byRate = (name: SeriesName) => (history: QueueHistories) =>
  most(({ info }) => history.last(info.name, name));

const ORDERS: Record<(typeof OVERVIEW_SORTS)[number], (history: QueueHistories) => Order> = {
  attention: () => (a, b) =>
    urgency(b) - urgency(a) || b.info.stats.waiting - a.info.stats.waiting || byName(a, b),
  name: () => byName,
  waiting: () => most(({ info }) => info.stats.waiting),
  in: byRate("in"),
  out: byRate("out"),
  failures: byRate("failures"),
};

const URGENCY: Record<StandingReason, number> = {
  "no-workers": 5,
  failing: 5,
  gated: 4,
  capacity: 4,
  busy: 4,
  paused: 3,
  "dead-letters": 1,
  delayed: 0,
};

/** Urgencies from this one on count as queues that need attention. */
const NEEDS_ATTENTION = URGENCY.paused;

function urgency({ reason, motion }: Line): number {
  const isPaced = reason === "gated" && motion.outRate > 0;
  if (reason !== undefined && !isPaced) return URGENCY[reason];
  return motion.failureRate > 0 ? 2 : 0;
}

function itemOf(
  { name, stats, config }: QueueInfo,
  history: QueueHistories,
  byName: ReadonlyMap<string, QueueInfo>,
  tick: number | undefined,
): OverviewItem {
  const { name: _, perTier: __, ...figures } = stats;
  const dlq = config.dlq === false || config.dlq === name ? undefined : byName.get(config.dlq);
  const item: OverviewItem = {
    name,
    stats: figures,
    inRate: history.last(name, "in"),
    outRate: history.last(name, "out"),
    failureRate: history.last(name, "failures"),
    deadLetters: dlq?.stats.waiting ?? 0,
  };
  if (dlq !== undefined) item.dlq = dlq.name;
  if (tick === history.tick) return item;
  const lines = SPARKS.map((series) => [series, history.spark(name, series, SPARK_POINTS)]);
  item.sparks = Object.fromEntries(lines) as NonNullable<OverviewItem["sparks"]>;
  return item;
}

function totalsOf(lines: readonly Line[], history: QueueHistories): Overview["totals"] {
  const none = { attention: 0, waiting: 0, running: 0, inRate: 0, outRate: 0 };
  const totals = { queues: lines.length, ...none };
  for (const line of lines) {
    const { name, stats } = line.info;
    if (urgency(line) >= NEEDS_ATTENTION) totals.attention++;
    totals.waiting += stats.waiting;
    totals.running += stats.running;
    totals.inRate += history.last(name, "in");
    totals.outRate += history.last(name, "out");
  }
  return totals;
}
