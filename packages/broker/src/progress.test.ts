import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, type Fact } from "@sluice/engine";
import { type FakeClock, letterQueueConfig, SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { PROGRESS_BYTES_MAX } from "./limits.ts";
import { ProgressReports } from "./progress.ts";
import { plainJson } from "./refuse.ts";

/** Two jobs that are leased, and the reports that were written. */
function opened(): { reports: ProgressReports; clock: FakeClock; engine: Engine; told: Fact[] } {
  const told: Fact[] = [];
  const clock = turningClock(5);
  const engine = new Engine({ letterQueue: letterQueueConfig, facts: told });
  engine.setQueue("q", letterQueueConfig("q"), clock.now());
  engine.addAll("q", [{}, {}], clock.now());
  engine.want("q", "w", 2, clock.now());
  engine.dispatch(clock.now());
  told.length = 0;
  return { reports: new ProgressReports(engine, clock, () => {}), clock, engine, told };
}

test("the first report is written at once, later ones once a second, the latest wins", async () => {
  const { reports, clock, engine, told } = opened();
  for (let i = 0; i < 1000; i++) {
    reports.set(1, i);
    await clock.advance(5);
  }
  await clock.advance(1000);
  assert.ok(told.length >= 5 && told.length <= 7, `${told.length} facts for 1,000 reports`);
  assert.equal(engine.queries.job(1)?.progress, 999);
  await clock.advance(1000);
  assert.equal(clock.timers, 0, "nothing is left to do");
});

test("a report that waits is shown, and written before its job ends", () => {
  const { reports, engine } = opened();
  reports.set(1, "a");
  reports.set(1, "b");
  reports.set(2, "x");
  assert.deepEqual([engine.queries.job(1)?.progress, reports.get(1)], ["a", "b"]);
  reports.flush(1);
  reports.flush(2);
  assert.deepEqual([engine.queries.job(1)?.progress, engine.queries.job(2)?.progress], ["b", "x"]);
});

test("a close writes waiting reports, and skips jobs that are gone", () => {
  const { reports, engine, told } = opened();
  for (const progress of [1, 2]) for (const job of [1, 2]) reports.set(job, progress);
  engine.deleteQueue("q", 0);
  engine.tick(10_000_000);
  reports.flushAll();
  assert.equal(told.filter(({ fact }) => fact === "progress").length, 2);
  reports.forget(1);
  assert.equal(reports.get(1), undefined);
});

test("a report is a copy of what JSON carries, within its bound", () => {
  const plain = (progress: unknown): unknown => plainJson("progress", progress, PROGRESS_BYTES_MAX);
  assert.deepEqual(plain({ a: 1, b: undefined }), { a: 1 });
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const bad of [undefined, () => 1, circle, 1n, "x".repeat(8191)]) {
    assert.throws(() => plain(bad), SluiceError);
  }
  assert.equal(plain("x".repeat(8190)), "x".repeat(8190));
});
