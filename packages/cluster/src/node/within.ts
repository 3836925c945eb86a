import { type Clock, SluiceError } from "@sluice/protocol";

/** Rejects with TIMEOUT when the answer takes too long; what comes later is nobody's. */
export async function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = clock.at(clock.now() + ms, () =>
    reject(new SluiceError("TIMEOUT", `no answer within ${ms} ms`)),
  );
  answer.catch(() => {});
  try {
    return await Promise.race([answer, promise]);
  } finally {
    timer.cancel();
  }
}

/** Somebody else was faster. */
export function isConflict(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "CONFLICT";
}
