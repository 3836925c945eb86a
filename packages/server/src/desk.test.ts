import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { type Broker, SluiceError } from "@sluice/protocol";
import { Desk } from "./desk.ts";
import type { KeyPeers } from "./keys/key-ring.ts";
import { REACH_AGAIN_MS } from "./limits.ts";

const PEERS: KeyPeers = {
  changed: async () => {},
  onChange: () => {},
  isFirst: async () => true,
};

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

test("a desk whose keys are late goes on asking, and is recovering meanwhile", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const broker = await openBroker({ log: new MemoryLog() });
  t.after(() => broker.close());
  const scan = broker.storeScan.bind(broker);
  let isAway = true;
  let asked = 0;
  const late: Broker = Object.assign(broker, {
    storeScan: async (...args: Parameters<Broker["storeScan"]>) => {
      asked++;
      const code = asked % 2 === 0 ? "TIMEOUT" : "DISCONNECTED";
      if (isAway) throw new SluiceError(code, "nobody serves the partition of the keys");
      return scan(...args);
    },
  });
  const desk = new Desk({ broker: late, peers: PEERS }, true, undefined);
  const first = desk.firstKey();
  for (let tries = 1; tries <= 100; tries++) {
    await turns();
    assert.equal(asked, tries);
    assert.throws(() => desk.ready(), { code: "RECOVERING" });
    t.mock.timers.tick(REACH_AGAIN_MS);
  }
  assert.equal((await desk.readiness()).isReady, false);
  isAway = false;
  await turns();
  t.mock.timers.tick(REACH_AGAIN_MS);
  const key = (await first)?.key;
  assert.ok(key !== undefined);
  assert.equal(desk.verify(key).id, key.split("_")[1]);
});

test("a desk whose broker is closed while it waits for its keys gives up", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let code: "DISCONNECTED" | "CLOSED" = "DISCONNECTED";
  const broker = {
    storeScan: async () => {
      throw new SluiceError(code, "not now");
    },
  } as unknown as Broker;
  const desk = new Desk({ broker, peers: PEERS }, true, undefined);
  const first = desk.firstKey();
  const refusal = assert.rejects(first, { code: "CLOSED" });
  await turns();
  code = "CLOSED";
  t.mock.timers.tick(REACH_AGAIN_MS);
  await refusal;
  assert.throws(() => desk.ready(), { code: "CLOSED" });
});
