import { setTimeout as pause } from "node:timers/promises";

const DEADLINE_MS = 60_000;
const ASK_EVERY_MS = 100;

/** Third-party programs send no event for the condition, so this polls them. */
export async function until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`waited too long for ${what}`);
    await pause(ASK_EVERY_MS);
  }
}
