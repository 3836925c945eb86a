import type { Clock, Timer } from "@sluice/protocol";

/**
 * Calls back at intervals of the clock until `stop` is called. The next time is set when a call has
 * ended: one that takes long delays the next.
 */
export function every(clock: Clock, ms: number, call: () => void | Promise<void>): () => void {
  let timer: Timer;
  let isOver = false;
  const callAt = (time: number): void => {
    timer = clock.at(time, async () => {
      await call();
      if (!isOver) callAt(Math.max(time + ms, clock.now()));
    });
    timer.unref?.();
  };
  callAt(clock.now() + ms);
  return () => {
    isOver = true;
    timer.cancel();
  };
}
