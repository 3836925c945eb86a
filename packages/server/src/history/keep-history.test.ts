import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openBroker } from "@sluice/broker";
import { FakeClock } from "@sluice/client";
import { MemoryLog } from "@sluice/log";
import { HISTORY_EVERY_MS } from "../limits.ts";
import { keepHistory } from "./keep-history.ts";

test("queues are sampled at intervals of the clock until the server closes", async (t) => {
  const clock = new FakeClock();
  clock.attach({ drain: () => setImmediate() });
  const broker = await openBroker({ log: new MemoryLog(), clock });
  t.after(() => broker.close());
  await broker.setQueue("q", {});
  const closing = new AbortController();
  const history = keepHistory(() => broker, closing.signal, clock);
  const begin = clock.now();
  await clock.advance(3 * HISTORY_EVERY_MS + 1);
  const steps = [1, 2, 3].map((step) => begin + step * HISTORY_EVERY_MS);
  assert.deepEqual(history.of("q").times, steps);
  closing.abort();
  await clock.advance(10 * HISTORY_EVERY_MS);
  assert.deepEqual(history.of("q").times, steps);
});
