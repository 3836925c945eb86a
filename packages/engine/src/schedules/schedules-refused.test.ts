import assert from "node:assert/strict";
import { test } from "node:test";
import { rebuiltSchedules, ScheduledEngine } from "../testing/scheduled-engine.ts";

function opened(change: Parameters<ScheduledEngine["setSchedule"]>[1] = {}): ScheduledEngine {
  const engine = new ScheduledEngine();
  engine.setQueue("q", {}, 0);
  engine.setSchedule("q/s", change, 0);
  return engine;
}

/** A job that costs more than its gate can ever have: it is refused, without a time to retry. */
const refused = { gates: ["tokens"], cost: 9 };

test("a job that is refused without a time is tried again after a second", () => {
  const engine = opened({ periodMs: 10_000, spec: refused });
  engine.setGate("tokens", { rate: 1, burst: 5 }, 0);
  engine.fireAll(10_000);
  assert.deepEqual(engine.outcomes("q/s"), []);
  assert.equal(engine.nextWake(10_000), 11_000);
  engine.setGate("tokens", { rate: 1, burst: 10 }, 10_500);
  engine.fireAll(11_000);
  assert.deepEqual(engine.outcomes("q/s"), ["10000 added"]);
});

test("the last tick of a plan is tried again until its queue takes it", () => {
  const engine = opened();
  engine.setGate("tokens", { rate: 1, burst: 5 }, 0);
  const ticks = [{ tick: 1000, due: 1000, spec: refused }];
  engine.schedules.takeDue(1000, 1);
  engine.schedules.fire("q/s", { ticks, lateBefore: 0 }, 1000);
  assert.equal(engine.nextWake(1000), 2000);
  engine.setGate("tokens", { rate: 1, burst: 10 }, 1500);
  engine.schedules.takeDue(2000, 1);
  engine.schedules.fire("q/s", { ticks, lateBefore: 0 }, 2000);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added"]);
  assert.equal(engine.schedules.get("q/s")?.next, undefined);
});

test("a held tick that is refused without a time is tried again after a second", () => {
  const engine = opened({ overlap: "wait", periodMs: 10_000, spec: refused });
  engine.setGate("tokens", { rate: 1, burst: 10 }, 0);
  engine.fireAll(10_000);
  engine.fireAll(20_000);
  const [run] = engine.lease("q", 1, 20_000);
  engine.setGate("tokens", { rate: 1, burst: 5 }, 20_000);
  engine.ack(run!.id, run!.lease, 21_000);
  engine.fireAll(21_000);
  assert.equal(engine.outcomes("q/s").at(-1), "20000 held");
  assert.equal(engine.nextWake(21_000), 22_000);
  engine.setGate("tokens", { rate: 1, burst: 10 }, 21_500);
  engine.fireAll(22_000);
  assert.equal(engine.outcomes("q/s").at(-1), "20000 added");
});

test("a run that ends after its schedule was deleted ends like any job", () => {
  const engine = opened();
  engine.fireAll(1000);
  const [run] = engine.lease("q", 1, 1000);
  engine.schedules.delete("q/s", 1100);
  engine.ack(run!.id, run!.lease, 1200);
  assert.equal(engine.queries.job(run!.id)?.state, "finished");
  engine.setSchedule("q/s", {}, 1300);
  assert.equal(engine.schedules.get("q/s")?.running, 0);
});

test("a run that has ended is no run of its schedule after a restart", () => {
  const engine = opened();
  engine.fireAll(1000);
  const [run] = engine.lease("q", 1, 1000);
  engine.ack(run!.id, run!.lease, 1200);
  const again = rebuiltSchedules([...engine.snapshot()]);
  assert.equal(again.schedules.get("q/s")?.running, 0);
  assert.deepEqual(again.queries.job(run!.id)?.schedule, engine.queries.job(run!.id)?.schedule);
});

test("the deletion of a schedule that a shortened log does not know changes nothing", () => {
  const again = rebuiltSchedules([{ at: 5, fact: "schedule-deleted", key: "q/s" }]);
  assert.equal(again.schedules.size, 0);
});
