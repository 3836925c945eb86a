import type { OverviewItem, Standing, StandingGate } from "@sluice/protocol";
import { count, rate, timeOfDay } from "./format.ts";
import { visible } from "./visible.ts";

const PARTS: Readonly<Record<string, string>> = {
  rate: "its rate",
  interval: "its interval",
  window: "a used-up window",
  concurrency: "its concurrency",
  cooldown: "a cooldown",
  line: "its line",
};

/** What is near is over before it is read. */
const SOON_MS = 1_000;

/** The state of a queue in words, and why it does not move. */
export function standingText(item: OverviewItem, now: number): string {
  const { standing, stats, outRate, failureRate } = item;
  const { waiting, running } = stats;
  if (standing === undefined) {
    if (waiting + running === 0) return "empty";
    if (outRate > 0) return `moving, ${count(running)} running`;
    return running > 0 ? `${count(running)} running` : "waiting for a worker";
  }
  switch (standing.reason) {
    case "paused":
      return "paused";
    case "delayed":
      return `nothing is due${standing.until === undefined ? "" : untilText(standing.until, now)}`;
    case "no-workers":
      return "no workers";
    case "capacity":
      return `limit of ${count(standing.limit ?? 0)} running reached, and none has finished lately`;
    case "failing":
      return `all jobs fail, ${rate(failureRate)} a second`;
    case "busy":
      return "all workers are busy and none has finished lately";
    case "dead-letters":
      return "holds dead letters";
    case "gated":
      return gatedText(standing, outRate, now);
  }
}

function gatedText({ gates = [], gatesTotal }: Standing, outRate: number, now: number): string {
  const [first] = gates;
  if (first === undefined) return "gated";
  const others = (gatesTotal ?? 1) - gates.length;
  const more = others > 0 ? `, and ${count(others)} more` : "";
  // By their names: which of them keeps most changes from moment to moment.
  const names =
    gates.length === 1
      ? nameText(first)
      : gates
          .map(({ gate }) => gate)
          .sort()
          .join(", ");
  if (outRate > 0) return `moving, held back by ${names}${more}`;
  if (gatesTotal === undefined) return `gated, its oldest job by ${gateText(first, now)}`;
  if (gatesTotal === 1) return `all gated by ${gateText(first, now)}`;
  const parts = gates.map((gate) => `${lanesText(gate.lanes)} by ${gateText(gate, now)}`);
  return `all gated: ${parts.join("; ")}${more}`;
}

const lanesText = (lanes: number): string => `${count(lanes)} ${lanes === 1 ? "lane" : "lanes"}`;

function nameText({ gate, part }: StandingGate): string {
  return part === undefined ? gate : `${gate} (${PARTS[part] ?? part})`;
}

function gateText(gate: StandingGate, now: number): string {
  const { part, until, note } = gate;
  const why = note === undefined ? "" : `: ${visible(note)}`;
  if (part === "rate" && until === undefined) return `${gate.gate}, which is closed (a rate of 0)`;
  const when = until === undefined ? " until something is released" : untilText(until, now);
  return `${nameText(gate)}${when}${why}`;
}

function untilText(until: number, now: number): string {
  return until > now + SOON_MS ? ` until ${timeOfDay(until, now)}` : "";
}

/** A rate that is used up as fast as it comes is no trouble: the queue moves, at that rate. */
export function isTrouble({ standing, outRate }: OverviewItem): boolean {
  if (standing === undefined) return false;
  if (standing.reason === "dead-letters" || standing.reason === "delayed") return false;
  return !(standing.reason === "gated" && outRate > 0);
}
