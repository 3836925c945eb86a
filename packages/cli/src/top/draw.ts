import { limitsOf } from "../commands/gate.ts";
import { count, duration, key, percent, printable, time } from "../show.ts";
import { type Column, fitted } from "./fit.ts";
import type { QueueLine, TopView } from "./view.ts";

const BAR = 20;

export function drawTop(view: TopView, width: number): string {
  const parts = [
    `sluice top  ${time(view.at)}  by ${view.sort}`,
    queues(view, width),
    ...view.queues.map((queue) => lanes(queue, width)),
  ];
  if (view.gates.length > 0) parts.push(gates(view, width));
  return parts
    .filter((part) => part !== "")
    .join("\n\n")
    .split("\n")
    .map((line) => line.slice(0, width))
    .join("\n");
}

function queues({ queues: lines, chosen }: TopView, width: number): string {
  if (lines.length === 0) return "no queues yet";
  const columns: readonly Column[] = [
    { title: "queue" },
    { title: ">waiting" },
    { title: ">delayed", keep: 2 },
    { title: ">running", keep: 5 },
    { title: ">in/s", keep: 3 },
    { title: ">out/s", keep: 6 },
    { title: ">dead", keep: 4 },
    { title: ">free workers", keep: 1 },
    { title: "", keep: 7 },
  ];
  const rate = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(1));
  const rows = lines.map((line) => [
    line.name === chosen ? `▶ ${printable(line.name)}` : printable(line.name),
    count(line.waiting),
    count(line.delayed),
    count(line.running),
    rate(line.inRate),
    rate(line.outRate),
    count(line.dead),
    count(line.freeWorkers),
    standing(line),
  ]);
  return fitted(columns, rows, width);
}

/** Why a queue with waiting jobs may not move. */
function standing({ paused, waiting, running, freeWorkers }: QueueLine): string {
  if (paused) return "paused";
  if (waiting === 0) return "";
  if (freeWorkers === 0 && running === 0) return "no workers";
  return freeWorkers > 0 ? "behind gates" : "";
}

function lanes({ name, lanes: found }: QueueLine, width: number): string {
  if (found.length === 0) return "";
  const columns: readonly Column[] = [
    { title: `lanes of ${printable(name)}` },
    { title: ">waiting" },
    { title: ">running", keep: 4 },
    { title: ">waits" },
    { title: ">weight", keep: 2 },
    { title: ">owed", keep: 3 },
    { title: ">got", keep: 5 },
    { title: "", keep: 1 },
  ];
  const rows = found.map((lane) => [
    key(lane.key),
    count(lane.waiting),
    count(lane.running),
    lane.wait === undefined ? "" : duration(Math.round(lane.wait)),
    String(lane.weight),
    percent(lane.shareOwed),
    percent(lane.shareReceived),
    "█".repeat(Math.round(lane.shareReceived * BAR)).padEnd(BAR, "░"),
  ]);
  return fitted(columns, rows, width);
}

function gates({ gates: found, at }: TopView, width: number): string {
  const columns: readonly Column[] = [
    { title: "gate" },
    { title: "limits", keep: 2 },
    { title: ">tokens", keep: 1 },
    { title: ">in flight", keep: 3 },
    { title: ">lanes wait" },
    { title: "opens", keep: 4 },
  ];
  const rows = found.map((gate) => [
    gate.key,
    limitsOf(gate),
    gate.tokens === undefined ? "" : gate.tokens.toFixed(1),
    count(gate.inFlight),
    count(gate.waitingLanes),
    opening(gate.cooldown, gate.opensAt, at),
  ]);
  return fitted(columns, rows, width);
}

function opening(
  cooldown: { until: number; reason: string } | undefined,
  opensAt: number | undefined,
  at: number,
): string {
  if (cooldown !== undefined) {
    return `in ${duration(cooldown.until - at)}, cooling down: ${printable(cooldown.reason, 50)}`;
  }
  if (opensAt === undefined) return "when something ends";
  return opensAt <= at ? "" : `in ${duration(opensAt - at)}`;
}
