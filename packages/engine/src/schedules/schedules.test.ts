import assert from "node:assert/strict";
import { test } from "node:test";
import { rebuiltSchedules, ScheduledEngine } from "../testing/scheduled-engine.ts";

function opened(change: Parameters<ScheduledEngine["setSchedule"]>[1] = {}): ScheduledEngine {
  const engine = new ScheduledEngine();
  engine.setQueue("q", {}, 0);
  engine.setSchedule("q/s", change, 0);
  return engine;
}

function finish(engine: ScheduledEngine, now: number): void {
  for (const { id, lease } of engine.lease("q", 100, now)) engine.ack(id, lease, now);
}

/** State that must be the same after a restart. */
function stateOf(engine: ScheduledEngine): unknown {
  return JSON.parse(JSON.stringify([...engine.checkpoint()].flat()));
}

test("a tick adds one job, and the engine wakes for it", () => {
  const engine = opened();
  assert.equal(engine.nextWake(0), 1000);
  engine.fireAll(999);
  assert.deepEqual(engine.outcomes("q/s"), []);
  engine.fireAll(1000);
  engine.fireAll(1000);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added"]);
  const [job] = engine.lease("q", 5, 1000);
  assert.deepEqual(engine.queries.job(job!.id)?.schedule, { key: "q/s", tick: 1000 });
  assert.equal(engine.schedules.get("q/s")?.running, 1);
});

test("a tick while the last run has not ended is skipped", () => {
  const engine = opened();
  engine.fireAll(1000);
  engine.fireAll(2000);
  finish(engine, 2500);
  engine.fireAll(3000);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 overlap", "3000 added"]);
});

