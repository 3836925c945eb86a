import assert from "node:assert/strict";
import { test } from "node:test";
import { Buckets } from "./buckets.ts";
import { Table } from "./table.ts";

const LINK = 0;

/** Adds a row whose hash is its own number, as an index does. */
function insert(buckets: Buckets, row: number): void {
  buckets.add(row, row);
  let moved = buckets.split();
  while (moved !== 0) {
    const next = buckets.next(moved);
    buckets.place(moved, moved);
    moved = next;
  }
}

function chain(buckets: Buckets, hash: number): number[] {
  const rows: number[] = [];
  for (let row = buckets.first(hash); row !== 0; row = buckets.next(row)) rows.push(row);
  return rows;
}

test("one insert opens one bucket at most, and every row stays where its hash leads", () => {
  const table = new Table(2);
  const buckets = new Buckets(table, LINK);
  for (let n = 1; n <= 100_000; n++) {
    const before = buckets.count;
    insert(buckets, table.alloc());
    assert.ok(buckets.count - before <= 1);
    assert.equal(buckets.size, n);
  }
  assert.equal(buckets.count, 100_000);
  for (let row = 1; row <= 100_000; row++) assert.ok(chain(buckets, row).includes(row));
});

test("rows in order of their hashes never share a bucket with more than one other", () => {
  const table = new Table(2);
  const buckets = new Buckets(table, LINK);
  for (let n = 0; n < 50_000; n++) insert(buckets, table.alloc());
  for (let row = 1; row <= 50_000; row++) assert.ok(chain(buckets, row).length <= 2);
});

test("a row leaves its chain from the head, the middle and the end", () => {
  const table = new Table(2);
  const buckets = new Buckets(table, LINK);
  const rows = [1, 2, 3, 4].map(() => table.alloc());
  for (const row of rows) buckets.add(7, row);
  assert.deepEqual(chain(buckets, 7), [4, 3, 2, 1]);
  buckets.remove(7, 3);
  assert.deepEqual(chain(buckets, 7), [4, 2, 1]);
  buckets.remove(7, 4);
  assert.deepEqual(chain(buckets, 7), [2, 1]);
  buckets.remove(7, 1);
  assert.deepEqual(chain(buckets, 7), [2]);
  assert.equal(buckets.size, 1);
});

test("removing a row that is not there is a bug and is said", () => {
  const table = new Table(2);
  const buckets = new Buckets(table, LINK);
  const row = table.alloc();
  assert.throws(() => buckets.remove(7, row), /not in the index/);
  buckets.add(7, row);
  buckets.remove(7, row);
  assert.throws(() => buckets.remove(7, row), /not in the index/);
  assert.equal(buckets.size, 0);
});

test("negative hashes have buckets like all others", () => {
  const table = new Table(2);
  const buckets = new Buckets(table, LINK);
  const row = table.alloc();
  buckets.add(-1, row);
  assert.deepEqual(chain(buckets, -1), [row]);
  buckets.remove(-1, row);
  assert.deepEqual(chain(buckets, -1), []);
});
