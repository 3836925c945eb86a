import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { FakeClock, LeasedJob } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "./broker.ts";
import { add, job } from "./testing/opened.ts";

/** A broker whose process can end without a word. */
async function open(): Promise<{ clock: FakeClock; first: LocalBroker; crash: Crash }> {
  const clock = turningClock(5);
  let log = new MemoryLog();
  const first = await openBroker({ log, clock });
  await first.setQueue("q", { lease: 60_000, retry: { attempts: 3, min: 1000, jitter: 0 } });
  const crash = async (): Promise<LocalBroker> => {
    await log.close();
    log = new MemoryLog({ after: log });
    return openBroker({ log, clock });
  };
  return { clock, first, crash };
}

type Crash = () => Promise<LocalBroker>;

async function hold(broker: LocalBroker, worker: string, inProcess: boolean): Promise<LeasedJob> {
  const { promise, resolve } = Promise.withResolvers<LeasedJob>();
  const options = { worker, credits: 1, inProcess };
  await broker.consume("q", options, ([leased]) => resolve(leased!));
  return promise;
}

test("a crash returns the jobs of in-process workers at once and counts an attempt", async () => {
  const { clock, first, crash } = await open();
  const id = await add(first, job("a"));
  const held = await hold(first, "own", true);
  const second = await crash();
  await turns(5);
  const info = await second.job(id);
  assert.deepEqual([info.state, info.attempt], ["delayed", 1]);
  const [late] = await second.ack([held]);
  assert.equal(late!.error?.code, "LEASE_LOST");
  await clock.advance(1000);
  assert.equal((await second.lease("q", { max: 1 })).length, 1);
  await second.close();
});

test("after a crash a worker elsewhere and a poll keep their leases", async () => {
  const { first, crash } = await open();
  await first.add("q", [job("a"), job("b")]);
  const remote = await hold(first, "elsewhere", false);
  const [polled] = await first.lease("q", { max: 1 });
  const second = await crash();
  await turns(5);
  assert.equal((await second.lease("q", { max: 2 })).length, 0);
  const outcomes = await second.ack([remote, polled!]);
  assert.deepEqual(outcomes, [{ ok: true }, { ok: true }]);
  await second.close();
});

test("a cleaned log still tells whose a lease is", async () => {
  const clock = turningClock(5);
  const options = { clock, segmentBytes: 16 * 1024 };
  const log = new MemoryLog();
  const first = await openBroker({ log, ...options });
  await first.setQueue("q", { lease: 3_600_000 });
  const id = await add(first, job("a"));
  await hold(first, "own", true);
  const [begin] = log.spans();
  await first.setQueue("churn", { results: { jobs: 0 } });
  for (let round = 0; round < 100; round++) {
    await first.add(
      "churn",
      Array.from({ length: 5 }, () => job("x".repeat(500))),
    );
    const taken = await first.lease("churn", { max: 5 });
    await first.ack(taken);
  }
  assert.ok(log.spans()[0]!.first > begin!.first, "the log was never cleaned");
  await log.close();
  const second = await openBroker({ log: new MemoryLog({ after: log }), ...options });
  await turns(5);
  assert.equal((await second.job(id)).attempt, 1);
  await second.close();
});
