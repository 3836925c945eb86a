import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { MemoryHeartbeats } from "../heartbeats/memory-heartbeats.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { Presence } from "./presence.ts";

class Shaky extends MemoryRegistry {
  trouble: SluiceError | undefined;

  override async update(key: string, value: string, revision: number): Promise<number> {
    if (this.trouble !== undefined) throw this.trouble;
    return super.update(key, value, revision);
  }
}

test("reports failing renewals once, and once more when they fail again", async () => {
  const registry = new Shaky();
  const told: SluiceError[] = [];
  const presence = new Presence({
    registry,
    heartbeats: new MemoryHeartbeats(),
    clock: turningClock(1),
    name: { node: "a", incarnation: "a1" },
    address: "http://a",
    version: "1",
    level: 2,
    keysRead: () => 0,
    unreached: () => [],
    onError: (error) => told.push(error),
    onSuperseded: () => assert.fail("no one else is there"),
  });
  await presence.renew();
  const { revision } = presence;
  assert.ok(revision > 0);
  for (let outage = 1; outage <= 2; outage++) {
    registry.trouble = new SluiceError("INVALID", "the value is too long");
    for (let beat = 0; beat < 3; beat++) await presence.renew();
    assert.equal(told.length, outage);
    assert.equal(presence.error?.code, "INVALID");
    registry.trouble = undefined;
    await presence.renew();
    assert.equal(presence.error, undefined);
  }
  assert.equal(told[0]?.code, "INVALID");
  assert.match(told[0]!.message, /cannot say that it lives: the value is too long/);
  assert.ok(presence.revision > revision);
});
