import assert from "node:assert/strict";
import { test } from "node:test";
import { purity } from "./purity.ts";

const messages = (path: string, text: string): string[] =>
  purity([{ path, text }]).map((finding) => finding.message);

test("each forbidden thing is found in the engine", () => {
  const cases: [string, string][] = [
    ["setTimeout(f, 1);", "setTimeout"],
    ["const { now } = performance;", "performance"],
    ["const at = Date.now();", "Date"],
    ["let at: Date;", "Date"],
    ["const dice = Math.random();", "Math.random"],
    ['const dice = Math["random"]();', "Math.random"],
    ["const box = { process };", "process"],
    ["const bytes = Buffer.alloc(1);", "Buffer"],
    ["let later: Promise<void>;", "Promise"],
    ["const f = async () => 1;", "an async function"],
    ["class A { async m() {} }", "an async function"],
    ["await f();", "await"],
    ["async () => { for await (const x of xs) f(x); };", "for await"],
    ["console.log(1);", "console"],
    ["crypto.randomUUID();", "crypto"],
    ["globalThis.x = 1;", "globalThis"],
    ["queueMicrotask(f);", "queueMicrotask"],
  ];
  for (const [text, name] of cases) {
    const found = messages("packages/engine/src/a.ts", text);
    assert.ok(found.includes(`${name} has no place in the engine`), `${text} → ${found}`);
  }
});

test("imports from outside are found in engine and protocol", () => {
  for (const name of ["engine", "protocol"]) {
    const path = `packages/${name}/src/a.ts`;
    assert.equal(messages(path, 'import { join } from "node:path";').length, 1);
    assert.equal(messages(path, 'import type { X } from "some-package";').length, 1);
    assert.deepEqual(messages(path, 'import { b } from "./b.ts";'), []);
  }
});

test("the protocol may know types of the engine", () => {
  const types = 'import type { QueueConfig } from "@sluice/engine";';
  assert.deepEqual(messages("packages/protocol/src/a.ts", types), []);
  const value = 'import { Engine } from "@sluice/engine";';
  assert.equal(messages("packages/protocol/src/a.ts", value).length, 1);
  assert.equal(messages("packages/engine/src/a.ts", types).length, 1);
});

test("names of properties are not globals", () => {
  const text = "job.process(); const a = { Date: 1 }; class B { process() {} } Math.max(1, 2);";
  assert.deepEqual(messages("packages/engine/src/a.ts", text), []);
});

test("tests and other packages may use everything", () => {
  const text = 'import { test } from "node:test"; await Date.now();';
  assert.deepEqual(messages("packages/engine/src/a.test.ts", text), []);
  assert.deepEqual(messages("packages/broker/src/a.ts", text), []);
});
