// How far two measurements of the very same thing lie apart on this machine: some systems do the
// same under two names.

import type { Figure } from "../figure.ts";
import { SYNCED } from "./systems.ts";

interface Twin {
  readonly row: string;
  readonly system: string;
}

const JETSTREAM = "NATS JetStream";
const GRAPHILES = ["Graphile Worker", "Graphile Worker, batched"] as const;

// JetStream has one mode and takes part in the rows of both; Graphile Worker adds jobs the same way
// whether it takes them in batches or not.
const TWINS: readonly (readonly [Twin, Twin])[] = [
  ...["produce and drain at once", "bulk produce", "drain"].map((row): [Twin, Twin] => [
    { row: `${row}, ${SYNCED}`, system: JETSTREAM },
    { row: `${row}, relaxed`, system: JETSTREAM },
  ]),
  ...[`bulk produce, ${SYNCED}`, "bulk produce, relaxed"].map((row): [Twin, Twin] => [
    { row, system: GRAPHILES[0] },
    { row, system: GRAPHILES[1] },
  ]),
];

export function noiseText(figures: readonly Figure[]): string[] {
  const find = ({ row, system }: Twin): number | undefined =>
    figures.find(({ conditions }) => conditions.row === row && conditions.system === system)?.value;
  const times = TWINS.map(([one, other]) => [find(one), find(other)])
    .filter((pair): pair is [number, number] => pair.every((value) => value! > 0))
    .map(([one, other]) => Math.max(one / other, other / one));
  if (times.length === 0) return [];
  const worst = Math.max(...times).toLocaleString("en-US", { maximumSignificantDigits: 3 });
  return [
    [
      `Noise: ${times.length} pairs of figures here are of the very same work (JetStream in both modes, of which it`,
      "has one; the adds of Graphile Worker, batched or not). Their medians lie up to",
      `${worst} × apart: a ratio nearer to 1 than that says nothing.`,
    ].join("\n"),
  ];
}
