// A place where a new user starts: an empty directory, npm with a cache of its own, and a registry
// that has the packed tarballs.

import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { openRegistry } from "./registry.ts";

export const ROOT = join(import.meta.dirname, "../../..");
const PROGRAMS = join(import.meta.dirname, "programs");
const run = promisify(execFile);

export interface Said {
  readonly out: string;
  readonly err: string;
}

export class Place {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;

  constructor(dir: string, env: NodeJS.ProcessEnv) {
    this.dir = dir;
    this.env = env;
  }

  /** An empty directory with a package.json, and what is installed there. */
  async folder(name: string, ...packages: string[]): Promise<string> {
    const folder = join(this.dir, name);
    mkdirSync(folder, { recursive: true });
    const allowScripts = { node: true, bun: true, deno: true, esbuild: true };
    const manifest = { name, private: true, type: "module", allowScripts };
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    if (packages.length > 0) await this.run(folder, "npm", ["install", ...packages]);
    return folder;
  }

  copy(program: string, folder: string): string {
    const path = join(folder, program);
    cpSync(join(PROGRAMS, program), path);
    return path;
  }

  /** Rejects with what the program has written when it does not end well. */
  async run(cwd: string, program: string, args: string[], env = {}): Promise<Said> {
    const options = { cwd, env: { ...this.env, ...env }, timeout: 180_000, killSignal: "SIGKILL" };
    const { stdout, stderr } = await run(program, args, options as never);
    return { out: String(stdout), err: String(stderr) };
  }
}

export async function openPlace(): Promise<{ place: Place; close(): Promise<void> }> {
  // `npm run test:e2e` has packed them; a test that is run alone does it.
  if (process.env.SLUICE_BUILT === undefined) {
    execFileSync(process.execPath, [join(ROOT, "scripts", "pack.ts")], { stdio: "inherit" });
  }
  const upstream = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const registry = await openRegistry(join(ROOT, "dist"), upstream);
  const dir = mkdtempSync(join(tmpdir(), "sluice-packages-"));
  const env = {
    ...process.env,
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    npm_config_registry: registry.url,
    npm_config_cache: join(dir, "cache"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
  const close = async (): Promise<void> => {
    await registry.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { place: new Place(dir, env), close };
}
