import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { FakeClock } from "@sluice/protocol";
import { turns } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";
import { add, job, take, text } from "./testing/opened.ts";

const HOUR_MS = 3_600_000;

/** A clock whose wall time steps when a test sets `wallAheadMs`. */
class WallClock extends FakeClock {
  wallAheadMs = 0;

  constructor() {
    super();
    this.attach({ drain: () => turns(5) });
  }

  wall(): number {
    return this.now() + this.wallAheadMs;
  }
}

async function open(clock: WallClock, after?: MemoryLog) {
  const log = new MemoryLog(after === undefined ? {} : { after });
  const broker = await openBroker({ log, clock });
  await broker.setQueue("q", {});
  return { broker, log };
}

test("a job runs at its wall time after a step of the clock, even if no call follows", async () => {
  const clock = new WallClock();
  const { broker } = await open(clock);
  await add(broker, job("on the wall", { runAt: clock.wall() + HOUR_MS }));
  await add(broker, job("delayed", { delayMs: HOUR_MS }));
  const got: string[] = [];
  await broker.consume("q", { worker: "w", credits: 9 }, (jobs) => {
    got.push(...jobs.map(({ payload }) => text(payload)));
  });
  await clock.advance(10_000);
  clock.wallAheadMs = HOUR_MS - 15_000;
  await clock.advance(4000);
  assert.deepEqual(got, []);
  await clock.advance(1500);
  assert.deepEqual(got, ["on the wall"]);
  await broker.close();
});

test("a wall that is set back holds the job back, and a deadline with it", async () => {
  const clock = new WallClock();
  const { broker } = await open(clock);
  await add(broker, job("later", { runAt: clock.wall() + 5000 }));
  const id = await add(broker, job("short", { deadline: clock.wall() + 8000 }));
  clock.wallAheadMs = -HOUR_MS;
  await clock.advance(10_000);
  assert.deepEqual(
    (await take(broker, 9)).map(({ payload }) => text(payload)),
    ["short"],
  );
  assert.equal((await broker.job(id)).state, "running");
  await clock.advance(HOUR_MS);
  assert.ok((await take(broker, 9)).some(({ payload }) => text(payload) === "later"));
  await broker.close();
});

test("a job keeps its wall time across a restart", async () => {
  const clock = new WallClock();
  const first = await open(clock);
  const runAt = clock.wall() + 2 * HOUR_MS;
  await add(first.broker, job("on the wall", { runAt }));
  clock.wallAheadMs = HOUR_MS;
  await clock.advance(2000);
  await first.broker.close();
  // A new process begins with the time on the wall.
  const next = new WallClock();
  await next.advance(clock.wall() - next.now());
  const { broker } = await open(next, first.log);
  await next.advance(runAt - next.wall() - 1);
  assert.equal((await take(broker)).length, 0);
  await next.advance(1);
  assert.equal((await take(broker)).length, 1);
  await broker.close();
});

test("a lease that a crash ends does not expire its job by the wall before the crash", async () => {
  const clock = new WallClock();
  clock.wallAheadMs = HOUR_MS;
  const { broker, log } = await open(clock);
  const id = await add(broker, job("held", { deadline: clock.wall() + 12_000 }));
  await broker.consume("q", { worker: "own", credits: 1, inProcess: true }, () => {});
  await clock.advance(100);
  assert.equal((await broker.job(id)).state, "running");
  await log.close();
  clock.wallAheadMs = 0;
  await clock.advance(30_000);
  const next = await open(clock, log);
  assert.equal((await next.broker.job(id)).state, "delayed");
  await next.broker.close();
});
