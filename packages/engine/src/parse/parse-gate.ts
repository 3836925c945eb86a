/** Checks what a gate is told: its key, its limits, a cooldown. */
import { invalid } from "../errors.ts";
import {
  BURST_MAX,
  CONCURRENCY_MAX,
  DURATION_MS_MAX,
  FACTOR_MAX,
  LADDER_RUNGS_MAX,
  NAME_BYTES_MAX,
  RATE_MAX,
  RATE_MIN,
  REASON_BYTES_MAX,
  TIERS_MAX,
  WINDOW_LIMIT_MAX,
  WINDOWS_MAX,
} from "../limits.ts";
import type { GateConfig } from "../types.ts";
import { Fields, integer, number } from "./fields.ts";
import { A_NAME, fitsBytes, isName, isNamePart } from "./names.ts";

const GATE = ["rate", "burst", "interval", "windows", "concurrency", "ladder"] as const;
const INTERVAL = ["ms", "from", "factors", "floorMs"] as const;
const WINDOW = ["limit", "perMs"] as const;

/** The key of one gate. */
export function parseGateKey(field: string, key: unknown): string {
  if (isName(key)) return key;
  throw invalid(field, A_NAME, key);
}

/** A key to configure: that of one gate, or a prefix with a trailing `*`. */
export function parseGatePattern(field: string, key: unknown): string {
  if (isName(key)) return key;
  if (typeof key === "string" && key.length <= NAME_BYTES_MAX && key.endsWith("*")) {
    if (isNamePart(key, key.length - 1)) return key;
  }
  throw invalid(field, `${A_NAME}, or a prefix of one and a trailing *`, key);
}

/** Fills in the defaults of `burst` and `interval.from`; leaves out what is not configured. */
export function parseGateConfig(key: string, config: unknown): GateConfig {
  parseGatePattern("gate.key", key);
  if (config === undefined) throw invalid("gate", "an object", config);
  const fields = new Fields("gate", config, GATE);
  const gate: GateConfig = {};
  parseRate(fields, gate);
  if (fields.has("interval")) gate.interval = parseInterval(fields.sub("interval", INTERVAL));
  const windows = fields.list("windows", 0, WINDOWS_MAX, parseWindow);
  if (windows !== undefined && windows.length > 0) gate.windows = windows;
  const concurrency = fields.integer("concurrency", undefined, 1, CONCURRENCY_MAX);
  if (concurrency !== undefined) gate.concurrency = concurrency;
  const ladder = fields.list("ladder", 0, LADDER_RUNGS_MAX, (field, rung) =>
    integer(field, rung, 1, DURATION_MS_MAX),
  );
  if (ladder !== undefined && ladder.length > 0) gate.ladder = ladder;
  return gate;
}

/** How long a gate is shut, and why; the reason may be absent. */
export function parseCooldown(ms: unknown, reason: unknown): { ms: number; reason: string } {
  const length = number("cooldown.ms", ms, 0, DURATION_MS_MAX);
  if (reason === undefined) return { ms: length, reason: "" };
  if (fitsBytes(reason, REASON_BYTES_MAX)) return { ms: length, reason };
  throw invalid("cooldown.reason", `a string of at most ${REASON_BYTES_MAX} bytes`, reason);
}

function parseRate(fields: Fields, gate: GateConfig): void {
  const rate = fields.get("rate");
  if (rate === undefined) {
    if (!fields.has("burst")) return;
    throw invalid("gate.burst", "absent unless gate.rate is given", fields.get("burst"));
  }
  if (rate !== 0 && !(typeof rate === "number" && rate >= RATE_MIN && rate <= RATE_MAX)) {
    throw invalid("gate.rate", `0 or a number from ${RATE_MIN} to ${RATE_MAX}`, rate);
  }
  gate.rate = rate;
  gate.burst = fields.number("burst", Math.max(1, rate), 1, BURST_MAX);
}

function parseInterval(fields: Fields): NonNullable<GateConfig["interval"]> {
  const interval: NonNullable<GateConfig["interval"]> = {
    ms: integer(fields.field("ms"), fields.get("ms"), 0, DURATION_MS_MAX),
    from: fields.choice("from", "end", ["start", "end"]),
  };
  const factors = fields.list("factors", 1, TIERS_MAX, (field, factor) =>
    number(field, factor, 0, FACTOR_MAX),
  );
  if (factors !== undefined) interval.factors = factors;
  const floorMs = fields.integer("floorMs", undefined, 0, DURATION_MS_MAX);
  if (floorMs !== undefined) interval.floorMs = floorMs;
  return interval;
}

function parseWindow(field: string, value: unknown): { limit: number; perMs: number } {
  const fields = new Fields(field, value, WINDOW);
  return {
    limit: integer(fields.field("limit"), fields.get("limit"), 1, WINDOW_LIMIT_MAX),
    perMs: integer(fields.field("perMs"), fields.get("perMs"), 1, DURATION_MS_MAX),
  };
}
