// Follows every page that teaches by doing: writes its files, types its commands, and compares what
// they print with what the page shows.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { blocksOf } from "./blocks.ts";
import { Reader } from "./reader.ts";

const DOCS = join(import.meta.dirname, "..", "..", "..", "docs");
const FOLDERS = ["start", "guides", "concepts", "coming-from"];

for (const folder of FOLDERS) {
  for (const name of readdirSync(join(DOCS, folder)).sort()) {
    const blocks = blocksOf(readFileSync(join(DOCS, folder, name), "utf8"));
    if (!blocks.some(({ kind }) => kind === "commands")) continue;
    test(`docs/${folder}/${name} does what it shows`, async () => {
      const reader = await Reader.start();
      try {
        await reader.follow(blocks);
      } finally {
        await reader.close();
      }
    });
  }
}
