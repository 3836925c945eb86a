/** The limits of a gate as a form has them: texts, empty where there is no limit. */
import type { GateConfig } from "@sluice/protocol";

export interface GateForm {
  rate: string;
  burst: string;
  concurrency: string;
  intervalMs: string;
  windows: string;
}

export function formOf(config: GateConfig | undefined): GateForm {
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return {
    rate: text(config?.rate),
    burst: text(config?.burst),
    concurrency: text(config?.concurrency),
    intervalMs: text(config?.interval?.ms),
    windows: (config?.windows ?? []).map(({ limit, perMs }) => `${limit}/${perMs}`).join(", "),
  };
}

/** What the form says, over what the gate has that the form does not show. */
export function configOf(form: GateForm, before: GateConfig | undefined): GateConfig {
  const number = (name: keyof GateForm): number | undefined => {
    const text = form[name].trim();
    if (text === "") return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0) return value;
    throw new Error(`${name} must be a number of at least 0, or empty`);
  };
  const ms = number("intervalMs");
  const config: GateConfig = {
    rate: number("rate"),
    burst: number("burst"),
    concurrency: number("concurrency"),
    interval: ms === undefined ? undefined : { ...before?.interval, ms },
    windows: windowsOf(form.windows),
    ladder: before?.ladder,
  };
  const said = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

function windowsOf(text: string): GateConfig["windows"] {
  if (text.trim() === "") return undefined;
  return text.split(",").map((part) => {
    const [, limit, perMs] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(part) ?? [];
    if (limit !== undefined) return { limit: Number(limit), perMs: Number(perMs) };
    throw new Error("windows must be like 100/60000: a limit, a slash and milliseconds");
  });
}
