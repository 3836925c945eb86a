// Each rule finds what it forbids and leaves the rest alone. They are in one file because a process
// for each of them takes longer than all of them together.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Rule } from "../tree.ts";
import { arrows } from "./arrows.ts";
import { classNames } from "./class-names.ts";
import { columns } from "./columns.ts";
import { cycles } from "./cycles.ts";
import { dependencies } from "./dependencies.ts";
import { fileNames } from "./file-names.ts";
import { pageColumns } from "./page-columns.ts";
import { plainWords } from "./plain-words.ts";
import { purity } from "./purity.ts";
import { size } from "./size.ts";
import { skippedTests } from "./skipped-tests.ts";
import { usingDeclarations } from "./using-declarations.ts";
import { words } from "./words.ts";

type Texts = Readonly<Record<string, string>>;

// What a rule finds in a tree, as `path:line message`.
const found = (rule: Rule, texts: Texts): string[] =>
  rule(Object.entries(texts).map(([path, text]) => ({ path, text }))).map(
    ({ path, line, message }) => `${path}:${line} ${message}`,
  );

const passes = (rule: Rule, path: string, ...texts: string[]): void => {
  for (const text of texts) assert.deepEqual(found(rule, { [path]: text }), [], text);
};

const fails = (rule: Rule, path: string, ...texts: string[]): void => {
  for (const text of texts) assert.equal(found(rule, { [path]: text }).length, 1, text);
};

const lines = (rule: Rule, path: string, text: string): number[] =>
  rule([{ path, text }]).map(({ line }) => line);

const MANIFESTS = Object.fromEntries(
  Object.entries({
    "packages/engine": "@sluice/engine",
    "packages/protocol": "@sluice/protocol",
    "packages/broker": "@sluice/broker",
    "packages/server": "@sluice/server",
    "packages/sluice": "sluice",
    "packages/sim": "@sluice/sim",
    "packages/cli": "@sluice/cli",
    "apps/retracker": "@sluice/retracker",
  }).map(([folder, name]) => [`${folder}/package.json`, JSON.stringify({ name })]),
);

const arrowsOf = (path: string, text: string): string[] =>
  found(arrows, { ...MANIFESTS, [path]: text }).map((one) => one.slice(path.length + 1));

test("arrows: those of the table pass", () => {
  for (const [path, text] of [
    ["packages/broker/src/a.ts", 'import { E } from "@sluice/engine";'],
    ["apps/retracker/src/a.ts", 'import { Sluice } from "sluice/http";'],
    ["packages/cli/src/a.ts", 'import "@sluice/retracker";'],
    ["packages/engine/src/a.ts", 'import { b } from "./b.ts";'],
    // A test may cross them.
    ["packages/server/src/a.test.ts", 'import "@sluice/broker";'],
    ["packages/server/src/testing/a.ts", 'import "@sluice/broker";'],
    // The protocol refers to the engine by types alone.
    ["packages/protocol/src/a.ts", 'import type { Q } from "@sluice/engine";'],
    ["packages/protocol/src/a.ts", 'export type { Q } from "@sluice/engine";'],
  ] as const) {
    assert.deepEqual(arrowsOf(path, text), [], text);
  }
});

test("arrows: one against the table is found in every form of import", () => {
  const expected = ["2 packages/engine may not import packages/broker"];
  for (const text of [
    'import { Broker } from "@sluice/broker";',
    'import type { Broker } from "@sluice/broker";',
    'export * from "@sluice/broker";',
    'export { Broker } from "@sluice/broker";',
    'const broker = await import("@sluice/broker");',
    'type B = import("@sluice/broker").Broker;',
  ]) {
    assert.deepEqual(arrowsOf("packages/engine/src/a.ts", `\n${text}`), expected, text);
  }
});

test("arrows: reports imports that are not in the table", () => {
  const into = "reaches into packages/engine by path; import a package by its name";
  const rowless = "packages/novel has no row in the table of allowed arrows";
  const engine = "may not import packages/engine";
  for (const [path, text, message] of [
    ["packages/protocol/src/a.ts", 'import { type Q } from "@sluice/engine";', ""],
    ["packages/client/src/a.ts", 'import type { Q } from "@sluice/engine";', ""],
    ["packages/server/src/a.ts", 'import "@sluice/broker";', "may not import packages/broker"],
    ["apps/retracker/src/a.ts", 'import "@sluice/broker";', "may not import packages/broker"],
    ["packages/server/src/a.test.ts", 'import "@sluice/sim";', "nothing may import packages/sim"],
    ["packages/sim/src/a.ts", 'import "@sluice/cli";', "nothing may import packages/cli"],
    ["packages/broker/src/a.ts", 'import "../../engine/src/index.ts";', into],
    ["packages/novel/src/a.ts", 'import "@sluice/engine";', rowless],
  ] as const) {
    const told = arrowsOf(path, text);
    assert.ok(told.length === 1 && told[0]!.endsWith(message || engine), `${path}: ${told}`);
  }
});

