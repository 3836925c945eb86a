// One gate that queues of three nodes share: whether it is ever exceeded, and how much of its rate
// gets through.

import type { Figure, Group, Report, Scale } from "../figure.ts";
import { figureOf, repeat } from "../spread.ts";
import { Nodes } from "./nodes.ts";
import { Team } from "./team.ts";

const NODES = 3;
const GATE = "provider";
const GATED = { gates: [GATE] };
// All jobs of all runs are kept, for their histories.
const RESULTS = 1_000_000;
const RATE = 1000;
const BURST = 100;
const SECONDS = 12;
const SECONDS_QUICK = 3;
// The clocks of two processes are read to a millisecond, and begin within one of each other.
const CLOCK_MS = 2;

interface Found {
  readonly over: number;
  // Of the gate's own rate.
  readonly share: number;
  readonly nodesMicros: number;
  readonly natsMicros: number;
}

// Dispatches beyond burst + rate · time, in any interval: those that find a full bucket empty.
function countOver(times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  const full = BURST + (CLOCK_MS * RATE) / 1000;
  let level = full;
  let last = sorted[0] ?? 0;
  let over = 0;
  for (const time of sorted) {
    level = Math.min(full, level + ((time - last) * RATE) / 1000);
    last = time;
    if (level >= 1) level--;
    else over++;
  }
  return over;
}

// The burst comes at once, and is no part of the lasting rate.
function shareOf(times: readonly number[]): number {
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return ((times.length - BURST) * 1000) / (last - first) / RATE;
}

// A queue in a partition of each node.
async function queuesOf(nodes: Nodes): Promise<string[]> {
  const { partitions } = await nodes.status();
  const owners = [...new Set(partitions.map(({ owner }) => owner))];
  return nodes.queuesIn(
    owners.map((node) => partitions.find(({ owner }) => owner === node)!.partition),
  );
}

async function measureOnce(nodes: Nodes, queues: string[], seconds: number): Promise<Found> {
  await using team = new Team(nodes);
  await team.producer.ask("open", nodes.urls, queues);
  await team.producer.ask("setGate", GATE, RATE, BURST);
  await team.consumer.ask("open", nodes.urls, queues, { results: RESULTS });
  const { ids, nodesMicros, natsMicros } = await team.run(RATE * seconds, "bulk", GATED);
  const times = await team.consumer.ask<number[]>("dispatchedAt", ids);
  if (times.length < ids.length) throw new Error("the histories do not tell of all jobs");
  return { over: countOver(times), share: shareOf(times), nodesMicros, natsMicros };
}

async function measure(scale: Scale, report: Report): Promise<void> {
  const seconds = scale.isQuick ? SECONDS_QUICK : SECONDS;
  await using nodes = await Nodes.start(NODES);
  const queues = await queuesOf(nodes);
  const found = await repeat(scale.runs, () => measureOnce(nodes, queues, seconds));
  const conditions = {
    ...nodes.conditions,
    nodes: NODES,
    gate: `${RATE} a second, burst ${BURST}`,
    queues: "one in a partition of each node",
    clock: `dispatches by the nodes' own clocks, which agree to ${CLOCK_MS} ms`,
    jobsPerRun: RATE * seconds,
  };
  const figure = (metric: string, unit: string, of: (one: Found) => number): Figure =>
    figureOf(metric, unit, found.map(of), conditions);
  const worst = Math.max(...found.map(({ over }) => over));
  const beyond = figure("dispatches beyond a gate of three nodes", "jobs", ({ over }) => over);
  report({ ...beyond, value: worst, target: { atMost: 0 } });
  const share = figure("rate of a gate of three nodes", "of its rate", (one) => one.share);
  report({ ...share, target: { atLeast: 0.95 } });
  const gated = "processor time, a job behind a gate of three nodes";
  report(figure(`${gated}, nodes`, "µs/job", ({ nodesMicros }) => nodesMicros));
  report(figure(`${gated}, nats-servers`, "µs/job", ({ natsMicros }) => natsMicros));
}

export const gateGroups: readonly Group[] = [{ name: "gate", run: measure }];
