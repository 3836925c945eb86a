// The section of docs/benchmarks.md: first a picture and ten rows, then the conditions. The
// appendix has the rest: where Sluice is behind, every other row, and what each of the systems does
// that Sluice does not. Written by the bench alone.

import { type Conditions, type Figure, reachesTarget } from "../figure.ts";
import { choiceTable } from "./first-screen.ts";
import type { Words } from "./system.ts";
import { SLUICE } from "./systems.ts";

const BEGIN = "<!-- written by `npm run bench -- peers --write-docs`: begin -->";
const END = "<!-- written by `npm run bench -- peers --write-docs`: end -->";
const HEAD = `# Benchmarks

What this page says is printed by commands of the repository; each names its conditions.
`;

const HOW_COMPARED = `A ratio is that of the two medians, and above 1 it is in Sluice's favour. Where a figure can be 0 the
difference stands in its place, and above 0 it is in Sluice's favour. In parentheses stand the least and the most: of the
runs, and for a comparison of its runs in the same round.`;

// Beside the page.
export const PICTURE = "shots/benchmarks.svg";
const PICTURE_WORDS = "Jobs per second through Sluice and its peers";

export interface PageInput {
  readonly figures: readonly Figure[];
  readonly systems: readonly Words[];
  // The machine, the scale, the day.
  readonly about: string;
}

interface Row {
  readonly name: string;
  readonly ratios: readonly Figure[];
  readonly absolutes: readonly Figure[];
}

export function pageOf({ figures, systems, about }: PageInput): string {
  const rows = rowsOf(figures);
  const losing = rows.filter(isLosing);
  const others = rows.filter((row) => !isLosing(row));
  const parts = [
    "## Against the peers",
    `![${PICTURE_WORDS}](${PICTURE})`,
    choiceTable(figures),
    "### Conditions",
    about,
    "## Appendix: every row",
    HOW_COMPARED,
    standing(rows),
    ...losing.map(rowText),
    ...others.map(rowText),
    "### Versions",
    versions(figures),
    "### What each offers",
    offers(systems),
  ];
  return parts.join("\n\n");
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

function isLosing({ ratios }: Row): boolean {
  return ratios.some(({ conditions }) => conditions.isBehind === true);
}

function standing(rows: readonly Row[]): string {
  const all = rows.flatMap(({ ratios }) => ratios);
  const count = (standing: string): number =>
    all.filter(({ conditions }) => conditions.standing === standing).length;
  const behind = all.filter(({ conditions }) => conditions.isBehind === true);
  const short = rows
    .flatMap(({ ratios, absolutes }) => [...ratios, ...absolutes])
    .filter(isShort)
    .filter(({ conditions }) => conditions.isBehind !== true);
  return [
    `Of ${all.length} comparisons Sluice is ahead in every run of ${count("ahead")}, behind in every`,
    `run of ${count("behind")}, and in ${count("within")} the runs do not agree or are level.`,
    ...(behind.length === 0 ? [] : ["\nBehind by the medians:\n"]),
    ...behind.map((figure) => `- ${figure.metric}: ${compared(figure)}${agreement(figure)}`),
    ...(short.length === 0 ? [] : ["\nShort of what Sluice means to be:\n"]),
    ...short.map(
      (figure) => `- ${figure.metric}: ${compared(figure)} (meant: ${wanted(figure.target)})`,
    ),
  ].join("\n");
}

function isShort({ value, target }: Figure): boolean {
  return target !== undefined && !Number.isNaN(value) && !reachesTarget(value, target);
}

function agreement({ conditions }: Figure): string {
  return conditions.standing === "behind" ? "" : `, within the spread (${spreadText(conditions)})`;
}

function wanted(target: Figure["target"]): string {
  if (target === undefined) return "";
  return "atLeast" in target ? `≥ ${number(target.atLeast)}` : `≤ ${number(target.atMost)}`;
}

// With its sign where it is a difference.
function compared({ value, unit, conditions }: Figure): string {
  const sign = conditions.compare === "difference" && value > 0 ? "+" : "";
  return `${sign}${number(value)} ${unit}`;
}

function rowText(row: Row): string {
  const ours = row.absolutes.find(({ conditions }) => conditions.system === SLUICE);
  const { work } = ours?.conditions ?? {};
  const told = work === undefined ? [] : [`${headline(String(work))}.`];
  return [`### ${headline(row.name)}`, ...told, tableOfRow(row)].join("\n\n");
}

function tableOfRow({ ratios, absolutes }: Row): string {
  const lines = absolutes.map((figure) => {
    const { system, durability, notMeasured } = figure.conditions;
    const ratio = ratios.find(({ conditions }) => conditions.against === system);
    const against =
      ratio === undefined ? "" : `**${compared(ratio)}** (${spreadText(ratio.conditions)})`;
    const measured = Number.isNaN(figure.value)
      ? `not measured: ${notMeasured}`
      : `${number(figure.value)} ${figure.unit} (${spreadText(figure.conditions)})`;
    const target = figure.target === undefined ? "" : `, meant: ${wanted(figure.target)}`;
    return `| ${system} | ${against} | ${measured}${target} | ${durability ?? ""} |`;
  });
  const head = "| | Sluice against it | itself | durability |";
  return [head, "|---|---|---|---|", ...lines].join("\n");
}

function versions(figures: readonly Figure[]): string {
  const told = new Map<string, string>();
  for (const { conditions } of figures) {
    const { system, version } = conditions;
    if (system === undefined || version === undefined) continue;
    told.set(`${system}`, `| ${system} | ${version} |`);
  }
  return ["| | version |", "|---|---|", ...told.values()].join("\n");
}

function offers(systems: readonly Words[]): string {
  const lines = systems
    .filter(({ name }) => name !== SLUICE)
    .map((one) => `| ${one.name} | ${one.doesBeyond} | ${one.fairness} | ${one.limits} |`);
  const head = "| | does what Sluice does not | fairness between tenants | a shared limit |";
  return [head, "|---|---|---|---|", ...lines].join("\n");
}

function headline(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function spreadText({ min, max }: Conditions): string {
  return `${number(Number(min))} – ${number(Number(max))}`;
}

function number(value: number): string {
  return value.toLocaleString("en-US", { maximumSignificantDigits: 3 });
}
