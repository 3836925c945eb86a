// A program that ends while its server is away.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openBroker } from "@sluice/broker";
import { type FakeClock, SluiceHandles } from "@sluice/client";
import { connectBroker } from "@sluice/client/remote";
import { MemoryLog } from "@sluice/log";
import { turningClock, turns, unattached } from "@sluice/protocol/testing";
import { serve } from "../testing/stream-server.ts";

const TIMEOUT_MS = 1000;

async function scene(t: TestContext) {
  const broker = await openBroker({ log: new MemoryLog() });
  const served = await serve(broker);
  const port = await connectBroker(served.url);
  const clock = turningClock(3);
  const sluice = new SluiceHandles({ port, clock: unattached(clock) });
  const errors: string[] = [];
  sluice.on("error", ({ error }) => errors.push((error as { code?: string }).code ?? ""));
  t.after(async () => {
    await port.close();
    await broker.close();
  });
  return { sluice, served, clock, errors, queue: await sluice.queue<number>("q") };
}

async function isOverIn(clock: FakeClock, ms: number, closing: Promise<void>): Promise<boolean> {
  let isOver = false;
  void closing.then(() => {
    isOver = true;
  });
  await clock.advance(ms);
  return isOver;
}

test("a worker whose server is gone closes in time, and says what it does not know", async (t) => {
  const { served, clock, errors, queue } = await scene(t);
  const started = Promise.withResolvers<AbortSignal>();
  const worker = queue.work((_, { signal }) => {
    started.resolve(signal);
    return new Promise(() => {});
  });
  await queue.add(1);
  const signal = await started.promise;
  await served.close();
  assert.ok(await isOverIn(clock, TIMEOUT_MS, worker.close({ timeout: TIMEOUT_MS })));
  assert.ok(signal.aborted);
  assert.deepEqual(errors, ["TIMEOUT"]);
});

test("a loop over jobs of a server that is gone is left in time", async (t) => {
  const { served, clock, errors, queue } = await scene(t);
  const jobs = queue.consume();
  await queue.add(1);
  assert.equal((await jobs.next()).done, false);
  await served.close();
  assert.ok(await isOverIn(clock, TIMEOUT_MS, jobs.close({ timeout: TIMEOUT_MS })));
  assert.deepEqual(errors, ["TIMEOUT"]);
});

test("all is closed in time when the server is gone", async (t) => {
  const { sluice, served, clock, errors, queue } = await scene(t);
  queue.work(() => {});
  queue.consume();
  await turns(20);
  await served.close();
  assert.ok(await isOverIn(clock, TIMEOUT_MS, sluice.close({ timeout: TIMEOUT_MS })));
  assert.deepEqual(errors, ["TIMEOUT", "TIMEOUT"]);
});
