// Every link of a page leads to a file that exists, and every anchor to a heading of it.

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const PAGES = [...globSync("*.md", { cwd: ROOT }), ...globSync("docs/**/*.md", { cwd: ROOT })];

/** The text of a page without its code, in which brackets mean something else. */
function proseOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8").replace(/^(```|~~~)[\s\S]*?^\1$/gm, "");
}

function linksOf(path: string): string[] {
  const prose = proseOf(path).replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link ?? "");
}

/** As GitHub makes anchors, and the site as far as our headings go. */
function anchorsOf(path: string): Set<string> {
  const headings = proseOf(path).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** What is wrong with a link, in words; undefined when it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(ROOT, join(ROOT, dirname(page), path));
  if (!existsSync(join(ROOT, target))) return `${page}: ${link} leads to no file`;
  if (anchor === undefined || !target.endsWith(".md") || anchorsOf(target).has(anchor)) return;
  return `${page}: ${link} leads to no heading`;
}

test("every link in the documents leads to a file and a heading", () => {
  const faults = PAGES.flatMap((page) => linksOf(page).map((link) => faultOf(page, link)));
  assert.deepEqual(
    faults.filter((fault) => fault !== undefined),
    [],
  );
  assert.ok(PAGES.length > 30);
});

test("a link that leads nowhere is found", () => {
  assert.match(faultOf("README.md", "docs/none.md") ?? "", /no file/);
  assert.match(faultOf("README.md", "docs/steps.md#none") ?? "", /no heading/);
  assert.equal(faultOf("README.md", "https://example.org"), undefined);
});
