// The JavaScript of one package: its modules in a few files, with other packages left outside.

import { join } from "node:path";
import { rolldown } from "rolldown";
import { browserEntriesOf, entriesOf, type SourcePackage } from "./packages.ts";
import { withoutProse } from "./without-prose.ts";

// What Node 22.18, Bun, Deno and browsers of 2024 understand.
const TARGET = "es2024";

const OPTIONAL = ["@opentelemetry/api", "drizzle-orm"];

// These functions only make rows of tables, so the bundle leaves out rows that are never read.
const TABLE_MAKERS = ["shape", "object", "list", "page", "about", "choice", "maybe", "fields"];

// Syntax that has to be rewritten with helpers (`using`) would add a dependency to every package.
function isOutside(id: string, importer: string | undefined): boolean {
  if (!id.startsWith("@oxc-project/runtime")) return importer !== undefined && !/^[./]/.test(id);
  throw new Error(`${importer} uses syntax that Node 22 does not have (${id})`);
}

export async function bundle(root: string, source: SourcePackage, dist: string): Promise<void> {
  const folder = join(root, source.folder);
  const build = await rolldown({
    input: inputOf(folder, entriesOf(source)),
    cwd: folder,
    platform: "neutral",
    external: isOutside,
    transform: { target: TARGET },
    onLog: refuse,
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

// One file with everything inside: a page has no use for the shared parts of other packages.
// Measured in a page, minified and gzipped: 41.3 kB by packages, 34 kB this way.
export async function bundleForBrowsers(
  root: string,
  source: SourcePackage,
  dist: string,
): Promise<void> {
  for (const [name, path] of browserEntriesOf(source)) {
    const build = await rolldown({
      input: inputOf(join(root, source.folder), new Map([[name, path]])),
      cwd: root,
      platform: "browser",
      external: OPTIONAL,
      transform: { target: TARGET },
      treeshake: { moduleSideEffects: false, manualPureFunctions: TABLE_MAKERS },
      plugins: [withoutProse],
      onLog: refuse,
    });
    await build.write({ dir: dist, format: "esm", entryFileNames: "[name].js", comments: false });
    await build.close();
  }
}

function inputOf(folder: string, entries: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...entries].map(([name, path]) => [name, join(folder, path)]));
}

// A warning during a release fails the build, because it may be a fault that was not looked at.
function refuse(_level: string, { message }: { message: string }): void {
  throw new Error(message);
}
