import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesced, longRest } from "./coalesced.ts";

const turn = (): Promise<void> => new Promise(setImmediate);

test("calls that come while one is under way become one more", async () => {
  const works: PromiseWithResolvers<void>[] = [];
  const once = coalesced(
    () => {
      works.push(Promise.withResolvers<void>());
      return works.at(-1)!.promise;
    },
    () => undefined,
  );
  once();
  once();
  once();
  assert.equal(works.length, 1);
  works[0]!.resolve();
  await turn();
  assert.equal(works.length, 2);
  works[1]!.resolve();
  await turn();
  assert.equal(works.length, 2);
  once();
  assert.equal(works.length, 3);
});

test("what took long is followed by a rest, and what was asked meanwhile is not lost", async () => {
  const rest = Promise.withResolvers<void>();
  let count = 0;
  const once = coalesced(
    async () => {
      count++;
    },
    () => (count === 1 ? rest.promise : undefined),
  );
  once();
  await turn();
  once();
  await turn();
  assert.equal(count, 1);
  rest.resolve();
  await turn();
  assert.equal(count, 2);
});

test("what is quick needs no rest", () => {
  assert.equal(longRest(10), undefined);
});
