// Turns a view of the scene into lines of text that fit the terminal.

import type { SceneView, Tenant, TenantView } from "./scene.ts";

export interface Look {
  readonly columns: number;
  readonly hasColor: boolean;
}

const COLORS: Readonly<Record<Tenant | "gate" | "dim" | "bold", string>> = {
  noisy: "\x1b[35m",
  quiet: "\x1b[32m",
  throttled: "\x1b[33m",
  gate: "\x1b[36m",
  dim: "\x1b[2m",
  bold: "\x1b[1m",
};
const PLAIN = "\x1b[0m";
const LEVELS = " ▁▂▃▄▅▆▇█";
const NAME_COLUMNS = 10;
// The history of a tenant's share shows the last so many frames.
const HISTORY_COLUMNS_MAX = 24;

type Color = keyof typeof COLORS;

export class Drawing {
  readonly #look: () => Look;
  // Jobs a second, frame by frame; the last is the newest.
  readonly #history = new Map<Tenant, number[]>();

  constructor(look: () => Look) {
    this.#look = look;
  }

  lines(view: SceneView): string[] {
    const look = this.#look();
    const most = Math.max(20, ...view.tenants.map(({ perSecond }) => perSecond));
    const clock = `${(view.atMs / 1_000).toFixed(1)} s`;
    const title = "Sluice: one queue, eight workers, three tenants";
    const gap = " ".repeat(Math.max(1, look.columns - 1 - title.length - clock.length));
    return [
      paint(look, "bold", cut(look, `${title}${gap}${clock}`)),
      "",
      ...view.tenants.flatMap((tenant) => this.#tenant(look, tenant, most, view)),
      ...gateLines(look, view),
    ];
  }

  #tenant(look: Look, tenant: TenantView, most: number, view: SceneView): string[] {
    const history = this.#history.get(tenant.name) ?? [];
    this.#history.set(tenant.name, [...history, tenant.perSecond].slice(-HISTORY_COLUMNS_MAX));
    const figures = `${tenant.perSecond.toFixed(0).padStart(4)}/s ${count(tenant.waiting)} wait`;
    const room = look.columns - 1 - NAME_COLUMNS - figures.length - 2;
    const historyColumns = Math.min(HISTORY_COLUMNS_MAX, Math.floor(room / 3));
    const barColumns = room - historyColumns - 1;
    const drawn = bar(tenant.perSecond / most, barColumns);
    const name = tenant.name.padEnd(NAME_COLUMNS);
    const spark = sparks(this.#history.get(tenant.name)!, historyColumns, most);
    return [
      `${paint(look, tenant.name, `${name}${drawn} ${spark}`)}  ${figures}`,
      paint(look, "dim", cut(look, `${" ".repeat(NAME_COLUMNS)}${explain(tenant, view)}`)),
      "",
    ];
  }
}

function explain(tenant: TenantView, view: SceneView): string {
  if (tenant.name === "noisy") return "10,000 jobs at once: gets what the others leave.";
  if (tenant.name === "throttled") return view.why;
  const { waitedMs, waitedMaxMs } = tenant;
  return `A job now and then: waited ${waitedMs} ms, at most ${waitedMaxMs} ms.`;
}

function gateLines(look: Look, view: SceneView): string[] {
  const { tokens, burst, coolsForMs, opensInMs } = view;
  const left = Math.max(0, Math.min(burst, tokens));
  const name = "gate".padEnd(NAME_COLUMNS);
  const level = bar(left / burst, Math.min(20, look.columns - 1 - NAME_COLUMNS - 24));
  const state =
    coolsForMs > 0
      ? `cooling down, ${(coolsForMs / 1_000).toFixed(1)} s left`
      : `${left.toFixed(1)} of ${burst} tokens, ${opensInMs === 0 ? "open" : `next in ${opensInMs} ms`}`;
  return [
    paint(look, "gate", cut(look, `${name}${level} ${state}`)),
    paint(
      look,
      "dim",
      cut(look, `${" ".repeat(NAME_COLUMNS)}provider:mail lets five jobs a second pass.`),
    ),
  ];
}

function bar(share: number, columns: number): string {
  const eighths = Math.round(Math.max(0, Math.min(1, share)) * columns * 8);
  const partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]!;
  return `${"█".repeat(Math.floor(eighths / 8))}${partial}`.padEnd(columns, "·");
}

function sparks(values: readonly number[], columns: number, most: number): string {
  const shown = values.slice(-columns).map((value) => {
    if (value === 0) return " ";
    const level = Math.ceil((value / most) * (LEVELS.length - 1));
    return LEVELS[Math.max(1, Math.min(LEVELS.length - 1, level))]!;
  });
  return shown.join("").padStart(columns);
}

function count(jobs: number): string {
  return jobs.toLocaleString("en-US").padStart(6);
}

function cut({ columns }: Look, text: string): string {
  return text.length < columns ? text : `${text.slice(0, columns - 2)}…`;
}

function paint({ hasColor }: Look, color: Color, text: string): string {
  return hasColor ? `${COLORS[color]}${text}${PLAIN}` : text;
}
