import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { HISTORY_RANGES, HISTORY_STORED_QUEUES_MAX } from "../limits.ts";
import { keepHistory } from "./keep-history.ts";
import { StoredHistory } from "./stored-history.ts";

const MINUTE_MS = 60_000;
const PAYLOAD = Buffer.from("1");

test("the longer ranges are there after a restart of the server, and go on", async (t) => {
  const clock = turningClock(20);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  t.after(() => broker.close());
  await broker.setQueue("q", {});
  const first = new AbortController();
  const before = keepHistory(() => broker, clock, first.signal);
  await clock.advance(2 * MINUTE_MS);
  await broker.add("q", [{ payload: PAYLOAD }, { payload: PAYLOAD }]);
  await clock.advance(3 * MINUTE_MS);
  const told = before.of("q", "6h");
  assert.deepEqual(new Set(told.series.waiting), new Set([0, 2]));
  assert.ok(told.series.in.some((rate) => rate !== null && rate > 0));
  first.abort();
  await clock.advance(4 * MINUTE_MS);
  const second = new AbortController();
  const after = keepHistory(() => broker, clock, second.signal);
  t.after(() => second.abort());
  await clock.advance(2 * MINUTE_MS);
  const { times, series, every } = after.of("q", "6h");
  assert.equal(every, MINUTE_MS);
  const busy = told.times.filter((_, i) => told.series.waiting[i]! > 0);
  const known = times.filter((_, i) => series.waiting[i] === 2);
  assert.deepEqual(known.slice(0, busy.length), busy, "what was written is there");
  assert.ok(known.length > busy.length, "and new moments follow");
  assert.ok(
    series.in.slice(known.length - 1).every((rate) => rate === 0),
    "what came before the restart is no rate after it",
  );
  assert.deepEqual(after.of("q").times.length, 24, "half an hour is since the start");
});

test("moments older than their range are forgotten, also after a long night", async (t) => {
  const clock = turningClock(20);
  const broker = await openBroker({ log: new MemoryLog(), clock });
  t.after(() => broker.close());
  const { everyMs, points } = HISTORY_RANGES["24h"];
  const count = async (): Promise<number> =>
    (await broker.storeScan("sluice:history", { limit: 1000 })).items.length;
  const history = new StoredHistory("24h", { everyMs, points: 3 });
  const start = Math.ceil(clock.now() / everyMs) * everyMs;
  for (let i = 0; i < 6; i++) await history.note(broker, start + i * everyMs, [], []);
  assert.equal(await count(), 3);
  const late = new StoredHistory("24h", { everyMs, points: 3 });
  await late.note(broker, start + 2 * points * everyMs, [], []);
  assert.equal(await count(), 1);
});

test("of many queues a moment has the busiest", async (t) => {
  const broker = await openBroker({ log: new MemoryLog() });
  t.after(() => broker.close());
  const count = HISTORY_STORED_QUEUES_MAX + 20;
  for (let i = 0; i < count; i++) {
    await broker.setQueue(`q${i}`, {});
    await broker.add(
      `q${i}`,
      Array.from({ length: 1 + (i % 7) }, () => ({ payload: PAYLOAD })),
    );
  }
  await broker.setQueue("idle", {});
  const { items } = await broker.queues({ limit: 1000 });
  const history = new StoredHistory("6h", HISTORY_RANGES["6h"]);
  await history.note(broker, MINUTE_MS, items, []);
  const [stored] = (await broker.storeScan("sluice:history")).items;
  const moment = stored!.value as Record<string, number[]>;
  assert.equal(Object.keys(moment).length, HISTORY_STORED_QUEUES_MAX);
  assert.equal(moment.idle, undefined);
});
