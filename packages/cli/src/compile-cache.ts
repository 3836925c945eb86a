/**
 * Lets Node keep what it has compiled of the command, so that the next start need not compile it
 * again: a quarter of the processor time of a start.
 *
 * What is kept is run as it is. So it lies in a directory of the user, and is not used when others
 * could write there. Node's own place, below the directory for temporary files, is shared.
 */
import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The mode bits with which others could write. */
const OTHERS_WRITE = 0o022;
/** In such a directory only the owner of a file renames it. */
const STICKY = 0o1000;
const ROOT = 0;

/** Without a fitting directory the command works all the same, and starts more slowly. */
export function keepCompiled(env: Env): void {
  // NODE_COMPILE_CACHE has chosen a directory by now.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_COMPILE_CACHE) return;
  const dir = ownDirectory(env);
  if (dir === undefined) return;
  try {
    process.getBuiltinModule("node:module").enableCompileCache(dir);
  } catch {
    // A runtime without it starts as it always does.
  }
}

/** Made if it is missing; undefined when it cannot be made, or is not the user's alone. */
export function ownDirectory(env: Env): string | undefined {
  const base = cacheBase(env);
  if (base === undefined || !isAbsolute(base)) return undefined;
  try {
    if (!isSafe(realpathSync(existing(base)))) return undefined;
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

/** The nearest directory that is there. */
function existing(path: string): string {
  return existsSync(path) ? path : existing(dirname(path));
}

/**
 * Whether no other user but root can rename a directory on this path: its place would then be
 * another one while the command runs. So a command that root runs with the home of another user
 * keeps nothing there.
 */
function isSafe(path: string): boolean {
  if (process.geteuid === undefined) return true;
  const { uid, mode } = lstatSync(path);
  if (uid !== ROOT && uid !== process.geteuid()) return false;
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) return false;
  return path === dirname(path) || isSafe(dirname(path));
}
