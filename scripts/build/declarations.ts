// The types of all packages, by one run of the compiler: declarations alone, without what is marked
// as internal.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { publishedExports, type SourceManifest, type SourcePackage } from "./packages.ts";

export function emitDeclarations(
  root: string,
  packages: readonly SourcePackage[],
  out: string,
): void {
  mkdirSync(out, { recursive: true });
  const entries = packages.flatMap((source) => entriesOf(source).map((path) => join(root, path)));
  const sources = sourcesBehind(root, out, entries);
  runTsc(root, writeConfig(root, out, sources));
  const missing = sources.find((path) => !existsSync(declarationOf(root, out, path)));
  if (missing !== undefined) throw new Error(`tsc emitted no declarations of ${missing}`);
  for (const source of packages) checkImports(source, join(out, source.folder, "src"));
}

// All sources are roots of the run that emits. With the entries alone, tsc takes files that it
// reaches through `node_modules` first for those of another project, and which these are differs
// from run to run: 634 to 738 of 738 were emitted.
function sourcesBehind(root: string, out: string, entries: readonly string[]): string[] {
  const listed = runTsc(root, writeConfig(root, out, entries), "--listFilesOnly").split("\n");
  const all = listed.map((line) => line.trim()).filter((path) => path !== "");
  const isOwn = (path: string): boolean => /^(packages|apps)[\\/]/.test(relative(root, path));
  return all.filter((path) => isOwn(path) && !path.includes("node_modules"));
}

function declarationOf(root: string, out: string, source: string): string {
  return join(out, relative(root, source)).replace(/\.ts$/, ".d.ts");
}

function writeConfig(root: string, out: string, files: readonly string[]): string {
  const config = join(out, "tsconfig.json");
  const settings = {
    extends: relative(out, join(root, "tsconfig.json")),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      stripInternal: true,
      rootDir: root,
      outDir: out,
      typeRoots: [join(root, "node_modules", "@types")],
    },
    include: [],
    files,
  };
  writeFileSync(config, JSON.stringify(settings, undefined, 2));
  return config;
}

function runTsc(root: string, config: string, ...args: string[]): string {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "--project", config, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 16 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`the declarations could not be emitted:\n${stdout}`);
  return stdout;
}

function checkImports({ manifest }: SourcePackage, folder: string): void {
  for (const file of globSync("**/*.d.ts", { cwd: folder })) {
    const [name] = undeclaredImports(readFileSync(join(folder, file), "utf8"), manifest);
    if (name === undefined) continue;
    const advice = "write the type out in its source, or add the package to its dependencies";
    throw new Error(`${manifest.name}: ${file} imports "${name}", no dependency; ${advice}`);
  }
}

// Where tsc infers a type, it may name it by a package that only the repository has at hand.
export function undeclaredImports(declarations: string, manifest: SourceManifest): string[] {
  const { name, dependencies, peerDependencies } = manifest;
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...peerDependencies })]);
  const code = declarations.replaceAll(/\/\*.*?\*\//gs, "");
  const found = code.matchAll(/(?<!["'])\b(?:from|import)\b\s*\(?\s*["']([^"']+)["']/g);
  const outside = [...found].map(([, id]) => id!).filter((id) => !/^(\.|node:)/.test(id));
  return outside.filter((id) => !declared.has(/^(@[^/]+\/)?[^/]+/.exec(id)![0]));
}

function entriesOf({ folder, manifest }: SourcePackage): string[] {
  return Object.values(publishedExports(manifest))
    .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
    .map((source) => join(folder, source));
}
