/** Figures and times as people read them, in their own zone. */
import { visible } from "./visible.ts";

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
/** Narrow, and no place to break a line. */
const THIN = "\u202f";

export function count(value: number): string {
  if (value < 1_000_000) return whole.format(value).replaceAll(",", THIN);
  if (value < 1e9) return `${(value / 1e6).toFixed(1)}${THIN}M`;
  return `${(value / 1e9).toFixed(1)}${THIN}G`;
}

/** A second. */
export function rate(value: number): string {
  if (value === 0) return "0";
  if (value < 10) return value.toFixed(1);
  return count(Math.round(value));
}

export function percent(share: number): string {
  const value = 100 * share;
  if (value === 0) return "0%";
  if (value < 0.1) return "<0.1%";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}%`;
}

const UNITS: readonly [ms: number, unit: string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
];

export function duration(ms: number): string {
  const value = Math.max(0, ms);
  for (const [i, [size, unit]] of UNITS.entries()) {
    if (value < size) continue;
    const next = UNITS[i + 1];
    const big = Math.floor(value / size);
    if (next === undefined || big >= 10) return `${big}${THIN}${unit}`;
    const small = Math.floor((value % size) / next[0]);
    return small === 0 ? `${big}${THIN}${unit}` : `${big}${THIN}${unit} ${small}${THIN}${next[1]}`;
  }
  return `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)}${THIN}ms`;
}

/** As a heading or a label begins. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const short = (value: number): string => value.toFixed(value < 100 ? 1 : 0);

export function bytes(value: number): string {
  if (value < 1024) return `${value}${THIN}B`;
  if (value < 1024 ** 2) return `${short(value / 1024)}${THIN}kB`;
  if (value < 1024 ** 3) return `${short(value / 1024 ** 2)}${THIN}MB`;
  return `${short(value / 1024 ** 3)}${THIN}GB`;
}

const HOURS = { hour: "2-digit", hourCycle: "h23" } as const;
const clock = new Intl.DateTimeFormat(undefined, { ...HOURS, minute: "2-digit" });
const seconds = new Intl.DateTimeFormat(undefined, {
  ...HOURS,
  minute: "2-digit",
  second: "2-digit",
});
const full = new Intl.DateTimeFormat(undefined, {
  year: "numeric",
  month: "short",
  day: "2-digit",
  ...HOURS,
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});

/** The time of day, with the day when it is another one. */
export function timeOfDay(at: number, now: number): string {
  const isNear = Math.abs(at - now) < 12 * 3_600_000;
  if (!isNear) return full.format(at);
  return Math.abs(at - now) < 600_000 ? seconds.format(at) : clock.format(at);
}

export const clockTime = (at: number): string => clock.format(at);
export const secondsTime = (at: number): string => seconds.format(at);

/** What is left, as a clock shows it: it is read again every second. */
export function countdown(ms: number): string {
  const left = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(left / 3600), Math.floor(left / 60) % 60];
  const rest = `${two(minutes)}:${two(left % 60)}`;
  return hours === 0 ? rest : `${hours}:${rest}`;
}

/** How old something is, never wider than a clock. */
export function age(ms: number): string {
  if (ms < 60_000 || ms >= 86_400_000) return duration(ms);
  return countdown(ms);
}

/** How long ago something was, in its largest unit: a second one would only be read as noise. */
export function ago(ms: number): string {
  const unit = AGO_UNITS.find((size) => ms >= size);
  return unit === undefined ? "just now" : `${duration(ms - (ms % unit))} ago`;
}

const AGO_UNITS = [86_400_000, 3_600_000, 60_000, 1_000] as const;

/** With milliseconds, for a timeline. */
export function exactTime(at: number): string {
  return `${seconds.format(at)}.${String(Math.floor(at) % 1000).padStart(3, "0")}`;
}

export const fullTime = (at: number): string => full.format(at);

/** A lane's key; of a path, its levels. An empty one has a name too. */
export function laneText(key: string | readonly string[]): string {
  const text = typeof key === "string" ? key : key.join(" / ");
  return text === "" ? "(default)" : visible(text);
}

/** A lane in an address: a path, or a text that would be taken for one, as JSON. */
export function laneAddress(key: string | readonly string[]): string {
  return typeof key === "string" && !/^["[]/.test(key) ? key : JSON.stringify(key);
}
