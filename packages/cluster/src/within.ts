import { type Clock, type ErrorCode, SluiceError } from "@sluice/protocol";
import type { Socket } from "@sluice/protocol/wire";
import { TRY_AGAIN_MS } from "./limits.ts";

/** Rejects with TIMEOUT when the answer takes too long. A later answer is ignored. */
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

/** As `within`; a connection that comes too late is closed. */
export async function dialWithin(
  clock: Clock,
  ms: number,
  dialled: Promise<Socket>,
): Promise<Socket> {
  try {
    return await within(clock, ms, dialled);
  } catch (error) {
    dialled.then((socket) => socket.close(1000, "too late")).catch(() => {});
    throw error;
  }
}

/** Another writer was faster. */
export function isConflict(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "CONFLICT";
}

/** Repeats the call for a while if there is no answer: the election of a leader ends soon. */
export async function keepTrying<T>(clock: Clock, ms: number, act: () => Promise<T>): Promise<T> {
  const endAt = clock.now() + ms;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const isPassing = error instanceof SluiceError && PASSING.includes(error.code);
      if (!isPassing || clock.now() >= endAt) throw error;
    }
    await new Promise<void>((resolve) => clock.at(clock.now() + TRY_AGAIN_MS, resolve));
  }
}

const PASSING: readonly ErrorCode[] = ["DISCONNECTED", "UNAVAILABLE", "TIMEOUT"];
