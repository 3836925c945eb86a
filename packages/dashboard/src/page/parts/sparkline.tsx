import type { Points } from "@sluice/protocol";
import type { JSX } from "preact";
import { sparkPath } from "../words/spark-path.ts";

const WIDTH = 72;
const HEIGHT = 20;

export interface SparklineProps {
  points: Points | undefined;
  label: string;
  tone?: "plain" | "bad";
}

/** A line as small as a word. Its scale begins at zero, so that a flat line is a flat line. */
export function Sparkline({ points, label, tone = "plain" }: SparklineProps): JSX.Element {
  return (
    <svg
      class={`spark ${isFlat(points) ? "flat" : tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <path class="base" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      <path d={points === undefined ? "" : sparkPath(points, WIDTH, HEIGHT)} />
    </svg>
  );
}

/** Nothing happened: no reason for a colour. */
function isFlat(points: Points | undefined): boolean {
  return points?.every((point) => point === null || point === 0) ?? true;
}
