import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { FakeClock, LeasedJob } from "@sluice/protocol";
import type { LocalBroker } from "./broker.ts";
import { HeldLog } from "./testing/held-log.ts";
import { add, job, open } from "./testing/opened.ts";

test("jobs that a gate admits while the log stalls are not delivered in one burst", async () => {
  const log = new HeldLog();
  const { broker, clock } = await open({}, { log });
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
  log.letGo();
  await clock.advance(1000);
  // What was on its way, a full bucket and a second.
  const within = delivered - before;
  assert.ok(within <= 20 + 20 + 2, `${within} within a second`);
  assert.ok(within >= 30, `${within}: it continues`);
});

test("a lease that expires while the log stalls is given back, not delivered", async () => {
  const log = new HeldLog();
  const { broker, clock } = await open({ lease: 8_000, retry: { attempts: 1 } }, { log });
  await broker.setGate("two", { concurrency: 2 });
  await add(broker, ...Array.from({ length: 6 }, (_, i) => job(`${i}`, { gates: ["two"] })));
  log.hold();
  const held: LeasedJob[] = [];
  await broker.consume("q", { worker: "w", credits: 6 }, (jobs) => {
    held.push(...jobs);
  });
  for (let i = 0; i < 18; i++) {
    await clock.advance(500);
    await broker.queue("q");
  }
  assert.deepEqual(held, []);
  log.letGo();
  await clock.advance(100);
  assert.equal(held.length, 2, "as many as the gate lets through");
  for (const { expiresIn, attempt } of held) {
    assert.ok(expiresIn > 7_800, `${expiresIn} ms of 8000`);
    assert.equal(attempt, 0, "no worker has tried it yet");
  }
  assert.deepEqual(await broker.ack(held.map(({ lease }) => ({ lease }))), [
    { ok: true },
    { ok: true },
  ]);
});

describe("a poll that is given up while its job is on its way", () => {
  const poll = { max: 1, wait: 500, worker: "w" };

  /** The log stalls while it holds the job of an aborted poll. */
  async function givenUp(): Promise<{ broker: LocalBroker; clock: FakeClock; log: HeldLog }> {
    const log = new HeldLog();
    const { broker, clock } = await open({ lease: 8_000 }, { log });
    await add(broker, job("a"));
    log.hold();
    const over = new AbortController();
    const given = broker.lease("q", { ...poll, signal: over.signal });
    over.abort();
    await assert.rejects(given, { code: "ABORTED" });
    await clock.advance(7_000);
    return { broker, clock, log };
  }

  test("leaves it to the next of that worker, with a lease of its own", async () => {
    const { broker, clock, log } = await givenUp();
    const next = broker.lease("q", poll);
    log.letGo();
    await clock.advance(100);
    const [given] = await next;
    assert.equal(given?.deliveries, 2);
    assert.ok(given.expiresIn > 7_800, `${given.expiresIn} ms of 8000`);
  });

  test("takes no part in what the next of that worker may take and waits for", async () => {
    const { broker, clock, log } = await givenUp();
    const { items } = await broker.jobs("q");
    const cancelled = broker.cancel(items.map(({ id }) => id));
    const next = broker.lease("q", poll);
    log.letGo();
    await clock.advance(600);
    await cancelled;
    const waits = new Promise((resolve) => setImmediate(resolve, "still waits"));
    assert.deepEqual(await Promise.race([next, waits]), []);
  });
});
