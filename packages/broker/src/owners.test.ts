import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "./broker.ts";
import { add, job, take } from "./testing/opened.ts";

const MINUTES_MS = 7 * 60_000;
const LEASE_MS = 60_000;

/** A log whose servers have a clock of their own, and machines that own it one after the other. */
class Owners {
  storedAt = 500_000_000;
  #log: MemoryLog | undefined;
  #broker: LocalBroker | undefined;
  clock = turningClock(5);

  /** Opens the next owner. Its clock is `aheadMs` ahead of the last owner's clock. */
  async next(aheadMs: number): Promise<LocalBroker> {
    await this.#broker?.close();
    const clock = turningClock(5, { now: this.clock.now() + aheadMs });
    this.clock = clock;
    const after = this.#log;
    const now = (): number => this.storedAt;
    this.#log = new MemoryLog(after === undefined ? { now } : { after, now });
    this.#broker = await openBroker({ log: this.#log, clock });
    return this.#broker;
  }

  async pass(ms: number): Promise<void> {
    this.storedAt += ms;
    await this.clock.advance(ms);
  }
}

for (const aheadMs of [MINUTES_MS, 0, -MINUTES_MS]) {
  test(`a lease lasts as long at an owner whose clock is ${aheadMs} ms ahead`, async () => {
    const owners = new Owners();
    const first = await owners.next(0);
    await first.setQueue("q", {});
    await add(first, job("held"));
    const [held] = await first.lease("q", { max: 1, lease: LEASE_MS });
    await owners.pass(1000);
    const second = await owners.next(aheadMs);
    await owners.pass(LEASE_MS - 2000);
    assert.deepEqual(await take(second), []);
    assert.equal(
      (await second.extend([{ lease: held!.lease, leaseMs: LEASE_MS }]))[0]?.error,
      undefined,
    );
    await second.close();
  });
}

test("a bucket is not filled by an owner whose clock is ahead", async () => {
  const owners = new Owners();
  const first = await owners.next(0);
  await first.setQueue("q", {});
  await first.setGate("api", { rate: 0.1, burst: 1 });
  for (let i = 0; i < 5; i++) await add(first, job(`${i}`, { gates: ["api"] }));
  assert.equal((await take(first, 5)).length, 1);
  const second = await owners.next(MINUTES_MS);
  await owners.pass(9000);
  assert.equal((await take(second, 5)).length, 0);
  await owners.pass(2000);
  assert.equal((await take(second, 5)).length, 1);
  await second.close();
});

test("time that the servers have counted since has passed for the next owner", async () => {
  const owners = new Owners();
  const first = await owners.next(0);
  await first.setQueue("q", {});
  await add(first, job("later", { delayMs: 3_600_000 }));
  await owners.pass(3_599_000);
  const second = await owners.next(MINUTES_MS);
  assert.equal((await take(second)).length, 0);
  await owners.pass(2000);
  assert.equal((await take(second)).length, 1);
  await second.close();
});
