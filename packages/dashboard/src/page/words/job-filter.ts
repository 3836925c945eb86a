/** The filter of the page that finds jobs: in its address, in its form, and as the API takes it. */
import { JOB_STATES, type JobFilter, type JobState, parseLaneKey } from "@sluice/protocol";
import type { RouteQuery } from "./route.ts";

export const FILTER_FIELDS = [
  ["queue", "Queue", "or a prefix: orders.*"],
  ["lane", "Lane", "or a path as JSON"],
  ["error", "Error", "part of the last error"],
  ["text", "Payload", "part of the payload"],
  ["id", "Job ids", "b1u, b20"],
  ["gate", "Gate", ""],
  ["group", "Group", "orders/batch-7"],
  ["attempts", "Attempts used", "at least so many"],
  ["header", "Header", "name, or name=value"],
  ["origin", "Came from", "queue of a dead letter"],
] as const;

export const RANGES = [
  ["", "any time"],
  ["15m", "last 15 minutes"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
] as const;

const RANGE_MS: Readonly<Record<string, number>> = {
  "15m": 900_000,
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 604_800_000,
};

/** The filter that an address says; values that are no filter are left out. */
export function filterOf(query: RouteQuery, now: number): JobFilter {
  const filter: JobFilter = {};
  const { queue, lane, error, text, id, gate, group, header, origin, failure } = query;
  Object.assign(filter, kept({ error, text, gate, group, header, origin, failure }));
  if (queue) filter.queues = listOf(queue);
  if (id) filter.ids = listOf(id);
  if (lane) filter.lane = parseLaneKey(lane);
  const states = listOf(query.state ?? "").filter(isState);
  if (states.length > 0) filter.states = states;
  const attempts = Number(query.attempts);
  if (query.attempts && Number.isInteger(attempts)) filter.attempts = attempts;
  const range = RANGE_MS[query.range ?? ""];
  if (range !== undefined) filter.since = now - range;
  return filter;
}

/** The same as the query of a call. */
export function filterQuery(filter: JobFilter): Record<string, string | number | undefined> {
  const { ids, queues, states, lane, ...rest } = filter;
  return {
    ...rest,
    ids: ids?.join(","),
    queues: queues?.join(","),
    states: states?.join(","),
    lane: typeof lane === "string" || lane === undefined ? lane : JSON.stringify(lane),
  };
}

const isState = (text: string): text is JobState => JOB_STATES.includes(text as JobState);

const listOf = (text: string): string[] =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

function kept(fields: Readonly<Record<string, string | undefined>>): Partial<JobFilter> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
}
