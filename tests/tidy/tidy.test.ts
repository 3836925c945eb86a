// The house rules, held against this repository.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { arrows } from "./rules/arrows.ts";
import { classNames } from "./rules/class-names.ts";
import { columns } from "./rules/columns.ts";
import { cycles } from "./rules/cycles.ts";
import { dependencies } from "./rules/dependencies.ts";
import { fileNames } from "./rules/file-names.ts";
import { pageColumns } from "./rules/page-columns.ts";
import { plainWords } from "./rules/plain-words.ts";
import { purity } from "./rules/purity.ts";
import { size } from "./rules/size.ts";
import { skippedTests } from "./rules/skipped-tests.ts";
import { usingDeclarations } from "./rules/using-declarations.ts";
import { words } from "./rules/words.ts";
import { type Finding, type Rule, readTree } from "./tree.ts";

const root = dirname(dirname(import.meta.dirname));
// Other processes look at the tree while this one parses it.
const deadCode = findDeadCode(root);
const staleReference = complaint(root, "scripts/run.mjs", "scripts/docs.ts", "--check");
const tree = readTree(root);

const RULES: readonly (readonly [string, Rule])[] = [
  ["imports between packages follow the arrows", arrows],
  ["no file imports itself through others", cycles],
  ["engine and protocol stand on nothing", purity],
  ["published code has no using declarations", usingDeclarations],
  ["no two exported classes have one name", classNames],
  ["files and functions keep to their size", size],
  ["no test is left out without a reason", skippedTests],
  ["no notes to oneself and no machine's paths", words],
  ["texts and documents are in plain words", plainWords],
  ["file names say what is in the file", fileNames],
  ["lines keep to 100 columns", columns],
  ["sentences of pages keep to 140 columns", pageColumns],
  ["every dependency has a reason", dependencies],
];

const show = ({ path, line, message }: Finding): string => `${path}:${line} ${message}`;

// The report is the message: a comparison would print it three times over.
function assertEmpty(report: string): void {
  assert.ok(report === "", report);
}

test("the tree is read", () => {
  assert.ok(tree.some(({ path }) => path === "tests/tidy/tidy.test.ts"));
  assert.ok(tree.some(({ path }) => path === ".ci/run"));
  assert.ok(!tree.some(({ path }) => path.includes("node_modules/")));
});

for (const [name, rule] of RULES) {
  test(name, () => assertEmpty(rule(tree).map(show).join("\n")));
}

test("no dead files and no unused exports", async () => assertEmpty(await deadCode));

test("finds a file that is not imported and an export that is not used", async (t) => {
  const made = mkdtempSync(join(tmpdir(), "sluice-knip-"));
  t.after(() => rmSync(made, { recursive: true }));
  for (const [name, text] of Object.entries({
    "package.json": '{ "name": "made-up", "type": "module" }',
    "index.ts": 'import { used } from "./part.ts";\nused();\n',
    "part.ts": "export const used = (): number => 1;\nexport const lonely = 2;\n",
    "dead.ts": "export const dead = 3;\n",
  })) {
    writeFileSync(join(made, name), text);
  }
  const report = await findDeadCode(made);
  assert.match(report, /dead\.ts/);
  assert.match(report, /lonely/);
  assert.doesNotMatch(report, /\bused\b/);
});

test("the reference pages are as the tables make them", async () => {
  assertEmpty(await staleReference);
});

// knip finds files that are not imported, exports that are not used and dependencies that are not
// needed.
function findDeadCode(folder: string): Promise<string> {
  const knip = join(root, "node_modules", "knip", "bin", "knip.js");
  return complaint(folder, knip, "--no-progress", "--no-config-hints");
}

// What a program says that is not content with a tree; empty when it is.
async function complaint(cwd: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const said = await Promise.all([text(child.stdout), text(child.stderr)]);
  const status = await ended;
  return status === 0 ? "" : said.join("").trim() || `${args[0]} ended with ${status}`;
}
