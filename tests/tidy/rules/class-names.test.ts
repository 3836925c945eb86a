import assert from "node:assert/strict";
import { test } from "node:test";
import { classNames } from "./class-names.ts";

const found = (texts: Readonly<Record<string, string>>) =>
  classNames(Object.entries(texts).map(([path, text]) => ({ path, text })));

test("a second exported class of a name is named, with the file of the first", () => {
  const texts = {
    "packages/x/src/link.ts": "export class Link {}",
    "packages/y/src/link.ts": "\nexport abstract class Link<T> {}",
    "apps/z/src/wire.tsx": "const a = 1;\n\nexport default class Link {}",
  };
  const message = "class Link is in packages/x/src/link.ts too: give one of them another name";
  assert.deepEqual(found(texts), [
    { path: "packages/y/src/link.ts", line: 2, message },
    { path: "apps/z/src/wire.tsx", line: 3, message },
  ]);
});

test("classes that are not exported, tests and functions are not counted", () => {
  const texts = {
    "a.ts": "export class Link {}",
    "b.ts": "class Link {} export class LinkFeed {} export { A } from './a.ts';",
    "c.test.ts": "export class Link {}",
    "d.ts": "export function Link() {} export const feed = class Link {};",
  };
  assert.deepEqual(found(texts), []);
});
