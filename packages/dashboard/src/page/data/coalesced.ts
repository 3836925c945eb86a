/** Calls that come while one is under way become one more, after it. */
export function coalesced(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isWanted = false;
  const run = async (): Promise<void> => {
    if (isRunning) {
      isWanted = true;
      return;
    }
    isRunning = true;
    try {
      await work();
    } finally {
      isRunning = false;
    }
    if (!isWanted) return;
    isWanted = false;
    await run();
  };
  return () => void run();
}
