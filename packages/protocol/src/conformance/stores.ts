import { cases } from "./case.ts";
import { each, equal, paged, rejects } from "./check.ts";
import type { Scene } from "./scene.ts";

/** All pages of a scan. */
function scan(scene: Scene, options: { prefix?: string; limit?: number }) {
  return paged(options.limit, (from) => scene.broker.storeScan("s", { ...options, ...from }));
}

export const storing = cases("stores", {
  "what is written is read, key by key, and what is not is undefined": async (scene) => {
    const entries = [
      { key: "a", value: 1 },
      { key: "b", value: { deep: ["x", null, true] } },
      { key: "c", value: null },
    ];
    await scene.broker.storeWrite("s", entries);
    const read = await scene.broker.storeGet("s", ["c", "unknown", "a", "b"]);
    equal(read, [null, undefined, 1, { deep: ["x", null, true] }], "the values");
  },

  "a store without a write is empty": async (scene) => {
    equal(await scene.broker.storeGet("none", ["a"]), [undefined], "a value");
    equal(await scene.broker.storeScan("none"), { items: [] }, "a scan");
  },

  "a later write replaces, and a value of undefined deletes": async (scene) => {
    await scene.broker.storeWrite("s", [
      { key: "a", value: 1 },
      { key: "b", value: 2 },
    ]);
    await scene.broker.storeWrite("s", [
      { key: "a", value: 10 },
      { key: "b", value: undefined },
      { key: "never", value: undefined },
    ]);
    equal(await scene.broker.storeGet("s", ["a", "b"]), [10, undefined], "the values");
    equal(each(await scan(scene, {}), "key"), ["a"], "the keys");
  },

  "of two writes of a key in one call the last counts": async (scene) => {
    await scene.broker.storeWrite("s", [
      { key: "a", value: 1 },
      { key: "a", value: 2 },
    ]);
    equal(await scene.broker.storeGet("s", ["a"]), [2], "the value");
  },

  "a write is all or nothing": async (scene) => {
    const write = scene.broker.storeWrite("s", [
      { key: "good", value: 1 },
      { key: "k".repeat(1025), value: 2 },
      { key: "also good", value: 3 },
    ]);
    await rejects(write, "INVALID", "a write with one bad key");
    equal(
      await scene.broker.storeGet("s", ["good", "also good"]),
      [undefined, undefined],
      "the rest",
    );
  },

  "stores do not see each other's keys": async (scene) => {
    await scene.broker.storeWrite("s", [{ key: "a", value: 1 }]);
    await scene.broker.storeWrite("t", [{ key: "a", value: 2 }]);
    equal(await scene.broker.storeGet("s", ["a"]), [1], "the value in s");
    equal(await scene.broker.storeGet("t", ["a"]), [2], "the value in t");
  },

  "a scan is in the order of the keys, in pages": async (scene) => {
    const keys = Array.from({ length: 25 }, (_, i) => `key-${String(i).padStart(2, "0")}`);
    const entries = keys.toReversed().map((key) => ({ key, value: `of ${key}` }));
    await scene.broker.storeWrite("s", entries);
    const found = await scan(scene, { limit: 10 });
    equal(found, entries.toReversed(), "the entries of all pages");
  },

  "a scan may ask for keys that begin alike": async (scene) => {
    const keys = ["a", "a:1", "a:2", "aa", "b:1"];
    await scene.broker.storeWrite(
      "s",
      keys.map((key) => ({ key, value: 0 })),
    );
    const found = await scan(scene, { prefix: "a:", limit: 1 });
    equal(each(found, "key"), ["a:1", "a:2"], "the keys");
  },

  "a value that is changed after the write does not change the store": async (scene) => {
    const value = { list: [1] };
    await scene.broker.storeWrite("s", [{ key: "a", value }]);
    value.list.push(2);
    equal(await scene.broker.storeGet("s", ["a"]), [{ list: [1] }], "the value");
  },

  "a name that cannot be is refused": async (scene) => {
    const write = scene.broker.storeWrite("a b", [{ key: "a", value: 1 }]);
    await rejects(write, "INVALID", "a store with a space in its name");
  },
});
