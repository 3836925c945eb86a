/** Why a download did not come, in the catalogue's words. */
import { type ErrorCode, SluiceError } from "sluice";
import { TorznabFault } from "../client/torznab-fault.ts";
import { Fault } from "../scheduler/fault.ts";
import { RateLimitWaitError } from "../scheduler/outcome.ts";

export function downloadError(error: unknown): unknown {
  if (error instanceof RateLimitWaitError) {
    return new SluiceError("RATE_LIMITED", error.message, { retryAfterMs: error.wait });
  }
  if (!(error instanceof Fault)) return error;
  const { message, retryAfterMs } = error;
  const details = error.penalty === "limit" && retryAfterMs > 0 ? { retryAfterMs } : {};
  return new SluiceError(codeOf(error), message, details);
}

function codeOf(fault: Fault): ErrorCode {
  if (fault.penalty === "limit") return "RATE_LIMITED";
  if (fault.status === "timeout") return "TIMEOUT";
  // It is paused, or its key was refused.
  if (fault.status === "skipped") return "CONFLICT";
  const isGone = fault instanceof TorznabFault && (fault.code === 300 || fault.httpStatus === 404);
  return isGone ? "NOT_FOUND" : "DISCONNECTED";
}
