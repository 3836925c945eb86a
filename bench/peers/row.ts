// Figures of one row of the comparison: how Sluice stands against each first, what each did second.

import type { Conditions, Figure, Target } from "../figure.ts";
import { rounded, spreadConditions, spreadOf } from "../spread.ts";
import { reasonOf } from "./reasons.ts";
import { SLUICE } from "./systems.ts";
import type { Outcome } from "./turns.ts";

export interface Metric {
  // In the samples.
  readonly key: string;
  // For the reader.
  readonly row: string;
  readonly unit: string;
  readonly better: "more" | "less" | "neither";
  // How many times better than this peer Sluice means to be; 1 where nothing is said.
  readonly times?: Readonly<Record<string, number>>;
  // Of Sluice's own figure.
  readonly target?: Target;
}

// The outcome of Sluice comes first.
export function figuresOf(metric: Metric, outcomes: readonly Outcome[]): Figure[] {
  const [ours, ...peers] = outcomes;
  if (ours === undefined || ours.failure !== undefined) {
    throw new Error(`${metric.row}: Sluice was not measured: ${ours?.failure}`);
  }
  const measured = peers.filter(
    ({ failure, isReference }) => failure === undefined && isReference !== true,
  );
  const ratios =
    metric.better === "neither" ? [] : measured.map((peer) => ratioOf(metric, ours, peer));
  return [...ratios, ...outcomes.map((outcome) => absoluteOf(metric, outcome))];
}

function ratioOf(metric: Metric, ours: Outcome, peer: Outcome): Figure {
  const theirs = valuesOf(metric, peer);
  // Runs of the same turn saw the same machine.
  const spread = spreadOf(
    valuesOf(metric, ours).map((value, index) =>
      metric.better === "more" ? value / theirs[index]! : theirs[index]! / value,
    ),
  );
  const value = rounded(spread.median);
  const conditions: Conditions = {
    row: metric.row,
    against: peer.name,
    sluice: String(ours.conditions.durability ?? ""),
    peer: String(peer.conditions.durability ?? ""),
    ...(value < 1 ? { behind: reasonOf(metric.row, peer.name) } : {}),
    runs: ours.samples.length,
    ...spreadConditions(spread),
  };
  return {
    metric: `${metric.row}: Sluice against ${peer.name}`,
    value,
    unit: "×",
    conditions,
    target: { atLeast: metric.times?.[peer.name] ?? 1 },
  };
}

function absoluteOf(metric: Metric, outcome: Outcome): Figure {
  const named = { metric: `${metric.row}: ${outcome.name}`, unit: metric.unit };
  const { row, better } = metric;
  const conditions = { row, better, system: outcome.name, ...outcome.conditions };
  if (outcome.failure !== undefined) {
    const reason = outcome.failure.split("\n")[0] ?? "";
    return { ...named, value: Number.NaN, conditions: { ...conditions, notMeasured: reason } };
  }
  const spread = spreadOf(valuesOf(metric, outcome));
  const { target } = metric;
  return {
    ...named,
    value: rounded(spread.median),
    conditions: { ...conditions, runs: outcome.samples.length, ...spreadConditions(spread) },
    ...(target === undefined || outcome.name !== SLUICE ? {} : { target }),
  };
}

function valuesOf({ key }: Metric, { samples }: Outcome): number[] {
  return samples.map((sample) => sample[key]!);
}
