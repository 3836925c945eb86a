// The command `sluice` as its users have it: the packages that `npm run build` made, installed into
// a directory. Without them, the sources.

import { cpSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

export interface Command {
  readonly program: string;
  // For the conditions of what is measured with it.
  readonly what: string;
}

const ROOT = join(import.meta.dirname, "../..");
const PACKAGES = join(ROOT, "dist/packages");
const MAIN = "sluice";

export function commandIn(dir: string): Command {
  if (!existsSync(join(PACKAGES, MAIN, "package.json"))) {
    const program = join(ROOT, "packages/cli/src/main.ts");
    return { program, what: "the sources; npm run build makes what is published" };
  }
  install(join(dir, "node_modules"));
  const built = statSync(join(PACKAGES, MAIN, "package.json")).mtime.toISOString();
  return {
    program: join(dir, "node_modules", MAIN, "bin/sluice.mjs"),
    what: `as published, built ${built.slice(0, 16)}Z`,
  };
}

// Node finds other packages beside a package's real place, so ours are copied and theirs linked.
function install(modules: string): void {
  mkdirSync(join(modules, "@sluice"), { recursive: true });
  for (const name of readdirSync(PACKAGES)) {
    const scope = name === MAIN ? "" : "@sluice";
    cpSync(join(PACKAGES, name), join(modules, scope, name), { recursive: true });
  }
  const theirs = join(ROOT, "node_modules");
  for (const name of readdirSync(theirs)) {
    if (name === MAIN || name === "@sluice") continue;
    symlinkSync(join(theirs, name), join(modules, name));
  }
}
