import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { LEASE_MS } from "../limits.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { RegistryWatchdog } from "./registry-watchdog.ts";

const TICK_MS = 250;

/** Counts the watches that are open and those that were ever asked for. */
class WatchedRegistry extends MemoryRegistry {
  asked = 0;
  open = 0;
  isAway = false;

  override async watch(): Promise<() => void> {
    this.asked++;
    if (this.isAway) throw new SluiceError("DISCONNECTED", "a test");
    this.open++;
    return () => void this.open--;
  }
}

async function stage() {
  const registry = new WatchedRegistry();
  const clock = turningClock(1);
  const hearing = new RegistryWatchdog({
    ...{ registry, clock, leaseMs: LEASE_MS, keys: ["node.a"], onEntry: () => {} },
  });
  await hearing.start();
  let written = 1;
  /** A beat at every second tick goes through, and comes back or not. */
  const run = async (ms: number, heard: () => number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += TICK_MS) {
      await clock.advance(TICK_MS);
      if (passed % (2 * TICK_MS) === 0) written++;
      hearing.look(written, heard());
    }
  };
  return { registry, clock, hearing, run, written: () => written };
}

test("as long as what is written comes back there is one watch", async () => {
  const { registry, run, written } = await stage();
  await run(60_000, () => written());
  await run(60_000, () => written() - 1);
  assert.deepEqual([registry.asked, registry.open], [1, 1]);
});

test("when it does not there is another one within a lease, in place of the first", async () => {
  const { registry, run } = await stage();
  await run(LEASE_MS, () => 1);
  assert.deepEqual([registry.asked, registry.open], [2, 1]);
});

test("watches that do not help are opened more and more seldom", async () => {
  const { registry, run, written } = await stage();
  await run(120_000, () => 1);
  assert.ok(registry.asked >= 6 && registry.asked <= 9, `${registry.asked} watches`);
  assert.equal(registry.open, 1);
  await run(5_000, () => written());
  const { asked } = registry;
  const heard = written();
  await run(LEASE_MS, () => heard);
  assert.equal(registry.asked, asked + 1, "after a time in which all went well it is soon again");
});

test("a watch that cannot be opened is tried again soon", async () => {
  const { registry, run } = await stage();
  registry.isAway = true;
  await run(30_000, () => 1);
  assert.ok(registry.asked > 10, `${registry.asked} watches`);
  registry.isAway = false;
  await run(LEASE_MS, () => 1);
  assert.equal(registry.open, 1);
});

test("nothing is left open by one that is stopped while it opens another", async () => {
  const { registry, clock, hearing } = await stage();
  hearing.look(2, 1);
  await clock.advance(LEASE_MS);
  hearing.look(2, 1);
  hearing.stop();
  await turns(2);
  assert.deepEqual([registry.asked, registry.open], [2, 0]);
});
