// So many cycles, and one line about them.

import { Broken } from "../demand.ts";
import { Cycles } from "./cycles.ts";

export interface CyclesEnd {
  readonly line: string;
  readonly failure: string | undefined;
}

// Rules whose breach is a lost job, or one that came back.
const LOST = new Set([
  "no confirmed add lost",
  "nothing ends by itself",
  "drain",
  "no confirmed flow lost",
]);
const AGAIN = new Set(["no recorded step runs again", "no recorded step lost"]);
const REDELIVERED = new Set(["no job after its end", "one live lease"]);

export async function runCycles(folder: string, count: number, seed: number): Promise<CyclesEnd> {
  const cycles = new Cycles(folder, seed);
  let ran = 0;
  let broken: unknown;
  let made = { ticks: 0, flows: 0 };
  try {
    for (; ran < count; ran++) await cycles.run();
    made = await cycles.drain();
  } catch (error) {
    broken = error;
  }
  const rule = broken instanceof Broken ? broken.rule : "";
  const { adds, acks, deliveries } = cycles.checker.totals;
  const { steps, jobs } = cycles.stepTotals;
  const line =
    `${ran} cycles, ${adds} confirmed adds, ${deliveries} deliveries, ${acks} acks, ` +
    `${made.ticks} ticks of schedules, ${made.flows} flows, ` +
    `lost ${LOST.has(rule) ? "some" : 0}, redelivered ${REDELIVERED.has(rule) ? "some" : 0}, ` +
    `${steps} steps of ${jobs} jobs recorded, run again ${AGAIN.has(rule) ? "some" : 0}`;
  if (broken === undefined) return { line, failure: undefined };
  const failure = broken instanceof Broken ? broken.message : String((broken as Error).stack);
  return { line, failure };
}
