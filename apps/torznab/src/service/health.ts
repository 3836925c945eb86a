/**
 * Whether the service can store what it does. Without its log no request may be sent: what it uses
 * of an indexer's limits would be forgotten.
 */
import { type Sluice, SluiceError } from "sluice";
import type { Readiness } from "sluice/http";
import { READY_MS } from "../limits.ts";

/** Resolves when the log takes nothing more; other errors go to `onError`. */
export function logFailure(sluice: Sluice, onError: (error: Error) => void): Promise<Error> {
  return new Promise((resolve) => {
    sluice.on("error", ({ error }) => {
      if (error instanceof SluiceError && error.code === "LOG_FAILED") resolve(error);
      else onError(error);
    });
  });
}

export async function readinessOf(sluice: Sluice): Promise<Readiness> {
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`no answer within ${READY_MS} ms`);
    setTimeout(reject, READY_MS, error).unref();
  });
  try {
    await Promise.race([sluice.store("torznab-health").put("alive", Date.now()), late]);
    return { isReady: true, text: "ready" };
  } catch (error) {
    return { isReady: false, text: `the log takes nothing: ${(error as Error).message}` };
  }
}
