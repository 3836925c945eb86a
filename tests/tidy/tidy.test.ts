// The house rules, held against this repository.

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { findDeadCode } from "./dead-code.ts";
import { arrows } from "./rules/arrows.ts";
import { classNames } from "./rules/class-names.ts";
import { columns } from "./rules/columns.ts";
import { cycles } from "./rules/cycles.ts";
import { dependencies } from "./rules/dependencies.ts";
import { fileNames } from "./rules/file-names.ts";
import { purity } from "./rules/purity.ts";
import { size } from "./rules/size.ts";
import { skippedTests } from "./rules/skipped-tests.ts";
import { words } from "./rules/words.ts";
import { type Finding, type Rule, readTree } from "./tree.ts";

const root = dirname(dirname(import.meta.dirname));
const tree = readTree(root);

const RULES: readonly (readonly [string, Rule])[] = [
  ["imports between packages follow the arrows", arrows],
  ["no file imports itself through others", cycles],
  ["engine and protocol stand on nothing", purity],
  ["no two exported classes have one name", classNames],
  ["files and functions keep to their size", size],
  ["no test is left out without a reason", skippedTests],
  ["no notes to oneself and no machine's paths", words],
  ["file names say what is in the file", fileNames],
  ["lines keep to 100 columns", columns],
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

test("no dead files and no unused exports", () => assertEmpty(findDeadCode(root)));
