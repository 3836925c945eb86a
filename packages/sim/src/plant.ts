// A package with a bug: its modules loaded once more, one of them with a piece of text replaced.
// The packages themselves have no switch for bugs and never get one.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { test } from "node:test";

export interface PlantedBug {
  // The seed at which the search for it begins: one that has found it before. Default 1.
  readonly seed?: number;
  // The package that has it, when that is not the one to be loaded but one below it.
  readonly in?: string;
  // Its path from the sources, or its name where no other file has it.
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

// What the modules of one planting have in their addresses, and what is known of each.
const MARK = "?planted=";
const plantings: { readonly folders: readonly string[]; readonly file: string; text: string }[] =
  [];
// Modules without a bug are the same for all plantings.
const plainTexts = new Map<string, string>();

async function plant<Module>(
  { name, entry = "index.ts" }: Planting,
  bug: PlantedBug,
): Promise<Module> {
  if (plantings.length === 0) registerHooks({ resolve, load });
  const from = sourcesOf(name);
  const folder = bug.in === undefined ? from : sourcesOf(bug.in);
  const file = new URL(fileOf(new URL(folder), bug.file), folder);
  const text = stripTypeScriptTypes(replaceOnce(readFileSync(file, "utf8"), bug));
  const number = plantings.push({ folders: [from, folder], file: file.href, text });
  return import(`${from}${entry}${MARK}${number}`);
}

type Hooks = Parameters<typeof registerHooks>[0];

// A module of a planting imports those of its packages that belong to the same planting.
const resolve: Hooks["resolve"] = (specifier, context, next) => {
  const found = next(specifier, context);
  const [, number] = (context.parentURL ?? "").split(MARK);
  const isPart = plantings[Number(number) - 1]?.folders.some((one) => found.url.startsWith(one));
  return isPart === true ? { ...found, url: `${found.url}${MARK}${number}` } : found;
};

const load: Hooks["load"] = (url, context, next) => {
  const [file, number] = url.split(MARK) as [string, string?];
  const planting = plantings[Number(number) - 1];
  if (planting === undefined) return next(url, context);
  const source = planting.file === file ? planting.text : plainText(file);
  return { format: "module", source, shortCircuit: true };
};

function plainText(file: string): string {
  const known = plainTexts.get(file);
  if (known !== undefined) return known;
  const text = stripTypeScriptTypes(readFileSync(new URL(file), "utf8"));
  plainTexts.set(file, text);
  return text;
}

// A path from the folder, or a name that one file has in whatever folder.
function fileOf(folder: URL, name: string): string {
  if (existsSync(new URL(name, folder))) return name;
  const found = globSync(`**/${name}`, { cwd: folder });
  assert.equal(found.length, 1, `${found.length} files are called ${name}`);
  return found[0]!;
}

// The folder of a package's sources, as an address.
function sourcesOf(name: string): string {
  return new URL(".", import.meta.resolve(name)).href;
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
