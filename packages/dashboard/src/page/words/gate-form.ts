/** The limits of a gate as a form has them: texts, empty where there is no limit. */
import type { GateSettings } from "@sluice/protocol";

export interface GateForm {
  rate: string;
  burst: string;
  concurrency: string;
  interval: string;
  windows: string;
}

export function formOf(config: GateSettings | undefined): GateForm {
  const text = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return {
    rate: text(config?.rate),
    burst: text(config?.burst),
    concurrency: text(config?.concurrency),
    interval: text(config?.interval?.every),
    windows: (config?.windows ?? []).map(({ limit, per }) => `${limit}/${per}`).join(", "),
  };
}

/** What the form says, over what the gate has that the form does not show. */
export function configOf(form: GateForm, before: GateSettings | undefined): GateSettings {
  const number = (name: keyof GateForm): number | undefined => {
    const text = form[name].trim();
    if (text === "") return undefined;
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0) return value;
    throw new Error(`${name} must be a number of at least 0, or empty`);
  };
  const every = number("interval");
  const config: GateSettings = {
    rate: number("rate"),
    burst: number("burst"),
    concurrency: number("concurrency"),
    interval: every === undefined ? undefined : { from: "end", ...before?.interval, every },
    windows: windowsOf(form.windows),
    ladder: before?.ladder,
  };
  const said = Object.entries(config).filter(([, value]) => value !== undefined);
  return Object.fromEntries(said);
}

function windowsOf(text: string): GateSettings["windows"] {
  if (text.trim() === "") return undefined;
  return text.split(",").map((part) => {
    const [, limit, per] = /^\s*(\d+)\s*\/\s*(\d+)\s*$/.exec(part) ?? [];
    if (limit !== undefined) return { limit: Number(limit), per: Number(per) };
    throw new Error("windows must be like 100/60000: a limit, a slash and milliseconds");
  });
}
