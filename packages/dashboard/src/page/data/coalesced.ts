/** How long to rest after work that took so long; resolves when it is over. */
export type Rest = (tookMs: number) => Promise<void> | undefined;

const QUICK_MS = 50;
const REST_TIMES = 4;

/** What takes long takes a fifth of the time at most; what is quick needs no rest. */
export const longRest: Rest = (tookMs) =>
  tookMs < QUICK_MS
    ? undefined
    : new Promise((resolve) => setTimeout(resolve, REST_TIMES * tookMs));

/** Calls that come while one is under way, or rests, become one more after it. */
export function coalesced(work: () => Promise<void>, rest: Rest = longRest): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    if (isRunning) {
      isWanted = true;
      return;
    }
    isRunning = true;
    try {
      do {
        isWanted = false;
        const since = performance.now();
        await work();
        await rest(performance.now() - since);
      } while (isWanted);
    } finally {
      isRunning = false;
    }
  };
  return () => void run();
}
