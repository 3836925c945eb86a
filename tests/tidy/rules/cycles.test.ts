import assert from "node:assert/strict";
import { test } from "node:test";
import { cycles } from "./cycles.ts";

const found = (texts: Readonly<Record<string, string>>) =>
  cycles(Object.entries(texts).map(([path, text]) => ({ path, text })));

test("files that import each other are named with the import that closes the circle", () => {
  assert.deepEqual(
    found({
      "packages/x/src/a.ts": 'import { b } from "./deep/b.ts";',
      "packages/x/src/deep/b.ts": '\nimport { c } from "../c.ts";',
      "packages/x/src/c.ts": '\n\nimport { a } from "./a.ts";',
    }),
    [
      {
        path: "packages/x/src/c.ts",
        line: 3,
        message:
          "a circle of imports: packages/x/src/a.ts → packages/x/src/deep/b.ts → " +
          "packages/x/src/c.ts → packages/x/src/a.ts",
      },
    ],
  );
});

test("types count, and so do export from, import() and a file that imports itself", () => {
  for (const back of [
    'import type { A } from "./a.ts";',
    'export { a } from "./a.ts";',
    'export * from "./a.ts";',
    'const a = await import("./a.ts");',
    'type A = import("./a.ts").A;',
  ]) {
    assert.equal(found({ "a.ts": 'import { b } from "./b.ts";', "b.ts": back }).length, 1, back);
  }
  assert.equal(found({ "a.ts": 'import { a } from "./a.ts";' }).length, 1);
});

test("every circle is found, also one that is reached from a file outside of it", () => {
  const texts = {
    "a.ts": 'import "./b.ts"; import "./d.ts";',
    "b.ts": 'import "./c.ts";',
    "c.ts": 'import "./b.ts";',
    "d.ts": 'import "./e.ts";',
    "e.ts": 'import "./d.ts";',
  };
  assert.deepEqual(
    found(texts).map(({ path }) => path),
    ["c.ts", "e.ts"],
  );
});

test("two ways to one file are no circle", () => {
  const texts = {
    "a.ts": 'import "./b.ts"; import "./c.ts"; import "node:fs";',
    "b.ts": 'import "./d.ts";',
    "c.ts": 'import "./d.ts";',
    "d.ts": "",
  };
  assert.deepEqual(found(texts), []);
});
