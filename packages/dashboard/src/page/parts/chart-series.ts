import type { Points } from "@sluice/protocol";

export interface ChartSeries {
  label: string;
  points: Points;
  tone: "one" | "two" | "bad";
}
