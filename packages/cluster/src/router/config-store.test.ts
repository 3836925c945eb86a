import assert from "node:assert/strict";
import { test } from "node:test";
import type { FakeClock } from "@sluice/client";
import { type Broker, SluiceError, type StoreEntry } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { homeOfStore } from "../hash.ts";
import { REPEATS_MAX } from "../limits.ts";
import { ClusterRouter } from "./cluster-router.ts";

const HOME = homeOfStore("config", 2);

/** A router of two partitions, where `copy` is what the one does that is not the home. */
function routerTo(
  copy: (entries: readonly StoreEntry[]) => Promise<void>,
  home: Map<string, unknown> = new Map(),
): { router: ClusterRouter; clock: FakeClock } {
  const clock = turningClock(5);
  const ports = {
    home: {
      storeWrite: async (_: string, entries: readonly StoreEntry[]) => {
        for (const { key, value } of entries) home.set(key, value);
      },
      storeGet: async (_: string, keys: readonly string[]) => keys.map((key) => home.get(key)),
    },
    copy: { storeWrite: (_: string, entries: readonly StoreEntry[]) => copy(entries) },
  };
  const router = new ClusterRouter({
    directory: new MemoryDirectory(2),
    partitions: {
      port: (partition) => ports[partition === HOME ? "home" : "copy"] as unknown as Broker,
      close: async () => {},
    },
    clock,
  });
  return { router, clock };
}

test("a copy that is refused at once again and again is given up, and time continues", async () => {
  let calls = 0;
  const { router, clock } = routerTo(() => {
    calls++;
    return Promise.reject(new SluiceError("DISCONNECTED", "no one serves it"));
  });
  const writing = router.storeWrite("config", [{ key: "plan", value: 1 }]);
  const refusal = assert.rejects(writing, { code: "DISCONNECTED" });
  await clock.advance(1_000);
  await refusal;
  assert.equal(calls, REPEATS_MAX);
  assert.deepEqual(await router.storeGet("config", ["plan"]), [1], "its home has it all the same");
});

test("a copy that was cut off once is made again", async () => {
  const copies: unknown[] = [];
  const { router, clock } = routerTo(async (entries) => {
    copies.push(entries[0]?.value);
    if (copies.length === 1) throw new SluiceError("DISCONNECTED", "it moves");
  });
  const writing = router.storeWrite("config", [{ key: "plan", value: 1 }]);
  await clock.advance(1_000);
  await writing;
  assert.deepEqual(copies, [1, 1]);
});

test("a copy of what was overtaken at home is followed by what overtook it", async () => {
  const home = new Map<string, unknown>();
  const copies: unknown[] = [];
  const { router, clock } = routerTo(async (entries) => {
    copies.push(entries[0]?.value);
    // Another node writes while the first copy is on its way.
    if (copies.length === 1) home.set("plan", 2);
  }, home);
  const writing = router.storeWrite("config", [{ key: "plan", value: 1 }]);
  await clock.advance(10);
  await writing;
  assert.deepEqual(copies, [1, 2]);
});
