// Imports between packages point one way. This table is the architecture: an import that is not in
// it is not allowed.

import { posix } from "node:path";
import { importsOf, lineAt } from "../syntax.ts";
import { type Finding, isTest, isTypeScript, type SourceFile, type Tree, unitOf } from "../tree.ts";

const LIBRARY = [
  "engine",
  "log",
  "protocol",
  "broker",
  "client",
  "server",
  "cluster",
  "dashboard",
  "sluice",
];
const packages = (...names: string[]): string[] => names.map((name) => `packages/${name}`);

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  "packages/engine": [],
  "packages/protocol": [],
  "packages/dashboard": packages("protocol"),
  "packages/log": packages("protocol"),
  "packages/broker": packages("engine", "log", "protocol"),
  "packages/client": packages("protocol"),
  "packages/server": packages("protocol", "dashboard"),
  "packages/cluster": packages("protocol", "client", "server", "broker", "log"),
  "packages/sluice": packages("broker", "client", "log", "protocol", "engine", "server", "cluster"),
  "packages/cli": [...packages(...LIBRARY), "apps/*"],
  "packages/sim": [...packages(...LIBRARY), "apps/*"],
  "apps/*": packages("sluice"),
  bench: [...packages(...LIBRARY), "apps/*"],
  examples: packages("sluice"),
  scripts: packages("protocol", "sluice", "client", "log", "server", "cluster", "dashboard"),
  tests: [...packages("sluice"), "apps/*"],
};

// Arrows for types alone: nothing is loaded at run time. The engine owns the types of what it is
// given, and the protocol says how users write it.
const TYPES: Readonly<Record<string, readonly string[]>> = {
  "packages/protocol": packages("engine"),
};

// The two ends of the graph: nothing may lean on them, tests included.
const IMPORTED_BY_NONE = packages("cli", "sim");

export function arrows(tree: Tree): Finding[] {
  const unitByName = readPackageNames(tree);
  return tree.filter(isTypeScript).flatMap((file) => checkFile(file, unitByName));
}

function readPackageNames(tree: Tree): Map<string, string> {
  const unitByName = new Map<string, string>();
  for (const { path, text } of tree) {
    if (posix.basename(path) !== "package.json" || !path.includes("/")) continue;
    unitByName.set(JSON.parse(text).name, posix.dirname(path));
  }
  return unitByName;
}

function checkFile(file: SourceFile, unitByName: ReadonlyMap<string, string>): Finding[] {
  const from = unitOf(file.path);
  return importsOf(file).flatMap(({ specifier, offset, isType }) => {
    const to = unitByName.get(nameOf(specifier));
    const message = specifier.startsWith(".")
      ? judgeRelative(file, from, specifier)
      : isType && to !== undefined && TYPES[from]?.includes(to)
        ? undefined
        : judgeArrow(file, from, to);
    return message === undefined
      ? []
      : [{ path: file.path, line: lineAt(file.text, offset), message }];
  });
}

function judgeRelative(file: SourceFile, from: string, specifier: string): string | undefined {
  const to = unitOf(posix.join(posix.dirname(file.path), specifier));
  return to === from ? undefined : `reaches into ${to} by path; import a package by its name`;
}

function judgeArrow(file: SourceFile, from: string, to: string | undefined): string | undefined {
  if (to === undefined || to === from) return undefined;
  if (IMPORTED_BY_NONE.includes(to)) return `nothing may import ${to}`;
  // Code in a `testing` folder is only for tests, and is not published.
  if (isTest(file) || file.path.includes("/src/testing/")) return undefined;
  const allowed = ALLOWED[from] ?? ALLOWED[familyOf(from)];
  if (allowed === undefined) return `${from} has no row in the table of allowed arrows`;
  if (allowed.includes(to) || allowed.includes(familyOf(to))) return undefined;
  return `${from} may not import ${to}`;
}

function familyOf(unit: string): string {
  return unit.replace(/\/.*/, "/*");
}

// `@scope/name/sub` and `name/sub` belong to the package without the `/sub`.
function nameOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}
