/** The retracker's page of the dashboard: what it shows, and what can be done there. */
import type { AppPage, AppTone, AppView } from "sluice/http";
import type { Retracker } from "./retracker.ts";
import type { ForwarderStatistics, Statistics } from "./statistics/statistics.ts";

const SHOWN_MAX = 500;

export function page(retracker: Retracker): AppPage {
  return {
    name: "retracker",
    title: "Retracker",
    view: async () => viewOf(await retracker.statistics(), retracker.history),
    act: (action, values) => act(retracker, action, values),
  };
}

function viewOf(statistics: Statistics, history: readonly [number, number, number][]): AppView {
  return {
    sections: [
      { kind: "facts", title: "Tracker", facts: trackerFacts(statistics) },
      { kind: "facts", title: "Queue", facts: queueFacts(statistics) },
      {
        kind: "chart",
        title: "Announces and queue",
        series: [
          { label: "announces a second", points: history.map(([at, rate]) => [at, rate]) },
          { label: "queued", points: history.map(([at, , depth]) => [at, depth]) },
        ],
      },
      {
        kind: "table",
        title: "Forwarders",
        columns: [
          "name",
          "protocol",
          "state",
          "reason",
          "next try",
          "last failure",
          "average ms",
          "interval s",
        ],
        rows: statistics.forwarders.slice(0, SHOWN_MAX).map(rowOf),
      },
      {
        kind: "table",
        title: "Scheduled announces",
        columns: ["info hash", "forwarder", "in seconds"],
        rows: statistics.scheduled_announces.map((one) => Object.values(one)),
      },
    ],
    actions: [
      { name: "reload", title: "Reload the forwarders" },
      { name: "on", title: "Switch a forwarder on", fields: [{ name: "name", label: "Name" }] },
      {
        name: "off",
        title: "Switch a forwarder off",
        confirm: "Its queued announces are cancelled.",
        fields: [{ name: "name", label: "Name" }],
      },
    ],
  };
}

function trackerFacts(statistics: Statistics): { label: string; value: number; tone?: AppTone }[] {
  const { disabled_forwarders: disabled } = statistics;
  return [
    { label: "hashes", value: statistics.tracked_hashes },
    { label: "local peers", value: statistics.local_peers },
    { label: "announces", value: statistics.announces },
    { label: "scrapes", value: statistics.scrapes },
    { label: "forwarders in use", value: statistics.active_forwarders },
    { label: "forwarders disabled", value: disabled, tone: disabled > 0 ? "warn" : "good" },
  ];
}

function queueFacts(
  statistics: Statistics,
): { label: string; value: string | number; tone?: AppTone }[] {
  const fill = statistics.queue_fill_pct;
  const tone = fill >= 80 ? "bad" : fill >= 60 ? "warn" : "good";
  return [
    { label: "fill", value: `${fill} %`, tone },
    { label: "waiting", value: statistics.queue_depth },
    { label: "pending", value: statistics.pending_jobs },
    { label: "workers", value: `${statistics.active_workers} of ${statistics.max_workers}` },
    { label: "dropped", value: statistics.dropped_full },
    { label: "rate limited", value: statistics.rate_limited },
    { label: "throttled", value: statistics.throttled_forwarders },
  ];
}

function rowOf(one: ForwarderStatistics): (string | number)[] {
  const seconds = Math.max(one.next_probe_seconds, one.suspended_seconds);
  const next = seconds < 0 ? "" : `${seconds} s`;
  const { name, protocol, state, reason, last_failure, average_response_ms, last_interval } = one;
  return [name, protocol, state, reason, next, last_failure, average_response_ms, last_interval];
}

async function act(
  retracker: Retracker,
  action: string,
  values: Record<string, string>,
): Promise<string> {
  if (action === "reload") {
    const problems = await retracker.reload();
    const count = retracker.forwarderCount;
    return problems.length === 0 ? `${count} forwarders` : problems.join("\n");
  }
  if (action !== "on" && action !== "off") throw new RangeError(`there is no action ${action}`);
  const name = values.name ?? "";
  const isDone = await retracker.switchForwarder(name, action === "on");
  if (!isDone) throw new RangeError(`there is no forwarder called ${JSON.stringify(name)}`);
  return `${name} is ${action}`;
}
