import type { Standing } from "@sluice/protocol";
import { timeOfDay } from "./format.ts";

const PARTS: Readonly<Record<string, string>> = {
  rate: "its rate",
  interval: "its interval",
  window: "a used-up window",
  concurrency: "its concurrency",
  cooldown: "a cooldown",
  line: "its line",
};

/** Why a queue stands still, in words. */
export function standingText(standing: Standing, outRate: number, now: number): string {
  const { reason, gate, part, until, note } = standing;
  switch (reason) {
    case "paused":
      return "paused";
    case "no-workers":
      return "no workers";
    case "busy":
      return "all workers are busy and none has finished lately";
    case "dead-letters":
      return "holds dead letters";
    case "gated": {
      const by = part === undefined ? "" : ` (${PARTS[part] ?? part})`;
      if (outRate > 0) return `moving, held back by ${gate}${by}`;
      const when =
        until === undefined
          ? " until something is released"
          : until > now + 1_000
            ? ` until ${timeOfDay(until, now)}`
            : "";
      return `all gated by ${gate}${by}${when}${note === undefined ? "" : `: ${note}`}`;
    }
  }
}

/** A rate that is used up as fast as it comes is no trouble: the queue moves, at that rate. */
export function isTrouble(standing: Standing | undefined, outRate: number): boolean {
  if (standing === undefined || standing.reason === "dead-letters") return false;
  return !(standing.reason === "gated" && outRate > 0);
}