test("class names: a second exported class of a name is named, with the file of the first", () => {
  const texts = {
    "packages/x/src/link.ts": "export class Link {}",
    "packages/y/src/link.ts": "\nexport abstract class Link<T> {}",
    "apps/z/src/wire.tsx": "const a = 1;\n\nexport default class Link {}",
  };
  const message = "class Link is in packages/x/src/link.ts too: give one of them another name";
  assert.deepEqual(found(classNames, texts), [
    `packages/y/src/link.ts:2 ${message}`,
    `apps/z/src/wire.tsx:3 ${message}`,
  ]);
});

test("class names: those that are not exported, tests and functions are not counted", () => {
  const texts = {
    "a.ts": "export class Link {}",
    "b.ts": "class Link {} export class LinkFeed {} export { A } from './a.ts';",
    "c.test.ts": "export class Link {}",
    "d.ts": "export function Link() {} export const feed = class Link {};",
  };
  assert.deepEqual(found(classNames, texts), []);
});

test("columns: 100 pass and 101 do not, and a character is one however it is stored", () => {
  assert.deepEqual(lines(columns, "a.ts", `// ${"a ".repeat(48)}b`), []);
  assert.deepEqual(lines(columns, "a.ts", `f();\n// ${"a ".repeat(49)}`), [2]);
  assert.deepEqual(lines(columns, "a.ts", `f(${"a, ".repeat(40)}a);`), [1]);
  passes(columns, "a.ts", `// ${"😀".repeat(97)}`);
});

test("columns: a literal that cannot be broken and an address in a comment may run over", () => {
  passes(columns, "a.ts", `const a = "${"x".repeat(120)}";`);
  passes(columns, "a.ts", `const a = \`\n${"x".repeat(120)}\n\`;`);
  passes(columns, "a.ts", `// See https://example.org/${"x".repeat(100)}`);
});

test("cycles: files that import each other are named with the import that closes it", () => {
  const texts = {
    "packages/x/src/a.ts": 'import { b } from "./deep/b.ts";',
    "packages/x/src/deep/b.ts": '\nimport { c } from "../c.ts";',
    "packages/x/src/c.ts": '\n\nimport { a } from "./a.ts";',
  };
  const circle = ["a.ts", "deep/b.ts", "c.ts", "a.ts"].map((name) => `packages/x/src/${name}`);
  assert.deepEqual(found(cycles, texts), [
    `packages/x/src/c.ts:3 a circle of imports: ${circle.join(" → ")}`,
  ]);
});

test("cycles: types count, and so do export from, import() and a file that imports itself", () => {
  for (const back of [
    'import type { A } from "./a.ts";',
    'export { a } from "./a.ts";',
    'export * from "./a.ts";',
    'const a = await import("./a.ts");',
    'type A = import("./a.ts").A;',
  ]) {
    const texts = { "a.ts": 'import { b } from "./b.ts";', "b.ts": back };
    assert.equal(found(cycles, texts).length, 1, back);
  }
  fails(cycles, "a.ts", 'import { a } from "./a.ts";');
});

test("cycles: every circle is found, also one that is reached from a file outside of it", () => {
  const texts = {
    "a.ts": 'import "./b.ts"; import "./d.ts";',
    "b.ts": 'import "./c.ts";',
    "c.ts": 'import "./b.ts";',
    "d.ts": 'import "./e.ts";',
    "e.ts": 'import "./d.ts";',
  };
  const told = found(cycles, texts).map((one) => one.slice(0, 4));
  assert.deepEqual(told, ["c.ts", "e.ts"]);
  const twoWays = {
    "a.ts": 'import "./b.ts"; import "./c.ts"; import "node:fs";',
    "b.ts": 'import "./d.ts";',
    "c.ts": 'import "./d.ts";',
    "d.ts": "",
  };
  assert.deepEqual(found(cycles, twoWays), [], "two ways to one file are no circle");
});

