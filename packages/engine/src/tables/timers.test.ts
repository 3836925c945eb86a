import assert from "node:assert/strict";
import { test } from "node:test";
import { Table } from "./table.ts";
import { Timers } from "./timers.ts";

const POS = 1;

function setUp(count: number): { table: Table; timers: Timers; rows: number[] } {
  const table = new Table(2);
  const rows = Array.from({ length: count }, () => table.alloc());
  return { table, timers: new Timers(table, POS), rows };
}

function drain(timers: Timers): number[] {
  const out: number[] = [];
  for (let row = timers.pop(); row !== 0; row = timers.pop()) out.push(row);
  return out;
}

/** Numbers that look drawn at random, the same in every run. */
function* lottery(): Generator<number, never> {
  let random = 1;
  for (;;) {
    random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
    yield random >>> 8;
  }
}

test("nothing is due when there is nothing", () => {
  const { timers, rows } = setUp(1);
  assert.equal(timers.peekTime(), Infinity);
  assert.equal(timers.peek(), 0);
  assert.equal(timers.pop(), 0);
  assert.equal(timers.size, 0);
  assert.equal(timers.has(rows[0]!), false);
});

test("rows come out by time, those of one time by tie-breaker", () => {
  const { timers } = setUp(6);
  timers.add(1, 300, 1);
  timers.add(2, 100, 9);
  timers.add(3, 100, 8);
  timers.add(4, 200, 0);
  timers.add(5, 100, 10);
  timers.add(6, -50, 0);
  assert.equal(timers.peekTime(), -50);
  assert.equal(timers.peek(), 6);
  assert.deepEqual(drain(timers), [6, 3, 2, 5, 4, 1]);
  assert.equal(timers.peekTime(), Infinity);
});

test("rows of one time and falling tie-breakers come out in order of the tie-breaker", () => {
  const { timers, rows } = setUp(100);
  for (const row of rows) timers.add(row, 5, -row);
  assert.deepEqual(drain(timers), rows.toReversed());
});

test("the first, the last and any row between can be removed", () => {
  for (const order of ["rising", "falling", "mixed"]) {
    const times = Array.from({ length: 60 }, (_, n) =>
      order === "rising" ? n : order === "falling" ? 60 - n : (n * 37) % 61,
    );
    for (let gone = 0; gone < 60; gone++) {
      const { table, timers, rows } = setUp(60);
      for (const [n, row] of rows.entries()) timers.add(row, times[n]!, n);
      timers.remove(rows[gone]!);
      assert.equal(timers.has(rows[gone]!), false);
      assert.equal(table.i[rows[gone]! * 2 + POS], 0);
      const left = rows.filter((row) => row !== rows[gone]);
      left.sort((a, b) => times[a - 1]! - times[b - 1]! || a - b);
      assert.deepEqual(drain(timers), left);
    }
  }
});

test("a moved row keeps its tie-breaker, wherever it was", () => {
  const { timers, rows } = setUp(40);
  for (const row of rows) timers.add(row, (row * 17) % 41, row);
  for (const row of rows.toReversed()) timers.move(row, 1000);
  assert.equal(timers.size, 40);
  assert.deepEqual(drain(timers), rows);
});

test("a second timer, a missing one and a time that is none are refused", () => {
  const { timers, rows } = setUp(2);
  const [row, other] = rows as [number, number];
  timers.add(row, 10, 1);
  assert.throws(() => timers.add(row, 20, 1), /has a timer already/);
  assert.throws(() => timers.remove(other), /has no timer/);
  assert.throws(() => timers.move(other, 5), /has no timer/);
  for (const time of [Number.NaN, Infinity, -Infinity]) {
    assert.throws(() => timers.add(other, time, 1), /cannot be at/);
    assert.throws(() => timers.add(other, 1, time), /cannot be at/);
    assert.throws(() => timers.move(row, time), /cannot be at/);
  }
  assert.deepEqual(drain(timers), [row]);
});

/** A position below 0 is a place in a run, one above 0 a slot of the heap. */
function isInRun(table: Table, row: number): boolean {
  return table.i[row * table.ints + POS]! < 0;
}

test("rising times stay out of the heap, those of several lease lengths too", () => {
  const { table, timers, rows } = setUp(20_000);
  const lengths = [30_000, 1_000, 300_000, 60_000];
  for (const row of rows) timers.add(row, (row >>> 3) + lengths[row & 3]!, row);
  for (const row of rows) assert.ok(isInRun(table, row));
});

test("far times that end the runs send nearer ones to the heap only until they are gone", () => {
  const { table, timers, rows } = setUp(10);
  for (const row of rows.slice(0, 4)) timers.add(row, 10, 14 - row);
  for (const row of rows.slice(4, 8)) timers.add(row, 2000 - row, 1);
  timers.add(9, 20, 1);
  assert.equal(isInRun(table, 9), false);
  timers.move(8, 15);
  timers.add(10, 20, 2);
  assert.equal(isInRun(table, 10), true);
  assert.deepEqual(drain(timers), [4, 3, 2, 1, 8, 9, 10, 7, 6, 5]);
});

test("200,000 rows with random times come out in order, removed and moved ones too", () => {
  const { timers, rows } = setUp(200_000);
  const draw = lottery();
  const times = new Float64Array(rows.length + 1);
  for (const row of rows) {
    times[row] = draw.next().value;
    timers.add(row, times[row]!, row);
  }
  for (let n = 0; n < 40_000; n++) {
    const row = rows[draw.next().value % rows.length]!;
    if (!timers.has(row)) continue;
    if (n & 1) {
      timers.remove(row);
      times[row] = -1;
    } else {
      times[row] = draw.next().value;
      timers.move(row, times[row]!);
    }
  }
  const left = rows
    .filter((row) => times[row]! >= 0)
    .sort((a, b) => times[a]! - times[b]! || a - b);
  assert.equal(timers.size, left.length);
  for (const row of left) {
    if (timers.peekTime() !== times[row]) assert.fail(`time of row ${row}`);
    if (timers.pop() !== row) assert.fail(`row ${row}`);
  }
  assert.equal(timers.size, 0);
});
