import assert from "node:assert/strict";
import { test } from "node:test";
import { layersOf } from "./layers.ts";
import { noting } from "./syntax.ts";

test("a note is put into every function", () => {
  const cases = [
    ["function f(a = 1) { return a; }", "function f(a = 1) {noteStack(); return a; }"],
    ["const f = (a: number) => a;", "const f = (a: number) => (noteStack(),a);"],
    ["const f = () => () => 1;", "const f = () => (noteStack(),() => (noteStack(),1));"],
    ["class C { get x() { return 1; } }", "class C { get x() {noteStack(); return 1; } }"],
    ["declare function f(): void;", "declare function f(): void;"],
  ] as const;
  for (const [text, noted] of cases) assert.equal(noting("a.ts", text), noted);
});

test("implementations of the port are classes and proxies", () => {
  const text = `
    class A implements Broker {}
    class B implements Disposable {}
    function watched(broker: Broker): Broker { return new Proxy(broker, {}); }
  `;
  assert.deepEqual(
    layersOf("a.ts", text).map(({ name }) => name),
    ["A", "a proxy"],
  );
});
