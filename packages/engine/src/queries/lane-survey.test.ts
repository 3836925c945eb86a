import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";
import type { LanePlace, LaneSort, LaneSurveyOptions } from "./lane-survey.ts";

function survey(engine: TestEngine, options: LaneSurveyOptions = {}) {
  const walk = engine.queries.surveyLanes("q", options);
  let steps = 1;
  while (walk.step()) steps++;
  return { walk, steps };
}

function manyLanes(count: number): TestEngine {
  const engine = openEngine({ capacity: { jobs: 1_000_000 } }, { seed: 1 });
  for (let i = 0; i < count; i++) {
    engine.addAll(
      "q",
      Array.from({ length: 1 + (i % 3) }, () => ({ fairnessKey: `t${i}` })),
      0,
    );
  }
  return engine;
}

test("walks over many lanes in steps, and each page continues after the last", () => {
  const engine = manyLanes(12_000);
  engine.setQueue("other", {}, 0);
  engine.addAll("other", [{ fairnessKey: "elsewhere" }], 0);
  const seen = new Set<string>();
  let after: LanePlace | undefined;
  let last = Number.POSITIVE_INFINITY;
  do {
    const { walk, steps } = survey(engine, { sort: "waiting", limit: 1000, after });
    assert.ok(steps >= 2, "one step looks at a bounded number of rows");
    const page = walk.page();
    for (const { key, waiting } of page.lanes) {
      assert.ok(waiting <= last);
      last = waiting;
      seen.add(String(key));
    }
    after = page.next;
  } while (after !== undefined);
  assert.equal(seen.size, 12_000);
});

test("lanes are found by a part of their key, a path by its levels", () => {
  const engine = manyLanes(20);
  engine.addAll("q", [{ fairnessKey: ["acme", "user"] }], 0);
  const found = (search: string) =>
    survey(engine, { search, sort: "waiting" })
      .walk.page()
      .lanes.map(({ key }) => key);
  assert.deepEqual(found("t19"), ["t19"]);
  assert.deepEqual(found("acme/us"), [["acme", "user"]]);
});

test("each order is by its own figure", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{ fairnessKey: "a" }, { fairnessKey: "b", weight: 9 }], 0);
  engine.addAll("q", [{ fairnessKey: "b" }, { fairnessKey: "c" }, { fairnessKey: "c" }], 0);
  engine.lease("q", 1, 0);
  const first = (sort: LaneSort) => survey(engine, { sort, limit: 1 }).walk.page().lanes[0];
  assert.equal(first("waiting")?.key, "b");
  assert.equal(first("running")?.running, 1);
  assert.equal(first("received")?.received, 1);
  assert.ok((first("weight")?.weight ?? 0) >= 1);
});

test("a lane that is gone when the page is made is left out", () => {
  const engine = manyLanes(3);
  const { walk } = survey(engine, { sort: "waiting" });
  engine.deleteQueue("q", 1);
  for (let now = 2; engine.nextWake(now) <= now; now++) engine.dispatch(now);
  assert.deepEqual(walk.page().lanes, []);
});

test("shares are of what competes now, and of what was received", () => {
  const engine = openEngine({}, { seed: 1 });
  const none = survey(engine, { sort: "waiting" }).walk.page();
  assert.deepEqual(none, { lanes: [], next: undefined });
  engine.addAll("q", [{ fairnessKey: "a", weight: 3 }, { fairnessKey: ["b", "c"] }], 0);
  engine.addAll("q", [{ fairnessKey: ["b", "d"] }, { fairnessKey: "gone" }], 0);
  const { lanes } = survey(engine, { sort: "weight" }).walk.page();
  const owed = Object.fromEntries(lanes.map(({ key, shareOwed }) => [String(key), shareOwed]));
  assert.deepEqual(owed, { a: 0.6, "b,c": 0.1, "b,d": 0.1, gone: 0.2 });
  assert.ok(lanes.every(({ shareReceived }) => shareReceived === 0));
});

test("the shares of many paths, of any depth, add up to the whole", () => {
  const engine = openEngine({}, { seed: 1 });
  for (let i = 0; i < 500; i++) {
    const paths = [["a", "x"], ["b"], ["b", "y", "z"]].map(([last, ...rest]) => [
      `t${i}`,
      `${last}`,
      ...rest,
    ]);
    engine.addAll(
      "q",
      paths.map((fairnessKey) => ({ fairnessKey, weight: 1 + (i % 3) })),
      0,
    );
  }
  let after: LanePlace | undefined;
  let owed = 0;
  do {
    const page = survey(engine, { sort: "weight", limit: 500, after }).walk.page();
    for (const { shareOwed } of page.lanes) owed += shareOwed;
    after = page.next;
  } while (after !== undefined);
  assert.ok(Math.abs(owed - 1) < 1e-9, `got ${owed}`);
});
