// Who imports whom, and how many imports a file is away from a change. Imports of types alone do
// not count: the type checker sees to those.

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const IMPORT = /^(?:import|export)\s+(?!type\s)(?:[^;"']*?from\s+)?"([^"]+)"|import\("([^"]+)"\)/gm;

// A target may depend on conditions; `default` is the one for programs in this tree.
type Target = string | { readonly default: Target };
type Exports = Readonly<Record<string, Target>>;

export class ImportGraph {
  // By file, those that import it.
  readonly #importers = new Map<string, string[]>();
  readonly #packages: ReadonlyMap<string, { folder: string; exports: Exports }>;
  readonly #root: string;

  constructor(root: string, files: readonly string[]) {
    this.#root = root;
    this.#packages = readPackages(root);
    for (const file of files) this.#read(file);
  }

  // How many imports lead from each file to the nearest of the changed ones.
  distances(changed: readonly string[]): Map<string, number> {
    const distances = new Map(changed.map((file) => [file, 0]));
    let reached = [...distances.keys()];
    for (let distance = 1; reached.length > 0; distance++) {
      const next: string[] = [];
      for (const importer of reached.flatMap((file) => this.#importers.get(file) ?? [])) {
        if (distances.has(importer)) continue;
        distances.set(importer, distance);
        next.push(importer);
      }
      reached = next;
    }
    return distances;
  }

  #read(file: string): void {
    if (!existsSync(join(this.#root, file))) return;
    const source = readFileSync(join(this.#root, file), "utf8");
    for (const [, one, other] of source.matchAll(IMPORT)) {
      const imported = this.#resolve(file, (one ?? other)!);
      if (imported === undefined) continue;
      const importers = this.#importers.get(imported);
      if (importers === undefined) this.#importers.set(imported, [file]);
      else importers.push(file);
    }
  }

  #resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
    const parts = specifier.split("/");
    const name = parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
    const found = this.#packages.get(name);
    let target = found?.exports[`.${specifier.slice(name.length)}`];
    while (typeof target === "object") target = target.default;
    return target === undefined ? undefined : posix.join(found!.folder, target);
  }
}

function readPackages(root: string): Map<string, { folder: string; exports: Exports }> {
  const packages = new Map<string, { folder: string; exports: Exports }>();
  for (const path of globSync("{packages,apps}/*/package.json", { cwd: root })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), "utf8"));
    packages.set(name, { folder: posix.dirname(path.replaceAll("\\", "/")), exports });
  }
  return packages;
}
