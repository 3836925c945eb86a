// A plot of one row: a line for each system, a dot at its median, and the spread of its runs. Where
// systems lie far apart the axis is logarithmic, and says so.

export interface Line {
  readonly name: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  // Drawn so that it is found at once.
  readonly isOurs: boolean;
}

export interface Plot {
  readonly title: string;
  readonly unit: string;
  // Which way is good.
  readonly better: "more" | "less" | "neither";
  readonly lines: readonly Line[];
}

const WIDTH = 760;
const LEFT = 190;
const RIGHT = 110;
const TOP = 52;
const STEP = 26;
const BOTTOM = 34;
// Beyond this many times between the least and the most, a linear axis shows only the most.
const LINEAR_TIMES_MAX = 12;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #333 }
  .title { font-weight: 600; font-size: 15px }
  .small { font-size: 11px; fill: #777 }
  .grid { stroke: #ddd }
  .spread { stroke: #9aa5b1; stroke-width: 3; stroke-linecap: round }
  .dot { fill: #52606d }
  .ours .spread { stroke: #7fb5ff }
  .ours .dot { fill: #0b6bcb }
  .ours text { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd }
    .small { fill: #999 }
    .grid { stroke: #444 }
    .spread { stroke: #6b7785 }
    .dot { fill: #b8c4d0 }
    .ours .spread { stroke: #2f6fb5 }
    .ours .dot { fill: #6cb2ff }
  }
`;

interface Axis {
  readonly isLogarithmic: boolean;
  readonly ticks: readonly number[];
  x(value: number): number;
}

export function plotOf({ title, unit, better, lines }: Plot): string {
  const axis = axisOf(lines);
  const height = TOP + lines.length * STEP + BOTTOM;
  const bottom = height - BOTTOM;
  const wish = better === "neither" ? "" : `, ${better} is better`;
  const note = `${unit}${wish}${axis.isLogarithmic ? ", logarithmic" : ""}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="8" y="20">${escaped(title)}</text>`,
    `<text class="small" x="8" y="38">${escaped(note)}</text>`,
    ...axis.ticks.map((tick) => tickOf(tick, axis.x(tick), bottom)),
    ...lines.map((line, index) => lineOf(line, axis, TOP + index * STEP + STEP / 2)),
    "</svg>",
    "",
  ].join("\n");
}

function tickOf(tick: number, x: number, bottom: number): string {
  const at = x.toFixed(1);
  return (
    `<line class="grid" x1="${at}" x2="${at}" y1="${TOP}" y2="${bottom}"/>` +
    `<text class="small" x="${at}" y="${bottom + 18}" text-anchor="middle">${short(tick)}</text>`
  );
}

function lineOf({ name, median, min, max, isOurs }: Line, { x }: Axis, y: number): string {
  const cells = [
    `<text x="${LEFT - 12}" y="${y + 4}" text-anchor="end">${escaped(name)}</text>`,
    `<line class="spread" x1="${x(min).toFixed(1)}" x2="${x(max).toFixed(1)}" y1="${y}" y2="${y}"/>`,
    `<circle class="dot" cx="${x(median).toFixed(1)}" cy="${y}" r="5"/>`,
    `<text x="${WIDTH - 8}" y="${y + 4}" text-anchor="end">${exact(median)}</text>`,
  ];
  return `<g${isOurs ? ' class="ours"' : ""}>${cells.join("")}</g>`;
}

function axisOf(lines: readonly Line[]): Axis {
  const least = Math.min(...lines.map(({ min }) => min));
  const most = Math.max(...lines.map(({ max }) => max));
  const width = WIDTH - LEFT - RIGHT;
  if (least > 0 && most / least > LINEAR_TIMES_MAX) {
    const from = Math.floor(Math.log10(least));
    const to = Math.max(from + 1, Math.ceil(Math.log10(most)));
    const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
    const x = (value: number): number => LEFT + (width * (Math.log10(value) - from)) / (to - from);
    return { isLogarithmic: true, ticks, x };
  }
  const step = stepOf(Math.max(most, -least));
  const end = Math.max(step, Math.ceil(most / step) * step);
  const begin = Math.min(0, Math.floor(least / step) * step);
  const count = Math.round((end - begin) / step) + 1;
  const ticks = Array.from({ length: count }, (_, index) => begin + index * step);
  const x = (value: number): number => LEFT + (width * (value - begin)) / (end - begin);
  return { isLogarithmic: false, ticks, x };
}

// A round number of which about five make the most.
function stepOf(most: number): number {
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most / 5));
  const times = [1, 2, 5, 10].find((candidate) => candidate * power >= most / 5) ?? 10;
  return times * power;
}

function short(value: number): string {
  return value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
}

function exact(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
