import uPlot from "uplot";
import { clockTime, secondsTime } from "../words/format.ts";
import type { ChartSeries } from "./chart-series.ts";

const COLOURS = { one: "--one", two: "--two", bad: "--bad" } as const;

export function newPlot(
  element: HTMLElement,
  series: readonly ChartSeries[],
  show: (value: number) => string,
  height: number,
): uPlot {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--muted"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false } },
    scales: {
      x: { time: true, range: (_, from, to) => atLeast(from, to) },
      y: { range: (_, __, max) => [0, Math.max(1, (max ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, space: 70, size: 24, values: timesOf },
      { ...axis, size: 52, space: 30, values: (_, splits) => splits.map((value) => show(value)) },
    ],
    series: [
      {},
      ...series.map(({ label, tone }) => ({
        label,
        stroke: colour(COLOURS[tone]),
        width: 1.5,
        points: { show: false },
      })),
    ],
  };
  return new uPlot(options, undefined, element);
}

const MINUTE_S = 60;

/** A line of one point has no length of its own. */
function atLeast(from: number | null, to: number | null): [number, number] {
  const end = to ?? Date.now() / 1000;
  return [Math.min(from ?? end, end - MINUTE_S), end];
}

function timesOf(_: uPlot, splits: number[], __: number, ___: number, stepS: number): string[] {
  const show = stepS < MINUTE_S ? secondsTime : clockTime;
  return splits.map((seconds) => show(seconds * 1000));
}
