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
 * Does it again for as long as nobody is there to answer. In a cluster that is a partition which is
 * still being read, however long that takes: whoever gave up would only have it start anew. A
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
