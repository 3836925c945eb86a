// Three partitions with more work than one gate lets through: how much of its rate is used.

import { openBroker } from "@sluice/broker";
import type { GateSettings } from "@sluice/protocol";
import { excesses } from "@sluice/protocol/conformance";
import { Passing, START } from "../fault-world.ts";
import { Random } from "../random.ts";
import { SimClock } from "../sim-clock.ts";
import { Net } from "./net.ts";
import { Partition } from "./partition.ts";

const NAMES = ["0", "1", "2"];
const WARM_MS = 1000;
const BATCH = 1000;

export interface FullRate {
  // Of what the rate allows after the burst.
  readonly share: number;
  readonly perPartition: readonly number[];
  readonly failures: readonly string[];
}

export async function fullRate(config: GateSettings, lengthMs: number): Promise<FullRate> {
  const clock = new SimClock(START);
  const random = new Random(1);
  const time = new Passing(clock, 1, 1);
  const net = new Net(clock, random, { delayMs: [1, 3], loss: 0 });
  net.isCalm = true;
  const partitions = NAMES.map((name) => {
    return new Partition(clock, random, net, {
      name,
      others: NAMES.filter((other) => other !== name),
      homeOf: () => "0",
      module: { openBroker },
      logMs: 1,
      workMs: 2,
      credits: 200,
      aheadMs: random.between(-1000, 1000),
      speed: 1,
    });
  });
  const jobs = Math.ceil(((config.rate ?? 0) * lengthMs) / 1000 + (config.burst ?? 0));
  for (const partition of partitions) {
    await time.during(partition.open());
    await time.during(partition.setGates({ g: config }));
    for (let added = 0; added < jobs; added += BATCH) {
      const kinds = Array.from({ length: BATCH }, () => ({ gates: ["g"], cost: 1, tier: 0 }));
      await time.during(partition.add(kinds));
    }
  }
  const begin = clock.now() + WARM_MS;
  await time.pass(WARM_MS + lengthMs);
  const perPartition = partitions.map(({ dispatches }) => {
    return (dispatches.get("g") ?? []).filter(({ at }) => at >= begin).length;
  });
  const all = partitions.flatMap(({ dispatches }) => dispatches.get("g") ?? []);
  const sum = perPartition.reduce((a, b) => a + b, 0);
  for (const partition of partitions) await partition.crash(false);
  const share = sum / (((config.rate ?? 0) * lengthMs) / 1000);
  return { share, perPartition, failures: excesses(config, all).map(({ text }) => text) };
}
