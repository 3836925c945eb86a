// Writes the reference pages, which are made from the tables in `packages/protocol`:
//   npm run docs            writes them
//   npm run docs -- --check exits with 1 when one of them is stale

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apiPage } from "./docs/api-page.ts";
import { optionsPage } from "./docs/options-page.ts";

const root = dirname(import.meta.dirname);

const PAGES: Readonly<Record<string, () => string>> = {
  "docs/reference/api.md": apiPage,
  "docs/reference/options.md": optionsPage,
};

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const isCheck = process.argv.includes("--check");
for (const [page, make] of Object.entries(PAGES)) {
  const path = join(root, page);
  const text = make();
  if (textAt(path) === text) continue;
  console.log(isCheck ? `${page} is stale: run npm run docs` : `${page} written`);
  if (isCheck) {
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
