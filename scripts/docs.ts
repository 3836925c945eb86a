// The documentation:
//   npm run docs            writes the reference pages and serves the site while you edit it
//   npm run docs -- write   only writes the reference pages, which are made from the sources
//   npm run docs -- build   writes the pages and the whole site, into dist/site
//   npm run docs -- --check exits with 1 when a reference page is stale

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { apiPage } from "./docs/api-page.ts";
import { cliPage } from "./docs/cli-page.ts";
import { configurationPage } from "./docs/configuration-page.ts";
import { errorsPage } from "./docs/errors-page.ts";
import { httpPage } from "./docs/http-page.ts";
import { libraryPage } from "./docs/library-page.ts";
import { limitsPage } from "./docs/limits-page.ts";
import { optionsPage } from "./docs/options-page.ts";

const root = dirname(import.meta.dirname);
const SITE_PORT = "7080";

const PAGES: Readonly<Record<string, () => string | Promise<string>>> = {
  "docs/reference/api.md": apiPage,
  "docs/reference/options.md": optionsPage,
  "docs/reference/errors.md": errorsPage,
  "docs/reference/cli.md": cliPage,
  "docs/reference/configuration.md": configurationPage,
  "docs/reference/http.md": httpPage,
  "docs/reference/library.md": libraryPage,
  "docs/reference/limits.md": limitsPage,
};

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** The reference pages that differ from what the sources say now. */
async function stalePages(): Promise<[page: string, text: string][]> {
  const stale: [string, string][] = [];
  for (const [page, make] of Object.entries(PAGES)) {
    const text = await make();
    if (textAt(join(root, page)) !== text) stale.push([page, text]);
  }
  return stale;
}

async function check(): Promise<number> {
  const stale = await stalePages();
  for (const [page] of stale) console.log(`${page} is stale: run npm run docs -- write`);
  return stale.length === 0 ? 0 : 1;
}

async function write(): Promise<number> {
  for (const [page, text] of await stalePages()) {
    const path = join(root, page);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    console.log(`${page} written`);
  }
  return 0;
}

async function vitepress(...args: string[]): Promise<number> {
  await write();
  const program = join(root, "node_modules", "vitepress", "bin", "vitepress.js");
  const [command = "", ...flags] = args;
  const words = [program, command, join(root, "docs"), ...flags];
  return spawnSync(process.execPath, words, { stdio: "inherit", cwd: root }).status ?? 1;
}

const COMMANDS: Readonly<Record<string, () => Promise<number>>> = {
  "--check": check,
  write,
  build: () => vitepress("build"),
  serve: () => vitepress("dev", "--port", SITE_PORT, "--host", "127.0.0.1"),
};

const [name = "serve"] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command === undefined) {
  const known = Object.keys(COMMANDS).join(", ");
  console.error(`there is no command ${JSON.stringify(name)}; known are ${known}`);
}
process.exitCode = command === undefined ? 2 : await command();
