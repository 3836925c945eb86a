// What a reader of the page sees first: ten rows that a user would choose by, and a picture of the
// first of them. All other rows are in the appendix.

import type { Figure } from "../figure.ts";
import { SLUICE, SYNCED } from "./systems.ts";

interface Choice {
  // As the workload names it.
  readonly row: string;
  // What a reader of this table alone understands.
  readonly words: string;
  readonly better: "more" | "less";
}

export const CHOICES: readonly Choice[] = [
  {
    row: `produce and drain at once, ${SYNCED}`,
    words: "jobs through the system, in batches, jobs/s",
    better: "more",
  },
  { row: `bulk produce, ${SYNCED}`, words: "adds in batches, jobs/s", better: "more" },
  {
    row: "produce and drain at once beside a deep backlog",
    words: "jobs through beside a deep backlog, jobs/s",
    better: "more",
  },
  {
    row: `add → handler, one at a time, ${SYNCED}, p50`,
    words: "one job, add to handler, p50, ms",
    better: "less",
  },
  {
    row: `add → handler, one at a time, ${SYNCED}, p99`,
    words: "one job, add to handler, p99, ms",
    better: "less",
  },
  {
    row: "add → handler, one at a time, relaxed, p50",
    words: "one job, relaxed durability, p50, ms",
    better: "less",
  },
  {
    row: "one tenant floods: wait of the quiet, p99",
    words: "wait of a quiet tenant while another floods, p99, ms",
    better: "less",
  },
  {
    row: "one tenant floods: all jobs together",
    words: "20 handlers of 5 ms during that flood, jobs/s",
    better: "more",
  },
  {
    row: "a limit of 1,000/s over 100 tenants: most beyond it in any 990 ms",
    words: "jobs beyond a limit of 1,000/s, in the worst 990 ms",
    better: "less",
  },
  {
    row: "a deep backlog: memory of the server for a waiting job, once",
    words: "memory of the server for a waiting job, bytes",
    better: "less",
  },
];

// Rows of the table that no workload has measured: a workload was renamed.
export function missingRows(figures: readonly Figure[]): string[] {
  const rows = CHOICES.map(({ row }) => row);
  return rows.filter((row) => !absolutes(figures, row).some(isOurs));
}

function isOurs({ value, conditions }: Figure): boolean {
  return conditions.system === SLUICE && !Number.isNaN(value);
}

const NOT_MEASURED = "the system has no such mode, or could not be measured";

// Those that were measured in the first row, in its order.
export function choiceTable(figures: readonly Figure[]): string {
  const [first] = CHOICES;
  const systems = absolutes(figures, first!.row).map(({ conditions }) => `${conditions.system}`);
  const lines = CHOICES.map(({ row, words, better }) => {
    const own = absolutes(figures, row);
    const best = bestOf(own, better);
    const cells = systems.map((system) => cell(own, system, best));
    return `| ${words} | ${cells.join(" | ")} |`;
  });
  const head = `| | ${systems.map(shortName).join(" | ")} |`;
  const rule = `|---|${systems.map(() => "--:|").join("")}`;
  return [
    [head, rule, ...lines].join("\n"),
    `Medians; the best of a row is bold. "–": ${NOT_MEASURED}. Every system has a job on disk before it
answers, but for NATS JetStream and the row of relaxed durability. The appendix has the spreads.`,
  ].join("\n\n");
}

function absolutes(figures: readonly Figure[], row: string): Figure[] {
  return figures.filter(
    ({ conditions: { row: own, against, system } }) =>
      own === row && against === undefined && system !== undefined && !isReference(String(system)),
  );
}

// A bare sync is a yardstick and no system.
function isReference(system: string): boolean {
  return system.startsWith("a write");
}

function bestOf(figures: readonly Figure[], better: "more" | "less"): number {
  const values = figures.map(({ value }) => value).filter((value) => !Number.isNaN(value));
  return better === "more" ? Math.max(...values) : Math.min(...values);
}

function cell(figures: readonly Figure[], system: string, best: number): string {
  const value = figures.find(({ conditions }) => conditions.system === system)?.value;
  if (value === undefined || Number.isNaN(value)) return "–";
  return value === best ? `**${number(value)}**` : number(value);
}

function shortName(system: string): string {
  return system.replace("RabbitMQ, ", "RabbitMQ ").replace("Graphile Worker", "Graphile");
}

const WIDTH = 720;
const LEFT = 190;
const LINE = 30;
const TOP = 48;
const BAR = 18;
const BARS_WIDTH = WIDTH - LEFT - 90;

// Bars of the first row, the longest first.
export function pictureOf(figures: readonly Figure[]): string {
  const { row } = CHOICES[0]!;
  const bars = absolutes(figures, row)
    .filter(({ value }) => !Number.isNaN(value))
    .toSorted((a, b) => b.value - a.value);
  const longest = bars[0]?.value ?? 1;
  const height = TOP + bars.length * LINE + 10;
  const title = "Jobs a second from add to ack, over the network; all but JetStream sync each job";
  const lines = bars.map(({ value, conditions }, i) => {
    const y = TOP + i * LINE;
    const width = Math.max(1, Math.round((value / longest) * BARS_WIDTH));
    const kind = conditions.system === SLUICE ? "s" : "o";
    return [
      `<text x="${LEFT - 10}" y="${y + 14}" class="n" text-anchor="end">${conditions.system}</text>`,
      `<rect x="${LEFT}" y="${y}" width="${width}" height="${BAR}" rx="3" class="${kind}"/>`,
      `<text x="${LEFT + width + 8}" y="${y + 14}" class="n">${number(value)}</text>`,
    ].join("\n");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
<style>
.l{font:600 15px system-ui,sans-serif;fill:#334}
.n{font:13px system-ui,sans-serif;fill:#667}
.s{fill:#3a63d8}
.o{fill:#b6bdcc}
@media (prefers-color-scheme: dark){.l{fill:#dde}.n{fill:#99a}.o{fill:#565d6e}}
</style>
<text x="20" y="28" class="l">${title}</text>
${lines.join("\n")}
</svg>
`;
}

function number(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
