/**
 * The promise's value, or the signal's reason as soon as it aborts: a function that ignores its
 * signal must not hold a worker and a gate. What becomes of the promise after that is ignored.
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    aborted.catch(() => {});
  }
}
