import assert from "node:assert/strict";
import { test } from "node:test";
import { indexer, Rig } from "../testing/rig.ts";

test("missing indexers of a submit are dropped, and its neighbours run", async (t) => {
  const rig = await Rig.open(t);
  const missing = [null, indexer("a"), undefined] as unknown as ReturnType<typeof indexer>[];
  rig.submit({ indexers: missing });
  rig.submit({ indexers: [null] as unknown as ReturnType<typeof indexer>[] });
  rig.submit({ indexers: [indexer("b")] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses.sort(), ["a ok", "b ok"]);
  assert.equal(rig.done.length, 3);
});

test("an exec that ignores its signal keeps neither worker nor gate", async (t) => {
  const rig = await Rig.open(t, { workers: 2 });
  const abort = new AbortController();
  const late = Promise.withResolvers<void>();
  const deaf = async () => {
    await late.promise;
    throw new Error("too late to matter");
  };
  const slow = [indexer("a", { interval: 0 }), indexer("b", { interval: 0 })];
  rig.submit({ indexers: slow, exec: deaf, signal: abort.signal });
  await rig.clock.advance("1s");
  rig.submit({ indexers: [indexer("c"), indexer("a", { interval: 0 })] });
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses, []);
  abort.abort();
  await rig.clock.advance("1s");
  assert.deepEqual(rig.statuses.sort(), ["a cancelled", "a ok", "b cancelled", "c ok"]);
  late.resolve();
  await rig.clock.drain();
  assert.deepEqual(rig.errors, []);
});
