import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, type GateSettings, SluiceError, type StoreEntry } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryDirectory } from "../directory.ts";
import { homeOfGate, homeOfStore } from "../hash.ts";
import { PENDING_TELL_MS } from "../limits.ts";
import { ClusterRouter } from "./cluster-router.ts";

/** Partitions that are served all the time, some of which cannot be reached from here. */
function scene() {
  const clock = turningClock(5);
  const away = new Set<number>();
  const gates = [0, 1].map(() => new Map<string, GateSettings>());
  const stores = [0, 1].map(() => new Map<string, unknown>());
  const told: number[] = [];
  const ports = [0, 1].map((partition) => {
    const reached = (): void => {
      told.push(partition);
      if (away.has(partition)) throw new SluiceError("DISCONNECTED", "it cannot be reached");
    };
    return {
      gate: async (key: string) => ({ key, config: gates[partition]!.get(key), line: [] }),
      setGate: async (key: string, config: GateSettings) => {
        reached();
        gates[partition]!.set(key, config);
      },
      deleteGate: async (key: string) => {
        reached();
        gates[partition]!.delete(key);
      },
      storeGet: async (_: string, keys: string[]) => keys.map((key) => stores[partition]!.get(key)),
      storeWrite: async (_: string, entries: StoreEntry[]) => {
        reached();
        for (const { key, value } of entries) stores[partition]!.set(key, value);
      },
    };
  }) as unknown as Broker[];
  const router = new ClusterRouter({
    directory: new MemoryDirectory(2),
    partitions: { port: (partition) => ports[partition]!, close: async () => {} },
    clock,
  });
  return { clock, away, gates, stores, told, router };
}

test("a partition that missed a change of a gate gets it when it is reached again", async () => {
  const { clock, away, gates, router } = scene();
  const home = homeOfGate("smtp", 2);
  const other = 1 - home;
  await router.setGate("smtp", { rate: 1 });
  away.add(other);
  const refusal = assert.rejects(router.deleteGate("smtp"), { code: "DISCONNECTED" });
  await clock.advance(20 * PENDING_TELL_MS);
  await refusal;
  assert.equal(gates[other]!.get("smtp")?.rate, 1);
  away.clear();
  await clock.advance(PENDING_TELL_MS + 1_000);
  assert.equal(gates[other]!.has("smtp"), false);
  await router.close();
});

test("what it gets then is what the home has by then", async () => {
  const { clock, away, stores, told, router } = scene();
  const home = homeOfStore("config", 2);
  const other = 1 - home;
  away.add(other);
  for (const value of [1, 2, 3]) {
    const writing = router.storeWrite("config", [{ key: "plan", value }]);
    const refusal = assert.rejects(writing, { code: "DISCONNECTED" });
    await clock.advance(1_000);
    await refusal;
  }
  stores[home]!.set("plan", 4);
  away.clear();
  told.length = 0;
  await clock.advance(PENDING_TELL_MS + 1_000);
  assert.equal(stores[other]!.get("plan"), 4);
  assert.deepEqual(told, [other], "once");
  await clock.advance(10 * PENDING_TELL_MS);
  assert.deepEqual(told, [other], "and no more");
  await router.close();
});

test("a closed router sends nothing to partitions any more", async () => {
  const { clock, away, told, router } = scene();
  const other = 1 - homeOfStore("config", 2);
  away.add(other);
  const writing = router.storeWrite("config", [{ key: "plan", value: 1 }]);
  const refusal = assert.rejects(writing, { code: "DISCONNECTED" });
  await clock.advance(1_000);
  await refusal;
  await router.close();
  told.length = 0;
  await clock.advance(10 * PENDING_TELL_MS);
  assert.deepEqual(told, []);
});
