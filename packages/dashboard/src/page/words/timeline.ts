/** A job's life as a list of moments, with what lies between them put into words. */
import type { HistoryEntry, JobJson } from "@sluice/protocol";
import { duration } from "./format.ts";

export interface Moment {
  at: number;
  event: string;
  detail: string;
  tone: "plain" | "good" | "bad" | "wait";
}

const TONES: Partial<Record<HistoryEntry["event"], Moment["tone"]>> = {
  failed: "bad",
  expired: "bad",
  dead: "bad",
};

/** A wait that is shorter than this is not shown. */
const WAIT_MS = 5;

export function timeline(
  history: readonly HistoryEntry[],
  { gates }: Pick<JobJson, "gates">,
): Moment[] {
  const moments: Moment[] = [];
  for (const [i, { at, event, detail = "" }] of history.entries()) {
    const before = history[i - 1];
    if (event === "dispatched" && before !== undefined && at - before.at >= WAIT_MS) {
      moments.push({ at: before.at, ...waited(at - before.at, gates) });
    }
    moments.push({ at, event, detail, tone: toneOf(event, detail) });
  }
  return moments;
}

/**
 * It is not recorded which condition took longest, so the text lists all that had to be met. For a
 * job that waits now, `why` says which one it is.
 */
function waited(ms: number, gates: readonly string[]): Omit<Moment, "at"> {
  const passed = gates.length === 0 ? "" : ` and ${gates.join(", ")} let it pass`;
  const detail = `${duration(ms)}, until it was due, a worker was free, its turn came${passed}`;
  return { event: "waited", detail, tone: "wait" };
}

function toneOf(event: HistoryEntry["event"], detail: string): Moment["tone"] {
  if (event === "ended") return detail === "finished" ? "good" : "bad";
  return TONES[event] ?? "plain";
}

export interface Attempt {
  number: number;
  /** Empty: its history does not tell. */
  worker: string;
  at: number;
  /** Absent: it runs. */
  until?: number;
  outcome: string;
  detail: string;
  tone: "" | "good" | "bad";
}

/** What a dispatch tells: `lease 1 by packer-1`. */
const DISPATCHED = /^lease \d+ by (.*)$/s;

/** From each dispatch to what ended it. */
export function attemptsOf(history: readonly HistoryEntry[]): Attempt[] {
  const attempts: Attempt[] = [];
  let open: Attempt | undefined;
  for (const { at, event, detail = "" } of history) {
    if (open !== undefined && event !== "promoted" && event !== "due") {
      Object.assign(open, { until: at, ...outcomeOf(event, detail) });
      open = undefined;
    }
    if (event !== "dispatched") continue;
    const [, worker = ""] = DISPATCHED.exec(detail) ?? [];
    open = { number: attempts.length + 1, worker, at, outcome: "running", detail: "", tone: "" };
    attempts.push(open);
  }
  return attempts;
}

function outcomeOf(
  event: HistoryEntry["event"],
  detail: string,
): Pick<Attempt, "outcome" | "detail" | "tone"> {
  if (event === "ended") {
    return { outcome: detail, detail: "", tone: detail === "finished" ? "good" : "bad" };
  }
  const isBad = event === "failed" || event === "expired" || event === "dead";
  return { outcome: event, detail, tone: isBad ? "bad" : "" };
}