const page = (rows: string): Texts => ({
  "docs/architecture.md": `# A\n\n## Dependencies\n\n| package | why |\n|---|---|\n${rows}\n## After\n\n| \`x\` | y |\n`,
});
const manifest = (fields: object): Texts => ({ "package.json": JSON.stringify(fields) });

test("dependencies: each has a reason, but our own packages", () => {
  const root = manifest({ name: "a", devDependencies: { ws: "1" } });
  const part = { "packages/b/package.json": '{"name":"@s/b","dependencies":{"a":"1"}}' };
  assert.deepEqual(found(dependencies, { ...root, ...part, ...page("| `ws` | streams |\n") }), []);
  const two = manifest({ name: "a", dependencies: { ws: "1", pino: "1" } });
  const told = found(dependencies, { ...two, ...page("| `ws` |  |\n") });
  const missing = 'has no reason under "Dependencies" in docs/architecture.md';
  assert.deepEqual(
    told.map((one) => one.replace(/:\d+/, ":")),
    [`package.json: ws ${missing}`, `package.json: pino ${missing}`],
  );
});

test("dependencies: a reason without a dependency is found", () => {
  const told = found(dependencies, { ...manifest({ name: "a" }), ...page("| `ws` | streams |\n") });
  assert.match(told.join(), /^docs\/architecture\.md:\d+ no package depends on ws$/);
});

test("file names: those that say nothing are found, as files and as folders", () => {
  for (const name of ["utils.ts", "helpers.test.ts", "common/gate.ts", "manager.ts"]) {
    fails(fileNames, `packages/a/src/${name}`, "");
  }
  fails(fileNames, "misc.ts", "");
  for (const name of ["gate.ts", "commonly.ts"]) passes(fileNames, `packages/a/src/${name}`, "");
});

test("purity: each forbidden thing is found in the engine", () => {
  const cases: Readonly<Record<string, string>> = {
    "setTimeout(f, 1);": "setTimeout",
    "const { now } = performance;": "performance",
    "const at = Date.now();": "Date",
    "let at: Date;": "Date",
    "const dice = Math.random();": "Math.random",
    'const dice = Math["random"]();': "Math.random",
    "const box = { process };": "process",
    "const bytes = Buffer.alloc(1);": "Buffer",
    "let later: Promise<void>;": "Promise",
    "const f = async () => 1;": "an async function",
    "class A { async m() {} }": "an async function",
    "await f();": "await",
    "async () => { for await (const x of xs) f(x); };": "for await",
    "console.log(1);": "console",
    "crypto.randomUUID();": "crypto",
    "globalThis.x = 1;": "globalThis",
    "queueMicrotask(f);": "queueMicrotask",
  };
  for (const [text, name] of Object.entries(cases)) {
    const told = found(purity, { "packages/engine/src/a.ts": text });
    const expected = `packages/engine/src/a.ts:1 ${name} has no place in the engine`;
    assert.ok(told.includes(expected), `${text} → ${told}`);
  }
});

test("purity: imports from outside are found, but types of the engine in the protocol", () => {
  for (const path of ["packages/engine/src/a.ts", "packages/protocol/src/a.ts"]) {
    fails(purity, path, 'import { join } from "node:path";', 'import type { X } from "some";');
    passes(purity, path, 'import { b } from "./b.ts";');
  }
  const types = 'import type { QueueConfig } from "@sluice/engine";';
  passes(purity, "packages/protocol/src/a.ts", types);
  fails(purity, "packages/protocol/src/a.ts", 'import { Engine } from "@sluice/engine";');
  fails(purity, "packages/engine/src/a.ts", types);
});

test("purity: names of properties are not globals, and tests and others may use all", () => {
  const names = "job.process(); const a = { Date: 1 }; class B { process() {} } Math.max(1, 2);";
  passes(purity, "packages/engine/src/a.ts", names);
  const text = 'import { test } from "node:test"; await Date.now();';
  for (const path of ["packages/engine/src/a.test.ts", "packages/broker/src/a.ts"]) {
    passes(purity, path, text);
  }
});

const functionOf = (count: number): string => `function f() {\n${"f();\n".repeat(count - 2)}}\n`;

