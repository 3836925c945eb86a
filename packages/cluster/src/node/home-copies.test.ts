import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, type GateSettings, SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { homeOfGate, homeOfStore } from "../hash.ts";
import { COPY_AGAIN_MS } from "../limits.ts";
import { HomeCopies } from "./home-copies.ts";

const COUNT = 3;
const STORE_HOME = homeOfStore("config", COUNT);

/** A key that is at home in a partition. */
function keyOf(home: number, prefix = "k"): string {
  for (let i = 0; ; i++) if (homeOfGate(`${prefix}${i}`, COUNT) === home) return `${prefix}${i}`;
}

async function scene() {
  const clock = turningClock(10);
  const open = (): Promise<Broker> => openBroker({ log: new MemoryLog(), clock });
  const brokers = await Promise.all(Array.from({ length: COUNT }, open));
  const away = new Set<number>();
  const copies = new HomeCopies({
    clock,
    count: COUNT,
    portOf: (partition) => {
      if (away.has(partition)) throw new SluiceError("DISCONNECTED", "no one serves it");
      return brokers[partition]!;
    },
    brokerOf: (partition) => brokers[partition],
  });
  const configOf = async (partition: number, key: string): Promise<GateSettings | undefined> =>
    (await brokers[partition]!.gate(key)).config;
  return { clock, brokers, away, copies, configOf };
}

test("a partition that is opened takes the limits of gates from their homes", async () => {
  const { clock, brokers, copies, configOf } = await scene();
  const [own, theirs, old, changed] = [keyOf(0), keyOf(1), keyOf(1, "old"), keyOf(2)];
  await brokers[0]!.setGate(own, { rate: 1 });
  await brokers[0]!.setGate(old, { rate: 2 });
  await brokers[0]!.setGate(changed, { rate: 3, concurrency: 3 });
  await brokers[1]!.setGate(theirs, { rate: 4 });
  // A copy says nothing of what is at home elsewhere.
  await brokers[1]!.setGate(changed, { rate: 99 });
  await brokers[2]!.setGate(changed, { rate: 5, interval: { every: 10 } });
  copies.opened(0);
  await clock.advance(2 * COPY_AGAIN_MS);
  assert.equal((await configOf(0, own))?.rate, 1);
  assert.equal((await configOf(0, theirs))?.rate, 4);
  assert.equal(await configOf(0, old), undefined, "its home has no limits for it");
  assert.deepEqual(await configOf(0, changed), await configOf(2, changed));
  copies.stop();
});

test("limits that come before their home has them are not deleted", async () => {
  const { clock, brokers, copies, configOf } = await scene();
  const key = keyOf(1);
  await brokers[0]!.setGate(key, { rate: 1 });
  copies.opened(0);
  await clock.advance(0);
  assert.equal((await configOf(0, key))?.rate, 1);
  await brokers[1]!.setGate(key, { rate: 1 });
  await clock.advance(2 * COPY_AGAIN_MS);
  assert.equal((await configOf(0, key))?.rate, 1);
  copies.stop();
});

test("a home that is away is asked until it answers, and does not block others", async () => {
  const { clock, brokers, away, copies, configOf } = await scene();
  const keys = [keyOf(1), keyOf(2)] as const;
  await brokers[1]!.setGate(keys[0], { rate: 1 });
  await brokers[2]!.setGate(keys[1], { rate: 2 });
  away.add(1);
  copies.opened(0);
  await clock.advance(20 * COPY_AGAIN_MS);
  assert.equal(await configOf(0, keys[0]), undefined);
  assert.equal((await configOf(0, keys[1]))?.rate, 2);
  away.clear();
  await clock.advance(2 * COPY_AGAIN_MS);
  assert.equal((await configOf(0, keys[0]))?.rate, 1);
  copies.stop();
});

test("the store that policies read is copied when its home is back", async () => {
  const { clock, brokers, away, copies } = await scene();
  const partition = (STORE_HOME + 1) % COUNT;
  await brokers[STORE_HOME]!.storeWrite("config", [{ key: "plan", value: { gold: 5 } }]);
  await brokers[partition]!.storeWrite("config", [{ key: "gone", value: 1 }]);
  away.add(STORE_HOME);
  copies.opened(partition);
  await clock.advance(20 * COPY_AGAIN_MS);
  away.clear();
  await clock.advance(2 * COPY_AGAIN_MS);
  const found = await brokers[partition]!.storeGet("config", ["plan", "gone"]);
  assert.deepEqual(found, [{ gold: 5 }, undefined]);
  copies.stop();
});

test("what is written while a copy is made is not overwritten with what was before", async () => {
  const { clock, brokers, copies } = await scene();
  const partition = (STORE_HOME + 1) % COUNT;
  const [home, copy] = [brokers[STORE_HOME]!, brokers[partition]!];
  await home.storeWrite("config", [{ key: "plan", value: "old" }]);
  const scan = copy.storeScan.bind(copy);
  let isFirst = true;
  copy.storeScan = async (...args) => {
    const page = await scan(...args);
    if (isFirst) {
      isFirst = false;
      for (const broker of [home, copy]) {
        await broker.storeWrite("config", [{ key: "plan", value: "new" }]);
      }
    }
    return page;
  };
  copies.opened(partition);
  await clock.advance(3 * COPY_AGAIN_MS);
  assert.deepEqual(await copy.storeGet("config", ["plan"]), ["new"]);
  copies.stop();
});
