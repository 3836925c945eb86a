import { setImmediate } from "node:timers/promises";

// Looks again each time that the event loop has turned.
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await setImmediate();
}
