// Puts every package into a folder of its own, exactly as it is published.

import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { VERSION } from "@sluice/protocol";
import { bundle, bundleForBrowsers } from "./bundle.ts";
import { emitDeclarations } from "./declarations.ts";
import { publishedManifest, type Release } from "./manifest.ts";
import { findPackages, type SourcePackage } from "./packages.ts";
import { mainReadme, partReadme } from "./readme.ts";

const MAIN = "sluice";

export interface StagedPackage {
  readonly name: string;
  readonly folder: string;
}

export async function stagePackages(root: string): Promise<StagedPackage[]> {
  const packages = findPackages(root);
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const release: Release = {
    version: VERSION,
    repository,
    names: new Set(packages.map(({ manifest }) => manifest.name)),
  };
  removePackages(join(root, "dist"));
  const types = join(root, "dist", "types");
  emitDeclarations(root, packages, types);
  buildPage(root);
  const staged: StagedPackage[] = [];
  for (const source of packages) {
    const folder = join(root, "dist", source.folder);
    await stageOne({ root, source, release, types, folder });
    staged.push({ name: source.manifest.name, folder });
  }
  rmSync(types, { recursive: true });
  return staged;
}

/** Of earlier builds. The executable beside them stays. */
function removePackages(dist: string): void {
  for (const name of ["packages", "apps", "types", ...globSync("*.tgz", { cwd: dist })]) {
    rmSync(join(dist, name), { recursive: true, force: true });
  }
}

interface Stage {
  readonly root: string;
  readonly source: SourcePackage;
  readonly release: Release;
  readonly types: string;
  readonly folder: string;
}

async function stageOne({ root, source, release, types, folder }: Stage): Promise<void> {
  const { manifest } = source;
  const dist = join(folder, "dist");
  mkdirSync(dist, { recursive: true });
  await bundle(root, source, dist);
  await bundleForBrowsers(root, source, dist);
  copy(join(types, source.folder, "src"), join(dist, "types"));
  // The page of the dashboard, and the launcher of the command.
  copy(join(root, source.folder, "dist", "page"), join(dist, "page"));
  copy(join(root, source.folder, "bin"), join(folder, "bin"));
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const { repository } = release;
  const isMain = manifest.name === MAIN;
  const readme = isMain ? mainReadme(root, repository) : partReadme(manifest, repository);
  writeFileSync(join(folder, "README.md"), readme);
  const published = publishedManifest(manifest, release, source.folder);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, undefined, 2)}\n`);
}

function copy(from: string, to: string): void {
  if (existsSync(from)) cpSync(from, to, { recursive: true });
}

export function buildPage(root: string): void {
  const page = join(root, "packages", "dashboard", "src", "main.ts");
  const { status } = spawnSync(process.execPath, [page], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("the page of the dashboard could not be built");
}
