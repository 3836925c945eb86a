// Removes a directory that others may still be writing to, or removing from.

import { existsSync, rmSync } from "node:fs";

const ATTEMPTS_MAX = 100;
const REST_MS = 100;

type Remove = (path: string) => void;
const remove: Remove = (path) => rmSync(path, { recursive: true, force: true });

// At the end of a process nothing can be awaited but time itself: servers that end may
// still write their last, and then an attempt throws. Where they remove a file themselves it ends
// early and says nothing, so that only a look tells.
export function removeTree(dir: string, attempt = remove, restMs = REST_MS): void {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  let failure: unknown;
  for (let left = ATTEMPTS_MAX; left > 0; left--) {
    try {
      attempt(dir);
    } catch (error) {
      failure = error;
    }
    if (!existsSync(dir)) return;
    Atomics.wait(clock, 0, 0, restMs);
  }
  throw new Error(`${dir} could not be removed`, { cause: failure });
}
