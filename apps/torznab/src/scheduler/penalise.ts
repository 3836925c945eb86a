import type { Sluice } from "sluice";
import { RETRY_AFTER_MS_MAX } from "../limits.ts";
import type { Fault } from "./fault.ts";

/**
 * Cools an indexer's gate down: for what it asked, or for the ladder's step when that is longer.
 * Called before the task gives its permit back, so that no other task slips through in between.
 */
export async function penalise(sluice: Sluice, key: string, fault: Fault): Promise<void> {
  if (fault.penalty === "none") return;
  const gate = sluice.gate(key);
  await gate.report(false);
  const { ladderStep, config } = await gate.info();
  const stepMs = config?.ladder?.[ladderStep - 1] ?? 0;
  const askedMs = fault.penalty === "limit" ? Math.min(fault.retryAfterMs, RETRY_AFTER_MS_MAX) : 0;
  // One millisecond more than the step: the later cooldown's reason is the one that is shown.
  await gate.cooldown(Math.max(askedMs, stepMs + 1), fault.message);
}
