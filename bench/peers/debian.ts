// Servers from Debian's packages, unpacked into a cache and never installed. What a package needs
// and this machine lacks is unpacked beside it.

import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = 0;

export interface Unpacked {
  // Where the package's files stand as if this were "/".
  readonly root: string;
  readonly version: string;
  // For programs that look for their libraries.
  readonly env: NodeJS.ProcessEnv;
}

// Servers run as a user who may not read the home of root.
export function cacheDir(): string {
  const own = process.env.SLUICE_BENCH_CACHE;
  const home = process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache");
  const dir = own ?? join(process.getuid?.() === ROOT ? "/var/tmp" : home, "sluice-bench");
  mkdirSync(dir, { recursive: true, mode: 0o755 });
  if (statSync(dir).uid !== process.getuid?.()) throw new Error(`${dir} belongs to someone else`);
  return dir;
}

// Of what it says only the last line tells why it failed.
async function run(
  program: string,
  args: readonly string[],
  cwd = "/",
): Promise<{ stdout: string }> {
  try {
    return await promisify(execFile)(program, args, { cwd });
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new Error(`it needs Debian's ${program}`);
    throw new Error(`${program}: ${stderr?.trim().split("\n").at(-1) || String(error)}`);
  }
}

// The first package is the server itself; the others are unpacked even where they are installed.
export async function unpack(packages: readonly string[]): Promise<Unpacked> {
  const dir = join(cacheDir(), packages[0]!);
  if (!existsSync(dir)) await fetchInto(dir, packages);
  const debs = join(dir, "debs");
  const own = readdirSync(debs).find((name) => name.startsWith(`${packages[0]}_`));
  if (own === undefined) throw new Error(`${debs} has no ${packages[0]}`);
  const root = join(dir, "root");
  const libraries = [`usr/lib/${gnuName()}`, `lib/${gnuName()}`].map((path) => join(root, path));
  return {
    root,
    version: versionOf(join(debs, own)),
    env: { LD_LIBRARY_PATH: libraries.join(":") },
  };
}

// Of packages with their version in the name, the one that is unpacked already or the newest.
export async function newestOf(prefix: string): Promise<string> {
  const isOne = (name: string): boolean => new RegExp(`^${prefix}\\d+$`).test(name);
  const names = readdirSync(cacheDir()).filter(isOne);
  if (names.length === 0) {
    const { stdout } = await run("apt-cache", ["pkgnames", prefix]);
    names.push(...stdout.split("\n").filter(isOne));
  }
  const number = (name: string): number => Number(name.replace(prefix, ""));
  const newest = names.sort((a, b) => number(b) - number(a))[0];
  if (newest === undefined) throw new Error(`apt-cache knows no ${prefix}*`);
  return newest;
}

async function fetchInto(dir: string, packages: readonly string[]): Promise<void> {
  const partial = `${dir}.partial`;
  rmSync(partial, { recursive: true, force: true });
  const debs = join(partial, "debs");
  mkdirSync(debs, { recursive: true });
  const names = [...new Set([...packages, ...(await missing(packages))])];
  await run("apt-get", ["download", "-q", ...names], debs);
  for (const deb of readdirSync(debs)) {
    await run("dpkg", ["-x", join(debs, deb), join(partial, "root")]);
  }
  renameSync(partial, dir);
}

// What an installation would bring along; asking changes nothing and needs no rights.
async function missing(packages: readonly string[]): Promise<string[]> {
  const ask = () =>
    run("apt-get", ["install", "--simulate", "--no-install-recommends", ...packages]);
  const { stdout } = await ask().catch(async (error) => {
    // The lists may be absent.
    if (process.getuid?.() !== ROOT) throw error;
    await run("apt-get", ["update", "-q"]);
    return ask();
  });
  return [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name = ""]) => name);
}

function versionOf(deb: string): string {
  const text = execFileSync("dpkg-deb", ["-f", deb, "Version"], { encoding: "utf8" }).trim();
  return text.replace(/^\d+:/, "").replace(/-[^-]*$/, "");
}

function gnuName(): string {
  return process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
}
