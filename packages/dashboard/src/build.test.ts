import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build, buildIfChanged } from "./build.ts";
import { readPage } from "./load-page.ts";
import type { PageFile } from "./page-file.ts";

const SOURCES = join(import.meta.dirname, "page");
/** What the first view may weigh, compressed. */
const FIRST_VIEW_BYTES_MAX = 40_000;

function folder(t: { after(work: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), "sluice-page-"));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

const textOf = (file: PageFile | undefined): string => String(file?.body);

test("the page builds, is small, and has nothing inline and nothing from elsewhere", async (t) => {
  const built = folder(t);
  await build(SOURCES, built);
  const files = await readPage(built);
  const html = textOf(files.get("index.html"));
  assert.doesNotMatch(html, /<style|style=|<script(?![^>]*src=)|onload=|javascript:/);
  assert.doesNotMatch(html, /(?:src|href)="(?!\.\/assets\/)/);
  const first = [...html.matchAll(/assets\/[\w.-]+\.(?:js|css)/g)].map(
    ([path]) => files.get(path)!,
  );
  const styles = [...files.keys()].filter((path) => path.endsWith(".css"));
  assert.equal(
    styles.length,
    1,
    "a style for all views: one that is loaded later would shift them",
  );
  assert.ok(first.length >= 2 && first.length < files.size / 2, "views are loaded when needed");
  const bytes = first.reduce(
    (sum, { gzip }) => sum + gzip.length,
    files.get("index.html")!.gzip.length,
  );
  assert.ok(bytes < FIRST_VIEW_BYTES_MAX, `${bytes} bytes`);
  for (const [path, file] of files) {
    if (path.endsWith(".css")) assert.doesNotMatch(textOf(file), /url\(|@import/, path);
    if (path.endsWith(".js")) {
      assert.doesNotMatch(
        textOf(file),
        /localStorage|sessionStorage|innerHTML\s*=\s*[^"'`]*payload/,
      );
    }
  }
});

test("it is built when the sources are others than those it was built from", async (t) => {
  const built = join(folder(t), "page");
  await buildIfChanged(SOURCES, built);
  const names = readdirSync(built).sort();
  assert.deepEqual(names, ["assets", "built-from", "index.html"]);
  rmSync(join(built, "assets"), { recursive: true });
  await buildIfChanged(SOURCES, built);
  assert.deepEqual(readdirSync(built).sort(), ["built-from", "index.html"], "nothing was built");
  rmSync(join(built, "built-from"));
  await buildIfChanged(SOURCES, built);
  assert.deepEqual(readdirSync(built).sort(), names);
});
