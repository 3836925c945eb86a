import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { ImportGraph } from "./import-graph.ts";
import { nextWave, planQuick } from "./quick-plan.ts";

const TREE: Readonly<Record<string, string>> = {
  "packages/a/package.json":
    '{ "name": "@x/a", "exports": { ".": { "none": "./none.ts", "default": "./src/index.ts" } } }',
  "packages/a/src/index.ts":
    'export { one } from "./one.ts";\nexport type { T } from "./types.ts";',
  "packages/a/src/one.ts":
    'import type { T } from "./types.ts";\nimport {\n  two,\n} from "./two.ts";',
  "packages/a/src/two.ts": "",
  "packages/a/src/types.ts": "",
  "packages/a/src/one.test.ts": 'import { one } from "./one.ts";',
  "packages/a/src/two.test.ts": 'import "./two.ts";',
  "packages/a/src/two.prop.test.ts": 'import "./two.ts";',
  "packages/b/src/user.test.ts": 'const { one } = await import("@x/a");',
  "apps/c/src/app.test.ts": 'import { one } from "@x/a";',
};

function plan(t: TestContext, ...changed: string[]): ReturnType<typeof planQuick> {
  const root = mkdtempSync(join(tmpdir(), "sluice-quick-"));
  t.after(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(TREE)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const files = Object.keys(TREE).filter((path) => path.endsWith(".ts"));
  const tests = files.filter((path) => path.endsWith(".test.ts"));
  return planQuick(changed, tests, new ImportGraph(root, files).distances(changed));
}

test("unit tests that import a change are run, the nearest first", (t) => {
  assert.deepEqual(plan(t, "packages/a/src/two.ts"), {
    files: [
      "packages/a/src/two.test.ts",
      "packages/a/src/one.test.ts",
      "packages/b/src/user.test.ts",
    ],
    unvisited: 1,
  });
});

test("imports of types alone do not count", (t) => {
  assert.deepEqual(plan(t, "packages/a/src/types.ts"), { files: [], unvisited: 0 });
});

test("a changed test is run, whatever its kind, and an app for its own changes", (t) => {
  const { files } = plan(t, "packages/a/src/two.prop.test.ts", "apps/c/src/app.test.ts");
  assert.deepEqual(files, ["apps/c/src/app.test.ts", "packages/a/src/two.prop.test.ts"]);
});

test("a wave has what fits, and leaves out what is longer than the time that is left", () => {
  const times: Record<string, number> = { a: 9_000, b: 8_000, c: 7_000, d: 30_000, e: 2_000 };
  const next = (names: string, leftMs: number) =>
    nextWave([...names], (name) => times[name]!, leftMs);
  assert.deepEqual(next("abcde", 20_000), { wave: ["a", "b"], rest: ["c", "e"] });
  assert.deepEqual(next("dab", 40_000), { wave: ["d"], rest: ["a", "b"] });
  assert.deepEqual(next("abcde", 2_000), { wave: ["e"], rest: [] });
  assert.deepEqual(next("abcde", 0), { wave: [], rest: [] });
});
