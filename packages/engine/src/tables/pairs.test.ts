import assert from "node:assert/strict";
import { test } from "node:test";
import { PairIndex } from "./pairs.ts";
import { Table } from "./table.ts";

const A = 1;
const B = 3;
const LINK = 2;

function setUp(): { table: Table; pairs: PairIndex; add: (a: number, b: number) => number } {
  const table = new Table(4);
  const pairs = new PairIndex(table, A, B, LINK);
  const add = (a: number, b: number): number => {
    const row = table.alloc();
    const at = row * table.ints;
    table.i[at + A] = a;
    table.i[at + B] = b;
    pairs.insert(row);
    return row;
  };
  return { table, pairs, add };
}

/** The most rows that hang on one chain. */
function longestChain(table: Table, rows: Iterable<number>): number {
  let longest = 0;
  for (const row of rows) {
    let length = 0;
    for (let at = row; at !== 0; length++) {
      at = table.i[at * table.ints + LINK]!;
    }
    longest = Math.max(longest, length);
  }
  return longest;
}

test("a row is found by both fields in their order, until it is removed", () => {
  const { pairs, add } = setUp();
  assert.equal(pairs.find(1, 2), 0);
  const row = add(1, 2);
  const turned = add(2, 1);
  assert.equal(pairs.find(1, 2), row);
  assert.equal(pairs.find(2, 1), turned);
  assert.equal(pairs.find(1, 1), 0);
  pairs.remove(row);
  assert.equal(pairs.find(1, 2), 0);
  assert.equal(pairs.find(2, 1), turned);
  assert.equal(pairs.size, 1);
});

test("distinguishes zero, negative and extreme fields", () => {
  const { pairs, add } = setUp();
  const values = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
  const list = values.flatMap((a) => values.map((b): [number, number] => [a, b]));
  const rows = list.map(([a, b]) => add(a, b));
  assert.deepEqual(
    list.map(([a, b]) => pairs.find(a, b)),
    rows,
  );
});

test("a pair that is there already, and a row that is not there, are refused", () => {
  const { pairs, add } = setUp();
  const row = add(3, 4);
  assert.throws(() => add(3, 4), /pair 3, 4 is in the index already/);
  assert.equal(pairs.find(3, 4), row);
  pairs.remove(row);
  assert.throws(() => pairs.remove(row), /not in the index/);
  assert.equal(pairs.size, 0);
});

test("a million pairs: one bucket at most is split per call, and no chain is long", () => {
  const { table, pairs, add } = setUp();
  for (let n = 0; n < 1_000_000; n++) {
    const before = pairs.buckets;
    add(n >>> 10, n & 1023);
    if (pairs.buckets - before > 1) assert.fail(`${pairs.buckets - before} splits for pair ${n}`);
  }
  for (let n = 0; n < 1_000_000; n++) {
    if (pairs.find(n >>> 10, n & 1023) !== n + 1) assert.fail(`pair ${n} is not found`);
  }
  const rows = Array.from({ length: 1_000_000 }, (_, index) => index + 1);
  assert.ok(longestChain(table, rows) <= 20);
});

test("pairs with a constant side, a step or equal sides do not crowd", () => {
  const shapes: ((n: number) => [number, number])[] = [
    (n) => [n, 7],
    (n) => [7, n],
    (n) => [n, n],
    (n) => [n, -n],
    (n) => [n << 14, 1],
    (n) => [1, n << 14],
    (n) => [n & 127, n >>> 7],
  ];
  for (const shape of shapes) {
    const { table, add } = setUp();
    const rows = Array.from({ length: 16_384 }, (_, index) => add(...shape(index)));
    const longest = longestChain(table, rows);
    assert.ok(longest <= 12, `${longest} rows on a chain of ${shape}`);
  }
});

test("random inserts and removes agree with a map", () => {
  const { pairs, table, add } = setUp();
  const model = new Map<string, number>();
  let random = 1;
  for (let n = 0; n < 300_000; n++) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const a = (random >>> 8) & 255;
    const b = ((random >>> 16) & 255) - 128;
    const row = model.get(`${a}:${b}`);
    assert.equal(pairs.find(a, b), row ?? 0);
    if (row === undefined) {
      model.set(`${a}:${b}`, add(a, b));
    } else if (random & 128) {
      pairs.remove(row);
      table.free(row);
      model.delete(`${a}:${b}`);
    }
    assert.equal(pairs.size, model.size);
  }
  assert.ok(model.size > 20_000);
});