test("overlap allow adds beside a run", () => {
  const engine = opened({ overlap: "allow" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  assert.equal(engine.schedules.get("q/s")?.running, 2);
  finish(engine, 2000);
  assert.equal(engine.schedules.get("q/s")?.running, 0);
});

test("overlap wait holds one tick until the run has ended, and skips the next", () => {
  const engine = opened({ overlap: "wait" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  engine.fireAll(3000);
  assert.equal(engine.nextWake(3000), 4000);
  finish(engine, 3200);
  assert.equal(engine.nextWake(3200), 3200);
  engine.fireAll(3200);
  assert.deepEqual(engine.outcomes("q/s"), [
    "1000 added",
    "2000 held",
    "3000 overlap",
    "2000 added",
  ]);
  assert.deepEqual(stateOf(rebuiltSchedules(engine.facts)), stateOf(engine));
});

test("a held tick waits while the schedule is paused, and is added after the resume", () => {
  const engine = opened({ overlap: "wait" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  assert.equal(engine.schedules.pause("q/s", 2100), true);
  finish(engine, 2200);
  engine.fireAll(2300);
  assert.equal(engine.outcomes("q/s").at(-1), "2000 held");
  engine.schedules.resume("q/s", 2400);
  engine.fireAll(2400);
  assert.equal(engine.outcomes("q/s").at(-1), "2000 added");
});

test("ticks that nothing saw are caught up as the schedule says", () => {
  const outcomes = (catchUp: "none" | "one" | "all"): string[] => {
    const engine = opened({ catchUp, overlap: "allow", catchUpWindowMs: 2000 });
    engine.lateBefore = 4500;
    engine.fireAll(4500);
    engine.fireAll(5000);
    return engine.outcomes("q/s");
  };
  assert.deepEqual(outcomes("none"), [
    ...["1000 missed", "2000 missed", "3000 missed", "4000 missed"],
    "5000 added",
  ]);
  assert.deepEqual(outcomes("one"), [
    ...["1000 missed", "2000 missed", "3000 missed", "4000 added"],
    "5000 added",
  ]);
  assert.deepEqual(outcomes("all"), [
    ...["1000 too-old", "2000 too-old", "3000 added", "4000 added"],
    "5000 added",
  ]);
});

test("more missed ticks than can be listed are one fact with its beginning", () => {
  for (const [catchUp, outcome] of [
    ["one", "missed"],
    ["all", "too-many"],
  ] as const) {
    const engine = opened({ catchUp, overlap: "allow" });
    engine.lateBefore = 50_500;
    engine.fireAll(50_500);
    const first = engine.facts.find(({ fact }) => fact === "ticked");
    assert.partialDeepStrictEqual(first, { tick: 30_000, after: 0, outcome, next: 31_000 });
    assert.equal(engine.outcomes("q/s").length, 21);
  }
});

test("ticks that pass while the engine is busy are all decided as if on time", () => {
  const engine = opened({ overlap: "allow", catchUp: "none" });
  engine.fireAll(3500);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 added", "3000 added"]);
});

test("a paused schedule skips each tick until it is resumed", () => {
  const engine = opened();
  assert.equal(engine.schedules.pause("q/s", 0), true);
  assert.equal(engine.schedules.pause("q/s", 0), false);
  engine.lateBefore = 40_500;
  engine.fireAll(40_500);
  assert.equal(
    engine.outcomes("q/s").every((outcome) => outcome.endsWith("paused")),
    true,
  );
  engine.schedules.resume("q/s", 40_600);
  engine.fireAll(41_000);
  assert.equal(engine.outcomes("q/s").at(-1), "41000 added");
});

test("a refused job is tried again until the next tick, which skips it by its reason", () => {
  const engine = opened({ periodMs: 60_000 });
  engine.setQueue("q", { capacity: { jobs: 1 } }, 0);
  engine.add("q", {}, 0);
  engine.fireAll(60_000);
  assert.deepEqual(engine.outcomes("q/s"), []);
  assert.ok(engine.nextWake(60_000) > 60_000 && engine.nextWake(60_000) < 120_000);
  engine.fireAll(119_999);
  engine.fireAll(120_000);
  assert.deepEqual(engine.outcomes("q/s"), ["60000 refused"]);
  const told = engine.facts.find(({ fact }) => fact === "ticked");
  assert.match((told as { error: string }).error, /full/);
  finish(engine, 120_500);
  engine.fireAll(engine.nextWake(120_500));
  assert.equal(engine.outcomes("q/s").at(-1), "120000 added");
});

test("a held tick whose job is refused gives way to the next tick", () => {
  const engine = opened({ overlap: "wait" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  finish(engine, 2100);
  engine.setQueue("q", { capacity: { jobs: 1 } }, 2100);
  engine.add("q", {}, 2100);
  engine.fireAll(2100);
  assert.equal(engine.outcomes("q/s").at(-1), "2000 held");
  assert.ok(engine.nextWake(2100) > 2100);
  engine.fireAll(3200);
  assert.equal(engine.outcomes("q/s").at(-1), "2000 refused");
});

test("skips a tick whose job is dropped or a duplicate, with that reason", () => {
  const engine = opened({ spec: { dedupe: { key: "k", mode: "pending" } }, overlap: "allow" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  engine.setQueue("q", { capacity: { jobs: 1 }, onFull: "drop" }, 2000);
  engine.setSchedule("q/s", { overlap: "allow" }, 2000);
  engine.fireAll(3000);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 duplicate", "3000 dropped"]);
});

test("a limit ends the schedule, and a higher limit lets it continue", () => {
  const engine = opened({ overlap: "allow", limit: 2 });
  engine.fireAll(3500);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 added"]);
  assert.equal(engine.nextWake(3500), Number.POSITIVE_INFINITY);
  engine.setSchedule("q/s", { overlap: "allow", limit: 2 }, 3500);
  assert.equal(engine.nextWake(3500), Number.POSITIVE_INFINITY);
  engine.setSchedule("q/s", { overlap: "allow", limit: 3 }, 3500);
  engine.fireAll(9000);
  assert.equal(engine.schedules.get("q/s")?.made, 3);
});

test("a dead run is the last outcome and ends nothing; pauseOnFailure pauses", () => {
  for (const pauseOnFailure of [false, true]) {
    const engine = opened({ pauseOnFailure, spec: { attempts: 1 } });
    engine.fireAll(1000);
    const [job] = engine.lease("q", 1, 1000);
    engine.nack(job!.id, job!.lease, 1500, { error: "boom" });
    const { lastRun, pausedBy } = engine.schedules.get("q/s")!;
    assert.deepEqual(lastRun, { job: job!.id, at: 1500, ending: "dead", error: "boom" });
    assert.equal(pausedBy, pauseOnFailure ? "failure" : "");
    engine.fireAll(2000);
    assert.equal(engine.outcomes("q/s").at(-1), pauseOnFailure ? "2000 paused" : "2000 added");
    assert.deepEqual(stateOf(rebuiltSchedules(engine.facts)), stateOf(engine));
    // Retried by hand it holds nothing up.
    engine.retry(job!.id, 2100);
    assert.equal(engine.schedules.get("q/s")?.running, pauseOnFailure ? 0 : 1);
    for (const one of engine.lease("q", 5, 2200)) engine.ack(one.id, one.lease, 2200);
    assert.equal(engine.schedules.get("q/s")?.running, 0);
  }
});

test("runs by hand change nothing of the plan", () => {
  const engine = opened({ limit: 1 });
  const { id } = engine.schedules.run("q/s", 500, {}, 500);
  assert.equal(engine.queries.job(id)?.schedule?.byHand, true);
  assert.equal(engine.schedules.get("q/s")?.made, 0);
  finish(engine, 600);
  engine.fireAll(1000);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added"]);
});

test("a wall set back repeats no tick, one that jumps ahead wakes what it jumped over", () => {
  const engine = opened({ overlap: "allow" });
  engine.fireAll(2000);
  engine.setWallAhead(-1500, 2000);
  engine.tick(2000);
  engine.fireAll(3900);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 added"]);
  engine.fireAll(4500);
  assert.equal(engine.outcomes("q/s").at(-1), "3000 added");
  engine.lateBefore = 9500;
  engine.setWallAhead(5000, 4500);
  engine.tick(4500);
  engine.fireAll(4500);
  assert.equal(engine.outcomes("q/s").at(-1), "9000 added");
});

test("a timer that was set before a step is looked at again", () => {
  const engine = opened();
  engine.setWallAhead(-500, 900);
  // The walk has not been there yet.
  assert.deepEqual(engine.schedules.takeDue(1000, 1), []);
  engine.tick(1000);
  engine.fireAll(1500);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added"]);
});

test("a schedule that was taken causes no wake until it is answered", () => {
  const engine = opened();
  assert.equal(engine.schedules.takeDue(1000, 5).length, 1);
  assert.equal(engine.nextWake(1000), Number.POSITIVE_INFINITY);
  engine.schedules.postpone("q/s", 100, 1000);
  assert.equal(engine.nextWake(1000), 1100);
  engine.schedules.delete("q/s", 1000);
  engine.schedules.postpone("q/s", 100, 1000);
  engine.schedules.fire("q/s", { ticks: [], lateBefore: 0 }, 1000);
  assert.equal(engine.nextWake(1000), Number.POSITIVE_INFINITY);
});

test("what was computed from options that were replaced since changes nothing", () => {
  const engine = opened({ periodMs: 86_400_000 });
  const [taken] = engine.schedules.takeDue(86_400_000, 1);
  engine.setSchedule("q/s", {}, 86_400_000);
  const old = { ticks: [{ tick: 86_400_000, due: 86_400_000, spec: {} }], lateBefore: 0 };
  const next = { next: 172_800_000, nextDue: 172_800_000, config: taken!.config };
  engine.schedules.fire("q/s", { ...old, ...next }, 86_400_000);
  assert.equal(engine.nextWake(86_400_000), 86_401_000);
});

test("a limit that is lowered to what has run drops the held tick", () => {
  const engine = opened({ overlap: "wait" });
  engine.fireAll(1000);
  engine.fireAll(2000);
  engine.setSchedule("q/s", { overlap: "wait", limit: 1 }, 2500);
  finish(engine, 2600);
  engine.fireAll(2600);
  assert.deepEqual(engine.outcomes("q/s"), ["1000 added", "2000 held"]);
  assert.equal(engine.schedules.get("q/s")?.made, 1);
  assert.deepEqual(stateOf(rebuiltSchedules(engine.facts)), stateOf(engine));
});

test("emits a fact for a changed next time, and none for the same time", () => {
  const engine = opened();
  engine.schedules.setNext("q/s", 5000, 5100, 0);
  assert.equal(engine.nextWake(0), 5100);
  const told = engine.facts.length;
  engine.schedules.takeDue(5100, 1);
  engine.schedules.fire("q/s", { ticks: [], next: 5000, nextDue: 5100, lateBefore: 0 }, 5100);
  assert.equal(engine.facts.length, told);
  engine.schedules.fire("q/s", { ticks: [], next: 7000, nextDue: 7000, lateBefore: 0 }, 5100);
  assert.equal(engine.nextWake(5100), 7000);
  assert.equal(engine.facts.length, told + 1);
  engine.schedules.fire("q/s", { ticks: [], lateBefore: 0 }, 5100);
  assert.equal(engine.nextWake(5100), Number.POSITIVE_INFINITY);
});

test("many ticks are decided over several calls", () => {
  const engine = opened({ overlap: "allow" });
  const tick = (i: number) => ({ tick: 1000 * i, due: 1000 * i, spec: {} });
  const ticks = Array.from({ length: 150 }, (_, i) => tick(i + 1));
  const due = { ticks, next: 151_000, nextDue: 151_000, lateBefore: 0 };
  engine.schedules.fire("q/s", due, 150_000);
  assert.equal(engine.outcomes("q/s").length, 100);
  assert.equal(engine.nextWake(150_000), 150_000);
  engine.schedules.fire("q/s", due, 150_000);
  assert.equal(engine.outcomes("q/s").length, 150);
});

test("schedules are listed by their keys, and refused when there is none", () => {
  const engine = opened();
  engine.setQueue("r", {}, 0);
  for (const key of ["q/a", "r/x", "q/b"]) engine.setSchedule(key, {}, 0);
  const keys = (prefix: string, after: string, limit: number): string[] =>
    engine.schedules.scan(prefix, after, limit).map(({ key }) => key);
  assert.deepEqual(keys("", "", 10), ["q/a", "q/b", "q/s", "r/x"]);
  assert.deepEqual(keys("q/", "q/a", 1), ["q/b"]);
  assert.deepEqual(keys("r/", "q/a", 9), ["r/x"]);
  assert.equal(engine.schedules.size, 4);
  assert.equal(engine.schedules.get("q/none"), undefined);
  assert.throws(() => engine.schedules.pause("q/none", 0), { code: "SCHEDULE_NOT_FOUND" });
  assert.throws(() => engine.setSchedule("none/s", {}, 0), { code: "QUEUE_NOT_FOUND" });
  engine.schedules.delete("q/a", 0);
  assert.deepEqual(keys("q/", "", 9), ["q/b", "q/s"]);
  assert.deepEqual(stateOf(rebuiltSchedules(engine.facts)), stateOf(engine));
});

test("a log that begins after the schedule was made has it from its checkpoint", () => {
  const engine = opened({ overlap: "wait" });
  engine.fireAll(1000);
  const steps = engine.checkpoint();
  const opening = steps.next().value!;
  const begin = engine.facts.length;
  engine.fireAll(2000);
  const [job] = engine.lease("q", 1, 2000);
  engine.nack(job!.id, job!.lease, 2000);
  const moved = { at: 2000, fact: "moved" as const, job: engine.queries.record(job!.id)! };
  const facts = [...opening, ...engine.facts.slice(begin), moved, ...[...steps].flat()];
  const other = rebuiltSchedules(facts);
  assert.deepEqual(stateOf(other), stateOf(engine));
  assert.equal(other.schedules.get("q/s")?.running, 1);
});
