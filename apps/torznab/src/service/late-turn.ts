import { Fault } from "../scheduler/fault.ts";

/**
 * What a request that ran out of time means. When the search had waited for our own limits for
 * longer than was left for the request, the wait is to blame, and the search may be tried again.
 */
export function lateTurn(error: unknown, waitedMs: number, leftMs: number): unknown {
  const isTimeout = error instanceof Fault && error.status === "timeout";
  if (!isTimeout || error.penalty !== "none" || waitedMs <= leftMs) return error;
  const text = `it had its turn after ${waitedMs} ms and no answer in the ${leftMs} ms left`;
  return new Fault(text, { status: "rate_limited" });
}
