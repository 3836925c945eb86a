import type { JSX } from "preact";
import type { Points } from "../data/types.ts";

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
      class={`spark ${tone}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={label}
    >
      <path d={points === undefined ? "" : sparkPath(points, WIDTH, HEIGHT)} />
    </svg>
  );
}

export function sparkPath(points: Points, width: number, height: number): string {
  const top = Math.max(1e-9, ...points.map((point) => point ?? 0));
  const step = width / Math.max(1, points.length - 1);
  let path = "";
  let isDown = false;
  for (const [i, point] of points.entries()) {
    if (point === null) {
      isDown = false;
      continue;
    }
    const y = height - 1 - (point / top) * (height - 2);
    path += `${isDown ? "L" : "M"}${(i * step).toFixed(1)} ${y.toFixed(1)}`;
    isDown = true;
  }
  return path;
}
