import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";
import { add, job } from "./testing/opened.ts";

/** A log that can stand still. */
class StuckLog extends MemoryLog {
  #held: PromiseWithResolvers<void> | undefined;

  hold(): void {
    this.#held = Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  override async append(facts: Uint8Array): Promise<number> {
    await this.#held?.promise;
    return super.append(facts);
  }
}

test("what a gate lets through while the log stands still does not go out at once", async () => {
  const clock = turningClock(5);
  const log = new StuckLog();
  const broker = await openBroker({ log, clock });
  await broker.setQueue("q", {});
  await broker.setGate("api", { rate: 20, burst: 20 });
  await add(broker, ...Array.from({ length: 300 }, (_, i) => job(`${i}`, { gates: ["api"] })));
  let delivered = 0;
  await broker.consume("q", { worker: "w", credits: 300 }, (jobs) => {
    delivered += jobs.length;
  });
  await clock.advance(1000);
  assert.ok(delivered >= 20 && delivered <= 41, `${delivered}`);
  const before = delivered;
  log.hold();
  await clock.advance(5000);
  assert.ok(delivered - before <= 1, "nothing is handed out that is not in the log");
  log.release();
  await clock.advance(1000);
  // What was on its way, a full bucket and a second.
  const within = delivered - before;
  assert.ok(within <= 20 + 20 + 2, `${within} within a second`);
  assert.ok(within >= 30, `${within}: it goes on`);
  await broker.close();
});
