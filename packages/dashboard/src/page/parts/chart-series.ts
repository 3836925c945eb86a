import type { Points } from "../data/types.ts";

export interface ChartSeries {
  label: string;
  points: Points;
  tone: "one" | "two" | "bad";
}
