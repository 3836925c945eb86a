import assert from "node:assert/strict";
import { test } from "node:test";
import { ACCOUNT_BYTES, allocatorOf, MAX, REFUSED, USED } from "./allocator.ts";

const ACCOUNT = 16;
const GIVEN = 4096;

/** An allocator over a memory that gives out one address, or none. */
function opened(max: number) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const freed: number[] = [];
  const given = { at: GIVEN };
  const allocate = allocatorOf({
    memory,
    realloc: () => given.at,
    free: (at: number) => freed.push(at),
  });
  const account = new DataView(memory.buffer, ACCOUNT, ACCOUNT_BYTES);
  account.setUint32(MAX, max, true);
  const word = (offset: number): number => account.getUint32(offset, true);
  const change = (...args: number[]): number => allocate(ACCOUNT, ...args) >>> 0;
  return { change, freed, given, used: () => word(USED), refused: () => word(REFUSED) };
}

test("counts what a state gets, grows, shrinks and gives back", () => {
  const { change, freed, used, refused } = opened(1000);
  assert.equal(change(0, 5, 600), GIVEN, "without a pointer the old size is a kind");
  assert.equal(used(), 600);
  change(GIVEN, 600, 1000);
  assert.equal(used(), 1000);
  change(GIVEN, 1000, 10);
  assert.equal(used(), 10);
  assert.equal(change(GIVEN, 10, 0), 0);
  assert.deepEqual([used(), refused(), freed], [0, 0, [GIVEN]]);
});

test("refuses what exceeds the share, also sizes that would wrap around", () => {
  const { change, used, refused } = opened(1000);
  assert.equal(change(0, 0, 1000), GIVEN);
  assert.equal(refused(), 0);
  assert.equal(change(0, 0, 1), 0);
  assert.deepEqual([used(), refused()], [1000, 1]);
  assert.equal(change(GIVEN, 1000, 1001), 0);
  assert.equal(change(0, 0, 0xffff_ffff), 0);
  assert.equal(change(GIVEN, 1000, 0xffff_fff0), 0);
  assert.equal(used(), 1000);
});

test("a memory that has nothing left changes no count", () => {
  const { change, given, used, refused } = opened(1000);
  given.at = 0;
  assert.equal(change(0, 0, 100), 0);
  assert.deepEqual([used(), refused()], [0, 0]);
});
