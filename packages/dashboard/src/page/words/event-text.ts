/** Events of the broker as lines of a table. */
import { ERROR_CHARS } from "../limits.ts";
import { exactTime } from "./format.ts";
import { cut } from "./preview.ts";
import type { Tone } from "./tone.ts";

/** An event as it arrives: those fields that some kind has. */
export interface ShownEvent {
  at: number;
  event: string;
  queue?: string;
  gate?: string;
  id?: string;
  state?: string;
  error?: unknown;
  [field: string]: unknown;
}

const OWN = new Set(["at", "event", "queue", "gate", "id", "number", "members", "result"]);
const BAD = new Set(["dead", "failed", "torn", "policy-failed", "tick-skipped"]);
const WARN = new Set(["retried", "cooled", "returned", "suspended", "tick-held"]);

export function eventTone({ event, state }: ShownEvent): Tone {
  if (event === "ended") return state === "finished" ? "good" : "bad";
  if (BAD.has(event)) return "bad";
  return WARN.has(event) ? "warn" : "plain";
}

const TIMES = new Set(["until", "tick", "after"]);

function valueText(name: string, value: unknown): string {
  if (TIMES.has(name) && typeof value === "number") return exactTime(value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Its other fields: `worker packer-1, attempt 0`. */
export function eventDetail(event: ShownEvent): string {
  const parts = Object.entries(event)
    .filter(([name, value]) => !OWN.has(name) && value !== undefined)
    .map(([name, value]) => `${name} ${valueText(name, value)}`);
  return cut(parts.join(", "), ERROR_CHARS);
}
