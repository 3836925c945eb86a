// A package with a bug: a copy of its sources with one piece of text replaced. The packages
// themselves have no switch for bugs and never get one.

import assert from "node:assert/strict";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export interface PlantedBug {
  // The seed at which the search for it begins: one that has found it before. Default 1.
  readonly seed?: number;
  // The package that has it, when that is not the one to be loaded but one below it.
  readonly in?: string;
  // The name of the file, in whatever folder of the package it is.
  readonly file: string;
  // This piece of text becomes `put`. Where the file has it more than once, it is the first one
  // after `within`.
  readonly find: string;
  readonly within?: string;
  readonly put: string;
}

// What is loaded with the bug.
export interface Planting {
  readonly name: string;
  readonly entry?: string;
}

// A harness that cannot see a bug is no harness: each must be found within so many seeds. `run`
// answers what broke in a world, with the package that has the bug and without one.
export function findPlanted<Module, Bug extends PlantedBug>(
  bugs: Readonly<Record<string, Bug>>,
  seedsMax: number,
  of: Planting | ((bug: Bug) => Planting),
  run: (seed: number, bug: Bug, module: Module | undefined) => Promise<unknown>,
): void {
  for (const [name, bug] of Object.entries(bugs)) {
    test(`found: ${name}`, async (t) => {
      const module = await plant<Module>(typeof of === "function" ? of(bug) : of, bug);
      const broken = (seed: number) => run(seed, bug, module);
      const brokenAnyway = (seed: number) => run(seed, bug, undefined);
      t.diagnostic(await hunt(bug.seed ?? 1, seedsMax, broken, brokenAnyway));
    });
  }
}

async function plant<Module>(
  { name, entry = "index.ts" }: Planting,
  bug: PlantedBug,
): Promise<Module> {
  const folder = mkdtempSync(join(tmpdir(), "sluice-planted-"));
  try {
    const target = bug.in ?? name;
    copyPackage(name, join(folder, name), name === target ? {} : { [target]: folder });
    if (name !== target) copyPackage(target, join(folder, target), {});
    const file = fileOf(join(folder, target, "src"), bug.file);
    writeFileSync(file, replaceOnce(readFileSync(file, "utf8"), bug));
    return await import(pathToFileURL(join(folder, name, "src", entry)).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// `copies` says in which folder those of its packages are that are not the real ones.
function copyPackage(name: string, to: string, copies: Readonly<Record<string, string>>): void {
  const from = packageOf(name);
  cpSync(join(from, "src"), join(to, "src"), {
    recursive: true,
    filter: (path) => !path.endsWith(".test.ts"),
  });
  cpSync(join(from, "package.json"), join(to, "package.json"));
  const manifest = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  for (const used of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (!used.startsWith("@sluice/")) continue;
    const link = join(to, "node_modules", used);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(used in copies ? join(copies[used]!, used) : packageOf(used), link);
  }
}

function packageOf(name: string): string {
  return dirname(dirname(fileURLToPath(import.meta.resolve(name))));
}

function fileOf(folder: string, name: string): string {
  const found = globSync(`**/${name}`, { cwd: folder });
  assert.equal(found.length, 1, `${found.length} files are called ${name}`);
  return join(folder, found[0]!);
}

function replaceOnce(text: string, { file, within, find, put }: PlantedBug): string {
  const from = within === undefined ? 0 : text.indexOf(within);
  assert.ok(from >= 0, `${file} has no ${within}`);
  const at = text.indexOf(find, from);
  assert.ok(at >= 0, `${file} has no ${find} after ${within ?? "its beginning"}`);
  const isOnly = within !== undefined || text.indexOf(find, at + 1) === -1;
  assert.ok(isOnly, `${file} has ${find} more than once: say within what`);
  return text.slice(0, at) + put + text.slice(at + find.length);
}

// The first seed from there on in which something is broken, and nothing is without the bug; what
// it broke, for the reader of a test run.
export async function hunt(
  first: number,
  seedsMax: number,
  broken: (seed: number) => unknown,
  brokenAnyway: (seed: number) => unknown,
): Promise<string> {
  for (let seed = first; seed < first + seedsMax; seed++) {
    const failure = await broken(seed);
    if (failure === undefined || (await brokenAnyway(seed)) !== undefined) continue;
    return `seed ${seed}: ${String(failure).split("\n")[0]}`;
  }
  return assert.fail(`not found in ${seedsMax} seeds`);
}