test("size: a file of 500 lines and a function of 70 pass, and one line more does not", () => {
  passes(size, "a.ts", "f();\n".repeat(500), functionOf(70));
  const told = (text: string): string[] => found(size, { "a.ts": text });
  assert.deepEqual(told("f();\n".repeat(501)), ["a.ts:0 has 501 lines, at most 500"]);
  assert.deepEqual(told(`\n${functionOf(71)}`), ["a.ts:2 a function of 71 lines, at most 70"]);
});

test("size: methods and arrow functions are measured, a group of tests is a heading", () => {
  const body = "f();\n".repeat(70);
  fails(size, "a.ts", `const f = () => {\n${body}};`, `class A {\n#m() {\n${body}}\n}`);
  passes(size, "a.ts", `describe("a", () => {\n${body}});`);
  fails(size, "a.ts", `test("a", () => {\n${body}});`);
});

test("skipped tests: one left out without a reason is found in every form", () => {
  fails(
    skippedTests,
    "a.test.ts",
    'test.skip("a", () => {});',
    'describe.skip("a", () => {});',
    'test.todo("a");',
    'test.only("a", () => {});',
    'it("a", { only: true }, () => {});',
    'test("a", { skip: true }, () => {});',
    'test("a", { skip: "" }, () => {});',
    'test("a", (t) => { t.skip(); });',
    'test("a", (t) => t.test("b", { skip: true }, () => {}));',
  );
});

test("skipped tests: a reason is enough", () => {
  passes(
    skippedTests,
    "a.test.ts",
    'test("a", { skip: "needs a disk" }, () => {});',
    'test("a", { skip: hasDisk ? false : "needs a disk" }, () => {});',
    'test("a", (t) => { t.skip("needs a disk"); });',
    "stream.skip(); list({ only: true });",
  );
});

test("words: notes to oneself and the paths of one machine are found", () => {
  assert.deepEqual(lines(words, "docs/a.md", "fine\n// TODO later\nFIXME\nXXX"), [2, 3, 4]);
  const paths = '"/work/main"\n/root/x\nsee /home/somebody/x\n/Users/me/x\nin /work';
  assert.deepEqual(lines(words, "docs/a.md", paths), [1, 2, 3, 4, 5]);
});

test("words: what only looks alike passes, and the rules may spell what they forbid", () => {
  const alike = "a todo list, mastodon\n./work/x\nhttps://a.b/work/x\n/workers/1\n/home";
  passes(words, "docs/a.md", alike);
  passes(words, "tests/tidy/rules/words.ts", "TODO");
});

test("plain words: sentences that sound translated are found everywhere", () => {
  const sample =
    'const a = "the server is told";\nconst b = `for ever ${a}`;\n// nobody reads this\n/*\n * told\n * anew */';
  assert.deepEqual(lines(plainWords, "packages/cli/src/a.ts", sample), [3, 6, 1, 2]);
  assert.deepEqual(lines(plainWords, "bench/a.test.ts", 'test("it goes on", () => {});'), [1]);
  assert.deepEqual(lines(plainWords, "docs/a.md", "fine\nWhoever asks\nanew"), [2, 3]);
  assert.deepEqual(lines(plainWords, "deploy/a.yaml", "a: 1 # is told"), [1]);
});

test("plain words: names and other words are left alone", () => {
  passes(plainWords, "packages/cli/src/a.ts", 'const user = "nobody";');
  passes(plainWords, "docs/a.md", "The client reconnects. It fortells nothing.");
});

test("page columns: long sentences are found, tables and code are left alone", () => {
  const long = "word ".repeat(40).trim();
  const text = `# A page\n\n${long}\n\n| ${long} |\n\n\`\`\`sh\n${long}\n\`\`\`\n${long}`;
  assert.deepEqual(lines(pageColumns, "docs/a.md", text), [3, 10]);
  passes(pageColumns, "docs/a.md", `${"word ".repeat(28).trim()}\n`);
  passes(pageColumns, "docs/reference/a.md", long);
});

test("using declarations: none in what is published", () => {
  const texts = ["using file = open();", "async () => { await using file = open(); };"];
  for (const path of ["packages/cli/src/a.ts", "apps/torznab/src/http/a.ts"]) {
    fails(usingDeclarations, path, ...texts, "for (using file of files()) file.read();");
    passes(usingDeclarations, path, "const using = 1; export { using };");
  }
  for (const path of ["a.test.ts", "testing/a.ts"]) {
    passes(usingDeclarations, `packages/cli/src/${path}`, ...texts);
  }
  passes(usingDeclarations, "packages/sim/src/a.ts", ...texts);
});
