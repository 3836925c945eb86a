import assert from "node:assert/strict";
import { test } from "node:test";
import { idOf, parseId } from "./job-ids.ts";

const NUMBERS = [1, 35, 36, 1295, 1296, 10 ** 6, 2 ** 32, Number.MAX_SAFE_INTEGER];

/** One more than what a number holds exactly. */
const BEYOND = idOf(2 ** 53);

test("an id is short, and ids sort as text in the order in which they were given", () => {
  const ids = NUMBERS.map(idOf);
  assert.deepEqual([...ids].sort(), ids);
  assert.deepEqual(ids.map(parseId), NUMBERS);
  assert.ok(idOf(10 ** 9).length <= 7);
});

test("a text that is no id names a job that does not exist", () => {
  for (const id of [
    "",
    "a",
    "a0",
    "b1",
    "a11",
    "A1",
    "a-",
    "constructor",
    " a1",
    BEYOND,
    1,
    null,
  ]) {
    assert.throws(() => parseId(id), { code: "JOB_NOT_FOUND" });
  }
});
