/** Builds the page from its sources; a checkout has them, what is published does not. */
import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Beside the built files: what they were built from. */
const MARK = "built-from";

export async function buildIfChanged(sources: string, built: string): Promise<void> {
  const wanted = await fingerprint(sources);
  const found = await readFile(join(built, MARK), "utf8").catch(() => undefined);
  if (found === wanted) return;
  const fresh = `${built}.${process.pid}`;
  await build(sources, fresh);
  await writeFile(join(fresh, MARK), wanted);
  await rm(built, { recursive: true, force: true });
  // Another process may have built the same a moment ago: its result is as good.
  await rename(fresh, built).catch(() => rm(fresh, { recursive: true, force: true }));
}

export async function build(sources: string, built: string): Promise<void> {
  const vite = await import("vite");
  await vite.build({
    root: sources,
    configFile: false,
    logLevel: "error",
    base: "./",
    publicDir: false,
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: built,
      emptyOutDir: true,
      target: "es2022",
      // A data: address would need a hole in the content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}

/** Of names and contents, so that a checkout of another branch is noticed too. */
async function fingerprint(sources: string): Promise<string> {
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash("sha256").update(await readFile(import.meta.filename));
  for (const path of paths) {
    hash.update(path.slice(sources.length));
    hash.update(await readFile(path));
  }
  return hash.digest("hex");
}
