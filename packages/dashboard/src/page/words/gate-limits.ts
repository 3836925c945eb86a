import type { GateSettings } from "@sluice/protocol";
import { count, duration, rate } from "./format.ts";

/** The limits of a gate, a few words each. */
export function gateLimits(config: GateSettings | undefined): string[] {
  if (config === undefined) return ["no limits"];
  const { rate: perSecond, burst, interval, windows, concurrency, ladder } = config;
  const words: string[] = [];
  if (perSecond === 0) words.push("closed");
  else if (perSecond !== undefined) {
    words.push(`${rate(perSecond)}/s${burst === undefined ? "" : `, burst ${count(burst)}`}`);
  }
  if (interval !== undefined) {
    words.push(`every ${duration(interval.every)} from the ${interval.from}`);
  }
  for (const { limit, per } of windows ?? []) {
    words.push(`${count(limit)} per ${duration(per)}`);
  }
  if (concurrency !== undefined) words.push(`${count(concurrency)} at once`);
  if (ladder !== undefined && ladder.length > 0) words.push(`ladder of ${ladder.length}`);
  return words.length === 0 ? ["no limits"] : words;
}
