/** When a schedule ticks and what became of its ticks, in words. */
import type { ScheduleInfo, ScheduleSettings, ScheduleTick } from "@sluice/protocol";
import { duration, timeOfDay } from "./format.ts";
import { type Tone, toneOf } from "./tone.ts";

export function planText({ cron, every, at, timezone }: ScheduleSettings, now: number): string {
  if (cron !== undefined) return `${cron} (${timezone ?? "UTC"})`;
  if (every !== undefined) return `every ${duration(every)}`;
  const [first] = at ?? [];
  if (at?.length === 1 && first !== undefined) return `at ${timeOfDay(first, now)}`;
  return `at ${at?.length ?? 0} times`;
}

export interface Outcome {
  text: string;
  tone: Tone;
  at: number;
  /** The job that tells more. */
  id?: string;
  error?: string;
}

const SKIPPED: Readonly<Record<Exclude<ScheduleTick["outcome"], "added" | "held">, string>> = {
  missed: "missed: no broker ran",
  overlap: "skipped: the run before it had not ended",
  paused: "skipped: paused",
  refused: "refused by the queue",
  dropped: "dropped: the queue was full",
  duplicate: "skipped: a duplicate",
  "too-old": "missed, and too old to catch up",
  "too-many": "missed, and too many to catch up",
};

/** The last thing that is known of a schedule: a tick that was skipped, or how its run ended. */
export function lastOutcome({ lastTick, lastRun }: ScheduleInfo): Outcome | undefined {
  if (lastTick !== undefined && (lastRun === undefined || lastTick.at > lastRun.at)) {
    return tickOutcome(lastTick);
  }
  if (lastRun === undefined) return undefined;
  const { id, state, at, error } = lastRun;
  return { text: state, tone: toneOf(state), at, id, ...(error === undefined ? {} : { error }) };
}

function tickOutcome({ outcome, at, id, error }: ScheduleTick): Outcome {
  const more = { ...(id === undefined ? {} : { id }), ...(error === undefined ? {} : { error }) };
  if (outcome === "added") return { text: "running", tone: "good", at, ...more };
  if (outcome === "held") return { text: "waits for the run before it", tone: "warn", at, ...more };
  return { text: SKIPPED[outcome], tone: outcome === "refused" ? "bad" : "warn", at, ...more };
}

export function stateOf({ paused, pausedBy, next }: ScheduleInfo): { text: string; tone: Tone } {
  if (paused) {
    return pausedBy === "failure"
      ? { text: "paused by a failure", tone: "bad" }
      : { text: "paused", tone: "warn" };
  }
  return next.length === 0 ? { text: "over", tone: "plain" } : { text: "active", tone: "good" };
}
