/** npm runs a command in a shell (`npx sluice serve`, or a script of package.json) and passes
 * SIGTERM to that shell only. The shell ends, and the command would keep running. Node has no event
 * for a parent that ends, so this checks. */

import { PARENT_LOOK_MS } from "./limits.ts";

/** A shell that only waits for us. One with `&` ends while we are meant to stay. */
const ONLY_US = /^'?sluice\b[^&;|]*$/;

export function whenShellEnds(env: NodeJS.ProcessEnv, ended: () => void): void {
  if (!ONLY_US.test(env.npm_lifecycle_script ?? "")) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    ended();
  }, PARENT_LOOK_MS);
  timer.unref();
}
