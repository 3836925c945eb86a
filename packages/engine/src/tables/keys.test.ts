import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyTable } from "./keys.ts";

test("a key is found under the number it was given, and not before", () => {
  const keys = new KeyTable();
  assert.equal(keys.find(1, "acme"), 0);
  const entry = keys.intern(1, "acme");
  assert.ok(entry >= 1);
  assert.equal(keys.find(1, "acme"), entry);
  assert.equal(keys.intern(1, "acme"), entry);
  assert.equal(keys.keyOf(entry), "acme");
  assert.equal(keys.prefixOf(entry), 1);
  assert.equal(keys.size, 1);
});

test("one key under two prefixes, and two keys under one, are different entries", () => {
  const keys = new KeyTable();
  const entries = [
    keys.intern(1, "a"),
    keys.intern(2, "a"),
    keys.intern(1, "b"),
    keys.intern(-1, "a"),
    keys.intern(0, "a"),
    keys.intern(-(2 ** 31), "a"),
    keys.intern(2 ** 31 - 1, "a"),
  ];
  assert.equal(new Set(entries).size, 7);
  assert.equal(keys.prefixOf(entries[5]!), -(2 ** 31));
  assert.equal(keys.find(3, "a"), 0);
});

test("keys that differ in length, in trailing zeros or in width stay apart and come back", () => {
  const keys = new KeyTable();
  const texts = [
    "",
    "\0",
    "\0\0",
    "\0\0\0\0",
    "a",
    "a\0",
    "a\0b\0",
    "ab",
    "\u6100",
    "\u6100\u6200",
    "ÿ",
    "Ā",
    "é",
    "e\u0301",
    "ключ",
    "鍵",
    "🗝️ key",
    "\ud83d",
    "\udd11",
    "\udd11\ud83d",
    "\ud83d\udd11",
    "\ufffd",
  ];
  const entries = texts.map((text) => keys.intern(0, text));
  assert.equal(new Set(entries).size, texts.length);
  assert.deepEqual(
    entries.map((entry) => keys.keyOf(entry)),
    texts,
  );
  assert.deepEqual(
    texts.map((text) => keys.find(0, text)),
    entries,
  );
});

test("keys of 64 KiB work, and longer ones are not found and not taken", () => {
  const keys = new KeyTable();
  const narrow = "x".repeat(65536);
  const wide = "鍵".repeat(65536);
  const mixed = `${"x".repeat(65533)}鍵`;
  for (const text of [narrow, wide, mixed, `${narrow.slice(1)}y`]) {
    assert.equal(keys.find(5, text), 0);
    const entry = keys.intern(5, text);
    assert.equal(keys.find(5, text), entry);
    assert.ok(keys.keyOf(entry) === text);
  }
  assert.equal(keys.find(5, `${narrow}x`), 0);
  assert.throws(() => keys.intern(5, `${narrow}x`), /65536 units at most/);
  assert.equal(keys.size, 4);
});

test("a removed key is gone, its number and its room are used again", () => {
  const keys = new KeyTable();
  const entry = keys.intern(1, "short-lived");
  keys.remove(entry);
  assert.equal(keys.find(1, "short-lived"), 0);
  assert.equal(keys.size, 0);
  assert.throws(() => keys.remove(entry), /no entry/);
  assert.throws(() => keys.keyOf(entry), /no entry/);
  assert.throws(() => keys.prefixOf(entry), /no entry/);
  assert.throws(() => keys.keyOf(0), /no entry/);
  assert.throws(() => keys.keyOf(1_000_000), /no entry/);
  const bytes = keys.bytes;
  for (let n = 0; n < 100_000; n++) keys.remove(keys.intern(n, `key number ${n}`));
  assert.equal(keys.bytes, bytes);
});

test("the seed changes nothing that can be seen", () => {
  const tables = [new KeyTable(), new KeyTable(12345), new KeyTable(2 ** 53 - 1)];
  for (let n = 0; n < 50_000; n++) {
    const [first, ...rest] = tables.map((keys) => keys.intern(n & 7, `k${n >>> 3}`));
    for (const entry of rest) assert.equal(entry, first);
  }
  for (const keys of tables) assert.equal(keys.find(7, "k100"), 808);
});

test("250,000 keys: one bucket at most is split per call, and all are found", () => {
  const keys = new KeyTable(99);
  const count = 250_000;
  for (let n = 1; n <= count; n++) {
    const before = keys.buckets;
    if (keys.intern(n & 3, `tenant-${n >>> 2}`) !== n) assert.fail(`entry of key ${n}`);
    if (keys.buckets - before > 1) assert.fail(`${keys.buckets - before} splits for key ${n}`);
  }
  assert.equal(keys.size, count);
  assert.ok(keys.bytes < count * 50, `${keys.bytes} bytes`);
  for (let n = 1; n <= count; n++) {
    if (keys.find(n & 3, `tenant-${n >>> 2}`) !== n) assert.fail(`key ${n} is not found`);
  }
  for (let n = 1; n <= count; n += 2) keys.remove(n);
  for (let n = 1; n <= count; n += 999) {
    assert.equal(keys.find(n & 3, `tenant-${n >>> 2}`), n & 1 ? 0 : n);
  }
});
