import { test } from "node:test";
import { clockConformance } from "@sluice/protocol/conformance";
import { PartitionClock } from "./shared-gates/partition-clock.ts";
import { SimClock } from "./sim-clock.ts";

const START = 1_700_000_000_000;

function passing(clock: SimClock): (ms: number) => Promise<void> {
  return async (ms) => {
    for (let left = ms; left > 0; ) left = clock.step(left);
  };
}

clockConformance(
  "SimClock",
  () => {
    const clock = new SimClock(START);
    return { clock, pass: passing(clock) };
  },
  test,
);

for (const speed of [1, 1.01, 0.99]) {
  clockConformance(
    `PartitionClock at ${speed} of the speed`,
    () => {
      const world = new SimClock(START);
      const pass = passing(world);
      return { clock: new PartitionClock(world, 300, speed), pass: (ms) => pass(ms / speed + 1) };
    },
    test,
  );
}
