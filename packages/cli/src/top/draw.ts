import { limitsOf } from "../commands/gate.ts";
import { count, duration, key, percent, printable, table, time } from "../show.ts";
import type { QueueLine, TopView } from "./view.ts";

const BAR = 20;

export function drawTop(view: TopView, width: number): string {
  const parts = [`sluice top  ${time(view.at)}`, queues(view.queues), ...view.queues.map(lanes)];
  if (view.gates.length > 0) parts.push(gates(view));
  return parts
    .filter((part) => part !== "")
    .join("\n\n")
    .split("\n")
    .map((line) => line.slice(0, width))
    .join("\n");
}

function queues(lines: readonly QueueLine[]): string {
  if (lines.length === 0) return "no queues yet";
  const figures = [">waiting", ">delayed", ">running", ">in/s", ">out/s", ">dead", ">free workers"];
  const rate = (value: number | undefined): string => (value === undefined ? "" : value.toFixed(1));
  const rows = lines.map((line) => [
    line.name,
    count(line.waiting),
    count(line.delayed),
    count(line.running),
    rate(line.inRate),
    rate(line.outRate),
    count(line.dead),
    count(line.freeWorkers),
    standing(line),
  ]);
  return table(["queue", ...figures, ""], rows);
}

/** Why a queue with waiting jobs may not move. */
function standing({ paused, waiting, running, freeWorkers }: QueueLine): string {
  if (paused) return "paused";
  if (waiting === 0) return "";
  if (freeWorkers === 0 && running === 0) return "no workers";
  return freeWorkers > 0 ? "behind gates" : "";
}

function lanes({ name, lanes: found }: QueueLine): string {
  if (found.length === 0) return "";
  const columns = [
    `lanes of ${name}`,
    ">waiting",
    ">running",
    ">waits",
    ">weight",
    ">owed",
    ">got",
    "",
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
  return table(columns, rows);
}

function gates({ gates: found, at }: TopView): string {
  const columns = ["gate", "limits", ">tokens", ">in flight", ">lanes wait", "opens"];
  const rows = found.map((gate) => [
    gate.key,
    limitsOf(gate),
    gate.tokens === undefined ? "" : gate.tokens.toFixed(1),
    count(gate.inFlight),
    count(gate.waitingLanes),
    opening(gate.cooldown, gate.opensAt, at),
  ]);
  return table(columns, rows);
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
