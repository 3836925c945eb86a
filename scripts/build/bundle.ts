// The JavaScript of one package: its modules in a few files, with other packages left outside.

import { join } from "node:path";
import { rolldown } from "rolldown";
import { entriesOf, type SourcePackage } from "./packages.ts";

// What Node 22.18, Bun, Deno and browsers of 2024 understand.
const TARGET = "es2024";

// Syntax that has to be rewritten with helpers (`using`) would add a dependency to every package.
function isOutside(id: string, importer: string | undefined): boolean {
  if (!id.startsWith("@oxc-project/runtime")) return importer !== undefined && !/^[./]/.test(id);
  throw new Error(`${importer} uses syntax that Node 22 does not have (${id})`);
}

export async function bundle(root: string, source: SourcePackage, dist: string): Promise<void> {
  const folder = join(root, source.folder);
  const entries = [...entriesOf(source)].map(([name, path]) => [name, join(folder, path)]);
  const build = await rolldown({
    input: Object.fromEntries(entries),
    cwd: folder,
    platform: "neutral",
    external: isOutside,
    transform: { target: TARGET },
    // A warning in a release is a fault that nobody has looked at.
    onLog: (_level, log) => {
      throw new Error(`${source.manifest.name}: ${log.message}`);
    },
  });
  // All files lie beside each other, so that a program of a thread is found from any of them.
  await build.write({
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
    minifyInternalExports: false,
    comments: false,
  });
  await build.close();
}
