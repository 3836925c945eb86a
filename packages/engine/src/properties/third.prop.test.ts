import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GateConfig } from "../gates/gate-state.ts";
import { Crew } from "./crew.ts";
import { Drive, type Taken } from "./drive.ts";

const timed: readonly [string, GateConfig][] = [
  ["a window of 3", { windows: [{ limit: 3, perMs: 120_000 }] }],
  ["a window of 10", { windows: [{ limit: 10, perMs: 300_000 }] }],
  ["a slow rate", { rate: 0.05, burst: 1 }],
  ["a slow rate with a burst", { rate: 0.05, burst: 6 }],
  ["a fast rate", { rate: 2, burst: 2 }],
  ["an interval", { interval: { ms: 20_000, from: "start" } }],
];

for (const [name, config] of timed) {
  test(`a job with two gates gets a third beside its own lane: ${name}`, () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 0, max: 3 }),
        fc.boolean(),
        fc.constantFrom(100, 400, 1500),
        (places, rivals, isOlder, workMs) => {
          const drive = Drive.on("q");
          drive.engine.setGate("timed", config, drive.now);
          drive.engine.setGate("place", { concurrency: places }, drive.now);
          for (let i = 0; i < rivals; i++) {
            drive.addMany("q", `rival-${i}`, 4000, { gates: ["place"] });
          }
          const both = () => drive.addMany("q", "lane", 1000, { gates: ["timed", "place"] });
          if (isOlder) both();
          drive.addMany("q", "lane", 1500, { gates: ["timed"], body: { lane: "one" } });
          if (!isOlder) both();
          // What the gate has at first goes by age: then nothing is kept from anyone.
          for (const taken of drive.dispatchNow()) drive.ack(taken);
          const counts = { one: 0, lane: 0 };
          const count = ({ mark }: Taken): number => {
            if (mark.lane === "one") counts.one++;
            if (mark.lane === "lane") counts.lane++;
            return mark.lane === "one" ? 10 : workMs;
          };
          // When it last had its third, and how many had begun by then.
          let paid = { at: drive.now, lane: 0 };
          const judge = (): void => {
            // On every prefix: two may go before the first, and one turn may be under way.
            const total = counts.one + counts.lane;
            const third = Math.floor((total - 4) / 3);
            if (counts.lane >= third) paid = { at: drive.now, lane: counts.lane };
            // No place is kept before the timed permits are there, and a window gives back all of
            // its permits at once. Jobs with one gate then use what is not owed, at once; what is
            // owed is used as far as the place allows: one at each turn there. Its turn is after
            // one of each rival, and then it takes the next one.
            const turnMs = (2 * (rivals + 1) * workMs) / places;
            const least = paid.lane + Math.floor((drive.now - paid.at) / turnMs);
            const text = `${counts.lane} of ${total} at ${drive.now}`;
            assert.ok(counts.lane >= Math.min(third, least), text);
          };
          new Crew(drive, count).runTo(drive.now + 600_000, undefined, judge);
          assert.ok(counts.lane > 0 && counts.one + counts.lane >= 10, JSON.stringify(counts));
        },
      ),
      { numRuns: 10 },
    );
  });
}

test("jobs with one gate go on while the other gate of the job beside them is shut", () => {
  const drive = Drive.on("q");
  drive.engine.setGate("timed", { rate: 0.05, burst: 1 }, drive.now);
  drive.engine.setGate("place", { concurrency: 1 }, drive.now);
  drive.engine.cooldown("place", 3_600_000, "down", drive.now);
  drive.addMany("q", "lane", 10, { gates: ["timed", "place"] });
  drive.addMany("q", "lane", 100, { gates: ["timed"] });
  const count = new Crew(drive, () => 10).runFor(600_000).length;
  assert.ok(count >= 30, `${count} of 30 permits were used`);
});

test("what is kept back for a job with two gates is used when its place is free", () => {
  const drive = Drive.on("q");
  drive.engine.setGate("timed", { windows: [{ limit: 10, perMs: 300_000 }] }, drive.now);
  drive.engine.setGate("place", { concurrency: 1 }, drive.now);
  drive.addMany("q", "rival", 4000, { gates: ["place"] });
  drive.addMany("q", "lane", 1500, { gates: ["timed"], body: { lane: "one" } });
  drive.addMany("q", "lane", 1000, { gates: ["timed", "place"] });
  for (const taken of drive.dispatchNow()) drive.ack(taken);
  const crew = new Crew(drive, ({ mark }) => (mark.lane === "one" ? 10 : 100));
  const lanes = crew.runFor(301_000).map(({ mark }) => mark.lane);
  const countOf = (lane: string): number => lanes.filter((each) => each === lane).length;
  assert.deepEqual([countOf("one"), countOf("lane")], [7, 3]);
});
