// The section of docs/benchmarks.md: how Sluice stands first, what each did second, under which
// conditions, and what each of them does that Sluice does not. Written by the bench alone.

import { type Figure, reachesTarget } from "../figure.ts";
import { plotOf } from "./plot.ts";
import type { Words } from "./system.ts";
import { SLUICE } from "./systems.ts";

const BEGIN = "<!-- written by `npm run bench -- peers --write-docs`: begin -->";
const END = "<!-- written by `npm run bench -- peers --write-docs`: end -->";
const HEAD = `# Benchmarks

What this page says is printed by commands of the repository; each names its conditions.
`;

export interface PageInput {
  readonly figures: readonly Figure[];
  readonly systems: readonly Words[];
  // The machine, the scale, the day.
  readonly about: string;
}

export interface Page {
  readonly section: string;
  // By their names below docs/benchmarks.
  readonly plots: ReadonlyMap<string, string>;
}

interface Row {
  readonly name: string;
  readonly ratios: readonly Figure[];
  readonly absolutes: readonly Figure[];
}

export function pageOf({ figures, systems, about }: PageInput): Page {
  const rows = rowsOf(figures);
  const plots = new Map(
    rows.flatMap((row): [string, string][] => {
      const plot = plotOfRow(row);
      return plot === undefined ? [] : [[plotName(row), plot]];
    }),
  );
  const parts = [
    "## Against the peers",
    about,
    "A ratio above 1 is in Sluice's favour. Beside each stand the least and the most of the runs.",
    standing(rows),
    ...rows.map((row) => rowText(row, plots)),
    "### Versions and durability",
    versions(figures),
    "### What each offers",
    offers(systems),
  ];
  return { section: parts.join("\n\n"), plots };
}

// The page with the section in its place; the other sections stay as they are.
export function withSection(page: string | undefined, section: string): string {
  const whole = `${BEGIN}\n\n${section}\n\n${END}\n`;
  if (page === undefined) return `${HEAD}\n${whole}`;
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin === -1 || end === -1) return `${page.trimEnd()}\n\n${whole}`;
  return page.slice(0, begin) + whole + page.slice(end + END.length).replace(/^\n/, "");
}

function rowsOf(figures: readonly Figure[]): Row[] {
  const names = new Set(figures.map(({ conditions }) => String(conditions.row)));
  return [...names].map((name) => {
    const own = figures.filter(({ conditions }) => conditions.row === name);
    return {
      name,
      ratios: own.filter(({ conditions }) => conditions.against !== undefined),
      absolutes: own.filter(({ conditions }) => conditions.against === undefined),
    };
  });
}

function standing(rows: readonly Row[]): string {
  const all = rows.flatMap(({ ratios }) => ratios);
  const behind = all.filter(({ value }) => value < 1);
  const short = all.filter(
    ({ value, target }) => value >= 1 && target !== undefined && !reachesTarget(value, target),
  );
  const list = (figures: readonly Figure[], more: (figure: Figure) => string): string[] =>
    figures.map((figure) => `- ${figure.metric}: ${number(figure.value)} ×${more(figure)}`);
  const head = `Of ${all.length} comparisons Sluice is ahead in ${all.length - behind.length}.`;
  return [
    head,
    ...(behind.length === 0 ? [] : ["\nBehind, with the reason and what would close it:\n"]),
    ...reasonsOf(behind).flatMap((reason) => [
      `- ${headline(reason)}:`,
      ...list(
        behind.filter(({ conditions }) => conditions.behind === reason),
        () => "",
      ).map((line) => `  ${line}`),
    ]),
    ...(short.length === 0 ? [] : ["\nAhead, and short of what it means to be:\n"]),
    ...list(short, ({ target }) => ` (meant: ${wanted(target)})`),
  ].join("\n");
}

function reasonsOf(behind: readonly Figure[]): string[] {
  return [...new Set(behind.map(({ conditions }) => String(conditions.behind)))];
}

function wanted(target: Figure["target"]): string {
  if (target === undefined) return "";
  return "atLeast" in target ? `≥ ${number(target.atLeast)}` : `≤ ${number(target.atMost)}`;
}

function rowText(row: Row, plots: ReadonlyMap<string, string>): string {
  const plot = plots.has(plotName(row)) ? [`![${row.name}](benchmarks/${plotName(row)})`] : [];
  return [`### ${headline(row.name)}`, ...plot, tableOfRow(row)].join("\n\n");
}

function tableOfRow({ ratios, absolutes }: Row): string {
  const lines = absolutes.map((figure) => {
    const system = String(figure.conditions.system);
    const ratio = ratios.find(({ conditions }) => conditions.against === system);
    const against = ratio === undefined ? "" : `**${number(ratio.value)} ×** (${spread(ratio)})`;
    const measured = Number.isNaN(figure.value)
      ? `not measured: ${figure.conditions.notMeasured}`
      : `${number(figure.value)} ${figure.unit} (${spread(figure)})`;
    const target = figure.target === undefined ? "" : `, meant: ${wanted(figure.target)}`;
    return `| ${system} | ${against} | ${measured}${target} |`;
  });
  return ["| | Sluice against it | itself |", "|---|---|---|", ...lines].join("\n");
}

function versions(figures: readonly Figure[]): string {
  const told = new Map<string, string>();
  for (const { conditions } of figures) {
    const { system, durability, version } = conditions;
    if (system === undefined || durability === undefined || durability === "") continue;
    told.set(`${system}: ${durability}`, `| ${system} | ${version ?? ""} | ${durability} |`);
  }
  return ["| | version | durability |", "|---|---|---|", ...told.values()].join("\n");
}

function offers(systems: readonly Words[]): string {
  const lines = systems
    .filter(({ name }) => name !== SLUICE)
    .map((one) => `| ${one.name} | ${one.doesBeyond} | ${one.fairness} | ${one.limits} |`);
  const head = "| | does what Sluice does not | fairness between tenants | a shared limit |";
  return [head, "|---|---|---|---|", ...lines].join("\n");
}

function plotOfRow({ name, absolutes }: Row): string | undefined {
  const measured = absolutes.filter(({ value }) => !Number.isNaN(value));
  if (measured.length < 2) return undefined;
  const lines = measured.map(({ value, conditions }) => ({
    name: String(conditions.system),
    median: value,
    min: Number(conditions.min),
    max: Number(conditions.max),
    isOurs: conditions.system === SLUICE,
  }));
  const { unit, conditions } = measured[0]!;
  const better = conditions.better === "more" || conditions.better === "less";
  const wish = better ? (conditions.better as "more" | "less") : "neither";
  return plotOf({ title: headline(name), unit, better: wish, lines });
}

function plotName({ name }: Row): string {
  return `${name.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}.svg`;
}

function headline(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function spread({ conditions: { min, max } }: Figure): string {
  return `${number(Number(min))} – ${number(Number(max))}`;
}

function number(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
