import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, SluiceError } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { BrokerAccess } from "./broker-access.ts";
import type { KeyPeers } from "./keys/key-ring.ts";
import { REACH_AGAIN_MS } from "./limits.ts";
import { memoryBroker } from "./testing/start.ts";

const PEERS: KeyPeers = {
  changed: async () => {},
  onChange: () => {},
  isFirst: async () => true,
};

test("access to a broker whose keys are late is recovering, and asks for them again", async (t) => {
  const clock = turningClock(20);
  const broker = await memoryBroker(t);
  const scan = broker.storeScan.bind(broker);
  let isAway = true;
  let asked = 0;
  const late: Broker = Object.assign(broker, {
    storeScan: async (...args: Parameters<Broker["storeScan"]>) => {
      asked++;
      const code = asked % 2 === 0 ? "TIMEOUT" : "DISCONNECTED";
      if (isAway) throw new SluiceError(code, "no one serves the partition of the keys");
      return scan(...args);
    },
  });
  const access = new BrokerAccess({ broker: late, peers: PEERS, clock }, true, undefined);
  const first = access.firstKey();
  for (let tries = 1; tries <= 100; tries++) {
    await turns(20);
    assert.equal(asked, tries);
    assert.throws(() => access.ready(), { code: "RECOVERING" });
    await clock.advance(REACH_AGAIN_MS);
  }
  assert.equal((await access.readiness()).isReady, false);
  isAway = false;
  await turns(20);
  await clock.advance(REACH_AGAIN_MS);
  const key = (await first)?.key;
  assert.ok(key !== undefined);
  assert.equal(access.verify(key).id, key.split("_")[1]);
});

test("access to a broker that is closed before its keys came gives up", async () => {
  const clock = turningClock(20);
  let code: "DISCONNECTED" | "CLOSED" = "DISCONNECTED";
  const broker = {
    storeScan: async () => {
      throw new SluiceError(code, "not now");
    },
  } as unknown as Broker;
  const access = new BrokerAccess({ broker, peers: PEERS, clock }, true, undefined);
  const first = access.firstKey();
  const refusal = assert.rejects(first, { code: "CLOSED" });
  await turns(20);
  code = "CLOSED";
  await clock.advance(REACH_AGAIN_MS);
  await refusal;
  assert.throws(() => access.ready(), { code: "CLOSED" });
});
