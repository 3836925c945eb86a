import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { forReadable } from "./batch.ts";
import { READ_ITEMS_MS } from "./limits.ts";

function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test("items that take long to read let others have their turn", async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const read = (item: number): number => {
    busy(READ_ITEMS_MS + 1);
    if (item === 2) throw new SluiceError("INVALID", "two", {});
    return item;
  };
  const outcomes = await forReadable([1, 2, 3, 4], read, async (items) => {
    assert.deepEqual(items, [1, 3, 4]);
    return items.map((ok) => ({ ok }));
  });
  isOver = true;
  assert.ok(turns >= 4, `${turns} turns`);
  assert.deepEqual(
    outcomes.map(({ ok, error }) => ok ?? error?.code),
    [1, "INVALID", 3, 4],
  );
});
