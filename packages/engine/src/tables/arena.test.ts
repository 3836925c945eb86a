import assert from "node:assert/strict";
import { test } from "node:test";
import { ARENA_MASK, Arena } from "./arena.ts";

const BYTES_MAX = 131_072;

/** The sizes around each edge between two classes, and the largest there is. */
function edgeSizes(): number[] {
  const sizes = [0, 1];
  for (let size = 8; size <= 64; size += 8) sizes.push(size, size + 1);
  for (let size = 64; size < BYTES_MAX; size *= 2) {
    sizes.push(size * 1.5, size * 1.5 + 1, size * 2 - 1, size * 2);
    if (size * 2 < BYTES_MAX) sizes.push(size * 2 + 1);
  }
  return sizes;
}

function fill(arena: Arena, address: number, bytes: number, value: number): void {
  const at = address & ARENA_MASK;
  arena.chunkOf(address).fill(value, at, at + ((bytes + 3) >>> 2));
}

function holds(arena: Arena, address: number, bytes: number, value: number): boolean {
  const at = address & ARENA_MASK;
  const words = arena.chunkOf(address).subarray(at, at + ((bytes + 3) >>> 2));
  return words.length === (bytes + 3) >>> 2 && words.every((word) => word === value);
}

test("no block overlaps another, of whatever size, new or reused", () => {
  const arena = new Arena();
  const blocks = new Map<number, { bytes: number; value: number }>();
  let value = 0;
  for (let round = 0; round < 4; round++) {
    for (const bytes of edgeSizes()) {
      const address = arena.alloc(bytes);
      assert.notEqual(address, 0);
      assert.ok(!blocks.has(address));
      blocks.set(address, { bytes, value: ++value });
      fill(arena, address, bytes, value);
    }
    for (const [address, block] of blocks) {
      assert.ok(holds(arena, address, block.bytes, block.value));
      if (block.value % 3 === round % 3) {
        arena.free(address, block.bytes);
        blocks.delete(address);
      }
    }
  }
});

test("freed room is used again before more is taken", () => {
  const arena = new Arena();
  const sizes = edgeSizes();
  let blocks = sizes.map((bytes) => arena.alloc(bytes));
  const bytes = arena.bytes;
  for (let round = 0; round < 100; round++) {
    blocks.forEach((address, index) => {
      arena.free(address, sizes[index]!);
    });
    blocks = sizes.map((size) => arena.alloc(size));
  }
  assert.equal(arena.bytes, bytes);
});

test("short keys lose less than a third to rounding", () => {
  const arena = new Arena();
  let used = 0;
  for (let n = 0; n < 100_000; n++) {
    const bytes = 8 + (n % 25);
    arena.alloc(bytes);
    used += bytes;
  }
  assert.ok(arena.bytes < used * 1.3, `${arena.bytes} bytes for ${used}`);
});

test("the rest of a chunk that a large block does not fit into is not lost", () => {
  const arena = new Arena();
  arena.alloc(8);
  // Two in the second chunk fill it, so that all below can only come from the rest of the first.
  for (let n = 0; n < 3; n++) arena.alloc(BYTES_MAX);
  const bytes = arena.bytes;
  assert.equal(bytes, BYTES_MAX * 4);
  for (const size of [98_304, 24_576, 6_144, 1_536, 384, 96, 16]) arena.alloc(size);
  assert.equal(arena.bytes, bytes);
  arena.alloc(8);
  assert.equal(arena.bytes, bytes + BYTES_MAX * 2);
});
