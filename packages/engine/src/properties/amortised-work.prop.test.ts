import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Drive } from "./drive.ts";

/** Steps per job of adding, dispatching and acknowledging `jobs` jobs over `lanes` lanes. */
function stepsPerJob(drive: Drive, lanes: number, jobs: number): number {
  const before = drive.engine.queries.steps;
  for (let i = 0; i < jobs; i++) drive.add("q", `open-${i % lanes}`);
  for (const taken of drive.dispatchNow()) drive.ack(taken);
  return (drive.engine.queries.steps - before) / jobs;
}

test("100,000 lanes behind a closed gate cost the others no step", () => {
  const alone = new Drive();
  alone.open("q");
  const crowded = new Drive();
  crowded.open("q");
  crowded.engine.setGate("shut", { rate: 0 }, crowded.now);
  for (let i = 0; i < 100_000; i++) crowded.add("q", `shut-${i}`, { gates: ["shut"] });
  crowded.dispatchNow();
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), (lanes) => {
      const without = stepsPerJob(alone, lanes, 5000);
      const beside = stepsPerJob(crowded, lanes, 5000);
      assert.ok(Math.abs(beside / without - 1) <= 0.1, `${beside} against ${without}`);
    }),
    { numRuns: 10 },
  );
});

test("the steps per job stay the same from ten lanes to 100,000", () => {
  const per = [10, 1000, 100_000].map((lanes) => {
    const drive = Drive.on("q");
    return stepsPerJob(drive, lanes, 100_000);
  });
  for (const each of per) {
    assert.ok(Math.abs(each / per[0]! - 1) <= 0.1, `steps per job: ${per.join(", ")}`);
  }
});

test("the steps per permit stay the same from ten lanes at a gate to 10,000", () => {
  const per = [10, 1000, 10_000].map((lanes) => {
    const drive = Drive.on("q");
    drive.engine.setGate("g", { rate: 1000, burst: 1 }, drive.now);
    for (let i = 0; i < lanes; i++) drive.add("q", `${i}`, { gates: ["g"] });
    for (let i = 0; i < 10_000; i++) {
      drive.add("q", `${i % lanes}`, { gates: ["g"] });
    }
    drive.run(100);
    const before = drive.engine.queries.steps;
    drive.run(9000);
    return (drive.engine.queries.steps - before) / 9000;
  });
  for (const each of per) {
    assert.ok(each <= 1.1 * per[0]!, `steps per permit: ${per.join(", ")}`);
  }
});
