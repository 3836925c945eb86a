import assert from "node:assert/strict";
import { test } from "node:test";
import type { SourceFile, Tree } from "../tree.ts";
import { arrows } from "./arrows.ts";

const NAMES = {
  "packages/engine": "@sluice/engine",
  "packages/protocol": "@sluice/protocol",
  "packages/broker": "@sluice/broker",
  "packages/server": "@sluice/server",
  "packages/sluice": "sluice",
  "packages/sim": "@sluice/sim",
  "packages/cli": "@sluice/cli",
  "apps/retracker": "@sluice/retracker",
};

const manifests: SourceFile[] = Object.entries(NAMES).map(([folder, name]) => ({
  path: `${folder}/package.json`,
  text: JSON.stringify({ name }),
}));

const messages = (path: string, text: string): string[] => {
  const tree: Tree = [...manifests, { path, text }];
  return arrows(tree).map((finding) => `${finding.line} ${finding.message}`);
};

test("an arrow of the table passes", () => {
  assert.deepEqual(messages("packages/broker/src/a.ts", 'import { E } from "@sluice/engine";'), []);
  assert.deepEqual(
    messages("apps/retracker/src/a.ts", 'import { Sluice } from "sluice/http";'),
    [],
  );
  assert.deepEqual(messages("packages/cli/src/a.ts", 'import "@sluice/retracker";'), []);
  assert.deepEqual(messages("packages/engine/src/a.ts", 'import { b } from "./b.ts";'), []);
});

test("an arrow against the table is found in every form of import", () => {
  const expected = ["2 packages/engine may not import packages/broker"];
  for (const text of [
    'import { Broker } from "@sluice/broker";',
    'import type { Broker } from "@sluice/broker";',
    'export * from "@sluice/broker";',
    'export { Broker } from "@sluice/broker";',
    'const broker = await import("@sluice/broker");',
    'type B = import("@sluice/broker").Broker;',
  ]) {
    assert.deepEqual(messages("packages/engine/src/a.ts", `\n${text}`), expected, text);
  }
});

test("the protocol refers to the engine by types alone", () => {
  const path = "packages/protocol/src/a.ts";
  assert.deepEqual(messages(path, 'import type { Q } from "@sluice/engine";'), []);
  assert.deepEqual(messages(path, 'export type { Q } from "@sluice/engine";'), []);
  assert.deepEqual(messages(path, 'import { type Q } from "@sluice/engine";'), [
    "1 packages/protocol may not import packages/engine",
  ]);
  assert.deepEqual(
    messages("packages/client/src/a.ts", 'import type { Q } from "@sluice/engine";'),
    ["1 packages/client may not import packages/engine"],
  );
});

test("the server reaches the broker only through the protocol", () => {
  assert.deepEqual(messages("packages/server/src/a.ts", 'import "@sluice/broker";'), [
    "1 packages/server may not import packages/broker",
  ]);
});

test("an app imports the library and nothing below it", () => {
  assert.deepEqual(messages("apps/retracker/src/a.ts", 'import "@sluice/broker";'), [
    "1 apps/retracker may not import packages/broker",
  ]);
});

test("a test may cross the arrows, but nothing leans on cli or sim", () => {
  assert.deepEqual(messages("packages/server/src/a.test.ts", 'import "@sluice/broker";'), []);
  assert.deepEqual(messages("packages/server/src/testing/a.ts", 'import "@sluice/broker";'), []);
  assert.deepEqual(messages("packages/server/src/a.test.ts", 'import "@sluice/sim";'), [
    "1 nothing may import packages/sim",
  ]);
  assert.deepEqual(messages("packages/sim/src/a.ts", 'import "@sluice/cli";'), [
    "1 nothing may import packages/cli",
  ]);
});

test("a path into another package is found", () => {
  assert.deepEqual(messages("packages/broker/src/a.ts", 'import "../../engine/src/index.ts";'), [
    "1 reaches into packages/engine by path; import a package by its name",
  ]);
});

test("a package without a row is found", () => {
  assert.deepEqual(messages("packages/novel/src/a.ts", 'import "@sluice/engine";'), [
    "1 packages/novel has no row in the table of allowed arrows",
  ]);
});
