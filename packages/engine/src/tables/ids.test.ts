import assert from "node:assert/strict";
import { test } from "node:test";
import { IdIndex } from "./ids.ts";
import { Table } from "./table.ts";

const ID = 1;
const LINK = 1;

function setUp(): { table: Table; ids: IdIndex; add: (id: number) => number } {
  const table = new Table(4);
  const ids = new IdIndex(table, ID, LINK);
  const add = (id: number): number => {
    const row = table.alloc();
    table.f[row * table.doubles + ID] = id;
    ids.insert(row);
    return row;
  };
  return { table, ids, add };
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

test("a row is found by its id until it is removed", () => {
  const { ids, add } = setUp();
  assert.equal(ids.find(1), 0);
  const row = add(1);
  assert.equal(ids.find(1), row);
  assert.equal(ids.size, 1);
  ids.remove(row);
  assert.equal(ids.find(1), 0);
  assert.equal(ids.size, 0);
});

test("distinguishes ids beyond 32 bits, up to the largest safe integer", () => {
  const { ids, add } = setUp();
  const list = [2 ** 53 - 1];
  for (let bit = 0; bit < 53; bit++) list.push(2 ** bit);
  for (let bit = 31; bit < 53; bit++) list.push(2 ** bit + 5, 2 ** bit - 5);
  const rows = list.map(add);
  assert.deepEqual(
    list.map((id) => ids.find(id)),
    rows,
  );
  assert.equal(ids.find(2 ** 53 - 2), 0);
  assert.equal(ids.find(2 ** 32 + 6), 0);
});

test("an id that is there already, and a row that is not there, are refused", () => {
  const { ids, add } = setUp();
  const row = add(77);
  assert.throws(() => add(77), /id 77 is in the index already/);
  assert.equal(ids.find(77), row);
  ids.remove(row);
  assert.throws(() => ids.remove(row), /not in the index/);
  assert.equal(ids.size, 0);
});

test("a million ids in order: two buckets at most are split per call, and no chain is long", () => {
  const { table, ids, add } = setUp();
  const start = 2 ** 32 - 500_000;
  for (let n = 1; n <= 1_000_000; n++) {
    const before = ids.buckets;
    add(start + n);
    if (ids.buckets - before > 2) assert.fail(`${ids.buckets - before} splits for id ${n}`);
  }
  assert.equal(ids.buckets, 1_500_000);
  for (let n = 1; n <= 1_000_000; n++) {
    if (ids.find(start + n) !== n) assert.fail(`id ${n} is not found`);
  }
  const rows = Array.from({ length: 1_000_000 }, (_, index) => index + 1);
  assert.ok(longestChain(table, rows) <= 16);
});

test("most of the consecutive ids have a bucket to themselves, the oldest included", () => {
  const { ids, table, add } = setUp();
  let before = 0;
  for (let id = 1; id <= 1_000_000; id++) {
    const row = add(id);
    if (table.i[row * table.ints + LINK] !== 0) before++;
    const old = ids.find(id - 100_000);
    if (old === 0) continue;
    ids.remove(old);
    table.free(old);
  }
  assert.ok(before < 250_000, `${before} of 1,000,000 ids came before another in their bucket`);
});

test("ids at any distance from one another do not crowd", () => {
  for (const distance of [2, 16, 64, 1000, 1024, 4096, 2 ** 16, 2 ** 20, 2 ** 32, 2 ** 38]) {
    const { table, add } = setUp();
    const rows = Array.from({ length: 16_384 }, (_, index) => add((index + 1) * distance));
    const longest = longestChain(table, rows);
    assert.ok(longest <= 12, `${longest} rows on a chain, ${distance} apart`);
  }
});

test("rows that come and go in a window of rising ids agree with a map", () => {
  const { ids, table, add } = setUp();
  const model = new Map<number, number>();
  let random = 1;
  for (let id = 1; id <= 200_000; id++) {
    model.set(id, add(id));
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    const old = id - (random % 40_000);
    const row = model.get(old);
    assert.equal(ids.find(old), row ?? 0);
    if (row === undefined) continue;
    ids.remove(row);
    table.free(row);
    model.delete(old);
  }
  assert.equal(ids.size, model.size);
  for (let id = 1; id <= 200_000; id++) assert.equal(ids.find(id), model.get(id) ?? 0);
});
