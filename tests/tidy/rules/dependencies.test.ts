import assert from "node:assert/strict";
import { test } from "node:test";
import { dependencies } from "./dependencies.ts";

const page = (rows: string): { path: string; text: string } => ({
  path: "docs/architecture.md",
  text: `# A\n\n## Dependencies\n\n| package | why |\n|---|---|\n${rows}\n## After\n\n| \`x\` | y |\n`,
});

const manifest = (path: string, fields: object): { path: string; text: string } => ({
  path,
  text: JSON.stringify(fields),
});

const messages = (...tree: { path: string; text: string }[]): string[] =>
  dependencies(tree).map((finding) => `${finding.path}: ${finding.message}`);

test("a dependency with a reason passes, and so do our own packages", () => {
  const root = manifest("package.json", { name: "a", devDependencies: { ws: "1" } });
  const part = manifest("packages/b/package.json", { name: "@s/b", dependencies: { a: "1" } });
  assert.deepEqual(messages(root, part, page("| `ws` | streams |\n")), []);
});

test("a dependency without a reason is found", () => {
  const missing = 'has no reason under "Dependencies" in docs/architecture.md';
  const root = manifest("package.json", { name: "a", dependencies: { ws: "1", pino: "1" } });
  assert.deepEqual(messages(root, page("| `ws` |  |\n")), [
    `package.json: ws ${missing}`,
    `package.json: pino ${missing}`,
  ]);
});

test("a reason without a dependency is found", () => {
  assert.deepEqual(
    messages(manifest("package.json", { name: "a" }), page("| `ws` | streams |\n")),
    ["docs/architecture.md: no package depends on ws"],
  );
});
