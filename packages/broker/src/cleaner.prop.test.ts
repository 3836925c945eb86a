import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog, type Position } from "@sluice/log";
import { turningClock, turns } from "@sluice/protocol/testing";
import fc from "fast-check";
import { type LocalBroker, openBroker } from "./broker.ts";
import { idOfAdded, job } from "./testing/opened.ts";

const SEGMENT_BYTES = 512 * 1024;
const PAYLOAD = "x".repeat(500);
const BATCH = 20;

/** A log that looks at its own size after every append. */
class WatchedLog extends MemoryLog {
  onAppend: () => void = () => {};

  override append(facts: Uint8Array): Promise<Position> {
    const appended = super.append(facts);
    this.onAppend();
    return appended;
  }
}

interface Watched {
  broker: LocalBroker;
  /** The most that the log has held beyond twice the live data, in segments. */
  worst: () => number;
}

/** The log is opened with spans far too large: the broker itself sees to their size. */
async function openWatched(segmentBytes = SEGMENT_BYTES): Promise<Watched> {
  const log = new WatchedLog({ segmentBytes: 8 * segmentBytes });
  const clock = turningClock(5);
  const broker = await openBroker({ log, clock, segmentBytes });
  let worstBytes = 0;
  log.onAppend = () => {
    const { liveBytes } = broker.sizes();
    worstBytes = Math.max(worstBytes, log.sizeBytes - 2 * liveBytes);
  };
  await broker.setQueue("standing", { paused: true });
  await broker.setQueue("churn", { results: { jobs: 0 } });
  return { broker, worst: () => worstBytes / segmentBytes };
}

const jobs = (count: number): ReturnType<typeof job>[] =>
  Array.from({ length: count }, () => job(PAYLOAD));

async function addStanding(broker: LocalBroker, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const answers = await broker.add("standing", jobs(BATCH));
    ids.push(...answers.map((answer) => idOfAdded([answer])));
  }
  return ids;
}

async function churn(broker: LocalBroker): Promise<void> {
  await broker.add("churn", jobs(BATCH));
  const taken = await broker.lease("churn", { max: BATCH });
  await broker.ack(taken.map(({ lease }) => ({ lease })));
}

for (const standing of [0, 200, 1000, 6000]) {
  test(`beside ${standing} standing jobs the log is never above its bound`, async () => {
    const { broker, worst } = await openWatched();
    await addStanding(broker, standing);
    for (let round = 0; round < 800; round++) await churn(broker);
    assert.ok(worst() <= 1, `${worst()} segments above twice the live data`);
    await broker.close();
  });
}

test("many concurrent adds wait for the cleaner before the bound breaks", async () => {
  // What ends in one commit owes twice its size at once: it must fit into the quarter that is left.
  const { broker, worst } = await openWatched(2 * SEGMENT_BYTES);
  await addStanding(broker, 3000);
  const loop = async (): Promise<void> => {
    for (let round = 0; round < 200; round++) await churn(broker);
  };
  await Promise.all([loop(), loop(), loop(), loop()]);
  assert.ok(worst() <= 1, `${worst()} segments above twice the live data`);
  await broker.close();
});

test("whichever of the standing jobs go and are followed by others, the bound holds", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({ from: fc.double({ min: 0, max: 1, noNaN: true }), rounds: fc.nat(20) }),
        {
          minLength: 30,
          maxLength: 60,
        },
      ),
      async (steps) => {
        const { broker, worst } = await openWatched();
        const ids = await addStanding(broker, 2000);
        for (const { from, rounds } of steps) {
          // Neighbours go together: that makes stretches that are dense and others that are empty.
          const gone = ids.splice(Math.floor(from * (ids.length - BATCH)), BATCH);
          ids.push(...(await addStanding(broker, gone.length)));
          await broker.cancel(gone);
          for (let round = 0; round < rounds; round++) await churn(broker);
        }
        await broker.close();
        assert.ok(worst() <= 1, `${worst()} segments above twice the live data`);
      },
    ),
    { numRuns: 8 },
  ));

test("when nearly all jobs end at once, adds continue and the log shrinks", async () => {
  const { broker } = await openWatched();
  const ids = await addStanding(broker, 6000);
  const gone = ids.filter((_, index) => index % 10 !== 0);
  for (let i = 0; i < gone.length; i += 1000) await broker.cancel(gone.slice(i, i + 1000));
  for (let round = 0; round < 200; round++) await churn(broker);
  const { logBytes, liveBytes } = broker.sizes();
  assert.ok(logBytes <= 2 * liveBytes + SEGMENT_BYTES, `${logBytes} bytes, ${liveBytes} live`);
  await broker.close();
});

test("beside one job nearly as large as a segment the cleaner comes to rest", async () => {
  const segmentBytes = 16 * 1024;
  for (let sizeBytes = 6_000; sizeBytes <= 16_000; sizeBytes += 500) {
    const log = new WatchedLog({ segmentBytes: 8 * segmentBytes });
    const broker = await openBroker({ log, clock: turningClock(5), segmentBytes });
    await broker.setQueue("standing", { paused: true });
    await broker.setQueue("churn", { results: { jobs: 0 } });
    await broker.add("standing", [job("x".repeat(sizeBytes))]);
    for (let round = 0; round < 20; round++) await churn(broker);
    await idle(100);
    let appends = 0;
    log.onAppend = () => appends++;
    await idle(20);
    assert.equal(appends, 0, `a job of ${sizeBytes} bytes is moved again and again`);
    await broker.close();
  }
});

/** The cleaner works between turns. */
async function idle(times: number): Promise<void> {
  await turns(5 * times);
}
