/** The limits of a gate, from the user's words to the port's. The broker checks the numbers. */
import type { GateConfig } from "@sluice/protocol";
import { type Duration, parseDuration } from "./duration.ts";
import { fieldsOf, listOf } from "./fields.ts";

/** Each part is optional; a job passes when all parts of all its gates do. */
export interface GateOptions {
  /** Tokens per second; 0 closes the gate. */
  rate?: number | undefined;
  /** Default max(1, rate). */
  burst?: number | undefined;
  /** Spacing between jobs: from the end of the previous one, unless told otherwise. */
  interval?: Duration | IntervalOptions | undefined;
  windows?: readonly { limit: number; per: Duration }[] | undefined;
  /** How many may run at once. */
  concurrency?: number | undefined;
  /** Cooldown per failure in a row; a success steps back by one. */
  ladder?: readonly Duration[] | undefined;
}

export interface IntervalOptions {
  every: Duration;
  from?: "start" | "end" | undefined;
  /** Multiplier per tier; a tier beyond the list uses the last. */
  factors?: readonly number[] | undefined;
  /** No tier waits less than this. */
  floor?: Duration | undefined;
}

const GATE = ["rate", "burst", "interval", "windows", "concurrency", "ladder"];
const INTERVAL = ["every", "from", "factors", "floor"];
const WINDOW = ["limit", "per"];

export function parseGate(options: unknown): GateConfig {
  const { rate, burst, interval, windows, concurrency, ladder } = fieldsOf<GateOptions>(
    "gate",
    options,
    GATE,
  );
  const config: GateConfig = {};
  if (rate !== undefined) config.rate = rate;
  if (burst !== undefined) config.burst = burst;
  if (interval !== undefined) config.interval = parseInterval(interval);
  if (windows !== undefined) config.windows = listOf("gate.windows", windows, parseWindow);
  if (concurrency !== undefined) config.concurrency = concurrency;
  if (ladder !== undefined) config.ladder = listOf("gate.ladder", ladder, parseDuration);
  return config;
}

function parseInterval(interval: unknown): NonNullable<GateConfig["interval"]> {
  const field = "gate.interval";
  if (typeof interval !== "object") return { ms: parseDuration(field, interval) };
  const { every, from, factors, floor } = fieldsOf<IntervalOptions>(field, interval, INTERVAL);
  return {
    ms: parseDuration(`${field}.every`, every),
    ...(from === undefined ? {} : { from }),
    ...(factors === undefined ? {} : { factors }),
    ...(floor === undefined ? {} : { floorMs: parseDuration(`${field}.floor`, floor) }),
  };
}

function parseWindow(field: string, window: unknown): { limit: number; perMs: number } {
  const { limit, per } = fieldsOf<{ limit: number; per: Duration }>(field, window, WINDOW);
  return { limit, perMs: parseDuration(`${field}.per`, per) };
}
