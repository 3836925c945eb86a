import { toSluiceError } from "@sluice/protocol";
import { REACH_AGAIN_MS } from "./limits.ts";

const PASSING: readonly string[] = [
  "DISCONNECTED",
  "UNAVAILABLE",
  "TIMEOUT",
  "MOVED",
  "RECOVERING",
];

/**
 * Retries for as long as there is no answer. In a cluster that is a partition which is
 * still being read, however long that takes: giving up would only start it again. A
 * broker that is closed meanwhile says so, and ends it.
 */
export async function untilReached<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!PASSING.includes(toSluiceError(error).code)) throw error;
    }
    await new Promise<void>((resolve) => setTimeout(resolve, REACH_AGAIN_MS).unref());
  }
}
