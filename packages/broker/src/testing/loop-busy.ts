/** How often the loop is looked at. */
const EVERY_MS = 2;

/**
 * For how long the event loop was kept from turning while `act` ran, the 99th percentile: the
 * processor time that this thread has used between two looks. The time that passes on the wall is
 * no measure on a machine that is busy with other things, which delay us too.
 */
export async function loopBusyP99Ms(act: () => Promise<void>): Promise<number> {
  const busy: number[] = [];
  let last = ownMs();
  const look = setInterval(() => {
    const now = ownMs();
    busy.push(now - last);
    last = now;
  }, EVERY_MS);
  await act();
  clearInterval(look);
  busy.sort((a, b) => a - b);
  return busy[Math.floor(busy.length * 0.99)] ?? 0;
}

function ownMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
