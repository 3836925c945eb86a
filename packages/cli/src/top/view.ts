/** What `sluice top` shows: read through the port, with rates from the look before. */
import {
  allQueues,
  type Broker,
  type GateInfo,
  type LaneStats,
  type QueueInfo,
} from "@sluice/protocol";

export interface QueueLine {
  readonly name: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly running: number;
  readonly added: number;
  readonly finished: number;
  readonly dead: number;
  readonly freeWorkers: number;
  readonly paused: boolean;
  /** Per second; undefined at the first look. */
  readonly inRate: number | undefined;
  readonly outRate: number | undefined;
  readonly lanes: readonly LaneStats[];
}

export interface TopView {
  readonly at: number;
  readonly queues: readonly QueueLine[];
  readonly gates: readonly GateInfo[];
  readonly sort: (typeof TOP_SORTS)[number];
  /** The queue whose lanes alone are shown. */
  readonly chosen: string | undefined;
}

/** A terminal has so many lines: the busiest are what one looks for. */
const QUEUES_SHOWN = 15;
const LANES_SHOWN = 8;
const LANES_QUEUES = 3;
const GATES_SHOWN = 12;

export const TOP_SORTS = ["busy", "waiting", "out", "dead", "name"] as const;

/** What a person chose: the order, and the queue whose lanes are shown. */
export interface TopChoice {
  readonly sort: (typeof TOP_SORTS)[number];
  readonly queue: string | undefined;
}

export async function readTop(
  broker: Broker,
  before: TopView | undefined,
  { sort, queue: chosen }: TopChoice = { sort: "busy", queue: undefined },
): Promise<TopView> {
  const [queues, gates] = await Promise.all([
    allQueues(broker, { partial: true }),
    broker.gates({ sort: "waiting", limit: GATES_SHOWN }),
  ]);
  const at = Date.now();
  const rate = ratesOf(before);
  const first = [...queues].sort(orderOf(sort, rate)).slice(0, QUEUES_SHOWN);
  const lines = first.map(async (queue, index) => {
    const isAsked = chosen === undefined ? index < LANES_QUEUES : queue.name === chosen;
    const isLooked = isAsked && queue.stats.lanes > 0;
    const lanes = isLooked ? await lanesOf(broker, queue.name) : [];
    return lineOf(queue, lanes, at, before);
  });
  return {
    at,
    queues: await Promise.all(lines),
    gates: gates.items,
    sort,
    chosen,
  };
}

/** Jobs that went out in a second, by queue, at the look before. */
function ratesOf(before: TopView | undefined): (queue: QueueInfo) => number {
  const rates = new Map(before?.queues.map(({ name, outRate }) => [name, outRate ?? 0]));
  return ({ name }) => rates.get(name) ?? 0;
}

function orderOf(
  sort: TopChoice["sort"],
  rate: (queue: QueueInfo) => number,
): (a: QueueInfo, b: QueueInfo) => number {
  const byName = (a: QueueInfo, b: QueueInfo): number => a.name.localeCompare(b.name);
  if (sort === "name") return byName;
  const figure = {
    busy: weightOf,
    waiting: ({ stats }: QueueInfo) => stats.waiting,
    out: rate,
    dead: ({ stats }: QueueInfo) => stats.dead,
  }[sort];
  return (a, b) => figure(b) - figure(a) || byName(a, b);
}

function weightOf({ stats }: QueueInfo): number {
  return stats.waiting + stats.running + stats.delayed;
}

/** A queue may be deleted while one looks. */
async function lanesOf(broker: Broker, queue: string): Promise<readonly LaneStats[]> {
  try {
    return (await broker.lanes(queue, { limit: LANES_SHOWN, sort: "waiting" })).items;
  } catch {
    return [];
  }
}

function lineOf(
  { name, stats }: QueueInfo,
  lanes: readonly LaneStats[],
  at: number,
  before: TopView | undefined,
): QueueLine {
  const { waiting, delayed, running, added, finished, dead, freeWorkers, paused } = stats;
  const last = before?.queues.find((queue) => queue.name === name);
  const seconds = before === undefined ? 0 : (at - before.at) / 1000;
  const rate = (now: number, then: number | undefined): number | undefined =>
    then === undefined || seconds === 0 ? undefined : Math.max(0, (now - then) / seconds);
  return {
    name,
    waiting,
    delayed,
    running,
    added,
    finished,
    dead,
    freeWorkers,
    paused,
    inRate: rate(added, last?.added),
    outRate: rate(finished, last?.finished),
    lanes,
  };
}
