// Figures of one row of the comparison: first Sluice compared with each, then what each did.

import type { Conditions, Figure, Target } from "../figure.ts";
import { rounded, type Spread, spreadConditions, spreadOf } from "../spread.ts";
import { SLUICE } from "./systems.ts";
import type { Outcome } from "./turns.ts";

export interface Metric {
  // In the samples.
  readonly key: string;
  // For the reader.
  readonly row: string;
  readonly unit: string;
  readonly better: "more" | "less" | "neither";
  // A difference where a figure may be nothing at all, of which there are no multiples.
  readonly compare?: "ratio" | "difference";
  // How many times better than this peer Sluice means to be; 1 where nothing is said.
  readonly times?: Readonly<Record<string, number>>;
  // Of Sluice's own figure.
  readonly target?: Target;
  // Why a system has no such figure.
  readonly missing?: Readonly<Record<string, string>>;
}

export function figuresOf(metric: Metric, outcomes: readonly Outcome[]): Figure[] {
  const ours = outcomes.find(({ name }) => name === SLUICE);
  if (ours === undefined || ours.failure !== undefined) {
    throw new Error(`${metric.row}: Sluice was not measured: ${ours?.failure}`);
  }
  const peers = outcomes.filter(
    (outcome) => outcome !== ours && outcome.isReference !== true && isMeasured(metric, outcome),
  );
  const comparisons =
    metric.better === "neither" ? [] : peers.map((peer) => comparisonOf(metric, ours, peer));
  const told = outcomes.filter(
    (outcome) => outcome.isReference !== true || isMeasured(metric, outcome),
  );
  return [...comparisons, ...told.map((outcome) => absoluteOf(metric, outcome))];
}

function isMeasured({ key }: Metric, { failure, samples }: Outcome): boolean {
  return failure === undefined && samples[0]?.[key] !== undefined;
}

// The comparison is one of the medians; runs of the same round, which saw the same machine, are
// compared for the spread.
function comparisonOf(metric: Metric, ours: Outcome, peer: Outcome): Figure {
  const [own, theirs] = [valuesOf(metric, ours), valuesOf(metric, peer)];
  const compared = comparing(metric);
  const rounds = spreadOf(own.map((value, index) => compared(value, theirs[index]!)));
  const value = rounded(compared(spreadOf(own).median, spreadOf(theirs).median));
  const isRatio = metric.compare !== "difference";
  const level = isRatio ? 1 : 0;
  const conditions: Conditions = {
    row: metric.row,
    against: peer.name,
    sluice: String(ours.conditions.durability ?? ""),
    peer: String(peer.conditions.durability ?? ""),
    compare: metric.compare ?? "ratio",
    standing: standingOf(rounds, level),
    isBehind: value < level,
    runs: ours.samples.length,
    ...spreadConditions(rounds),
  };
  return {
    metric: `${metric.row}: Sluice against ${peer.name}`,
    value,
    unit: isRatio ? "×" : metric.unit,
    conditions,
    target: { atLeast: isRatio ? (metric.times?.[peer.name] ?? 1) : 0 },
  };
}

function comparing({ better, compare }: Metric): (ours: number, theirs: number) => number {
  const isRatio = compare !== "difference";
  if (better === "more") return (ours, theirs) => (isRatio ? ours / theirs : ours - theirs);
  return (ours, theirs) => (isRatio ? theirs / ours : theirs - ours);
}

function standingOf({ min, max }: Spread, level: number): "ahead" | "behind" | "within" {
  if (min > level) return "ahead";
  return max < level ? "behind" : "within";
}

function absoluteOf(metric: Metric, outcome: Outcome): Figure {
  const named = { metric: `${metric.row}: ${outcome.name}`, unit: metric.unit };
  const { row, better } = metric;
  const conditions = { row, better, system: outcome.name, ...outcome.conditions };
  if (!isMeasured(metric, outcome)) {
    const reason = outcome.failure?.split("\n")[0] ?? metric.missing?.[outcome.name] ?? "";
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
