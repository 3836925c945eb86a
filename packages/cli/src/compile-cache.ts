/**
 * Lets Node keep what it has compiled of the command, so that the next start need not compile it
 * again: a quarter of the processor time of a start.
 *
 * What is kept is run as it is. So it lies in a directory of the user, and is not used when others
 * could write there. Node's own place, below the directory for temporary files, is shared.
 */
import { lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The mode bits with which others could write. */
const OTHERS_WRITE = 0o022;

/** Without a fitting directory the command works all the same, and starts more slowly. */
export function keepCompiled(env: Env): void {
  const dir = ownDirectory(env);
  if (dir === undefined) return;
  // Node's own variables hold: NODE_COMPILE_CACHE has chosen a directory by now, and with
  // NODE_DISABLE_COMPILE_CACHE this does nothing.
  try {
    process.getBuiltinModule("node:module").enableCompileCache(dir);
  } catch {
    // A runtime without it starts as it always does.
  }
}

/** Made if it is missing; undefined when it cannot be made, or is not the user's alone. */
export function ownDirectory(env: Env): string | undefined {
  const base = cacheBase(env);
  if (base === undefined) return undefined;
  try {
    mkdirSync(base, { recursive: true, mode: 0o700 });
    const dir = join(realpathSync(base), "sluice");
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // Who may write in the directory above could put another one in its place.
    return isOwn(dir) && isOwn(dirname(dir)) ? dir : undefined;
  } catch {
    return undefined;
  }
}

function cacheBase({ XDG_CACHE_HOME, LOCALAPPDATA, HOME }: Env): string | undefined {
  if (process.platform === "win32") return LOCALAPPDATA || undefined;
  return XDG_CACHE_HOME || (HOME ? join(HOME, ".cache") : undefined);
}

function isOwn(path: string): boolean {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return false;
  // On Windows the rights of a user's directory are not in its mode.
  if (process.getuid === undefined) return true;
  return stat.uid === process.geteuid!() && (stat.mode & OTHERS_WRITE) === 0;
}
