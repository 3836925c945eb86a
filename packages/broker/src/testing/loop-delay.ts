import { monitorEventLoopDelay } from "node:perf_hooks";

const ROUNDS = 4;

/**
 * The 99th percentile of the event loop's delay while `act` runs, the least of some rounds: a
 * machine that is busy with other things delays us too, but code that blocks does so every time.
 */
export async function loopDelayP99Ms(
  enoughMs: number,
  act: (round: number) => Promise<void>,
): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && least >= enoughMs; round++) {
    const delay = monitorEventLoopDelay({ resolution: 2 });
    delay.enable();
    await act(round);
    delay.disable();
    least = Math.min(least, delay.percentile(99) / 1e6);
  }
  return least;
}
