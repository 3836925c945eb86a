// The types of all packages, by one run of the compiler: declarations alone, without what is marked
// as internal.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { publishedExports, type SourcePackage } from "./packages.ts";

export function emitDeclarations(
  root: string,
  packages: readonly SourcePackage[],
  out: string,
): void {
  mkdirSync(out, { recursive: true });
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
    files: packages.flatMap((source) => sourcesOf(source).map((path) => join(root, path))),
  };
  writeFileSync(config, JSON.stringify(settings, undefined, 2));
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "--project", config], { stdio: "inherit" });
  if (status !== 0) throw new Error("the declarations could not be emitted");
}

function sourcesOf({ folder, manifest }: SourcePackage): string[] {
  return Object.values(publishedExports(manifest))
    .flatMap((target) => (typeof target === "string" ? [target] : Object.values(target)))
    .map((source) => join(folder, source));
}
