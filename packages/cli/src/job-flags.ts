/** The options of a job as flags, from their table. */
import {
  type Field,
  flagOf,
  JOB_OPTIONS,
  type JobOptions,
  SluiceError,
  TIME,
} from "@sluice/protocol";
import { type Call, Misuse, type Options, textsOf } from "./command.ts";
import { valueFrom } from "./settings.ts";

const ROWS: Readonly<Record<string, Field>> = JOB_OPTIONS;

/** `--lane` is `--fairness-key` for short. */
const LANE = "lane";

export const JOB_FLAGS: Options = {
  [LANE]: { type: "string", multiple: true },
  ...Object.fromEntries(
    Object.keys(ROWS).map((name) => [flagOf(name), { type: "string", multiple: true }]),
  ),
};

const HOW: Readonly<Record<string, string>> = {
  fairnessKey: " Repeat it for the levels of a path; --lane for short.",
  gates: " With commas, or repeated.",
  headers: " NAME=VALUE, repeated.",
  dedupe: " The key, or JSON.",
};

export const JOB_USAGE = Object.entries(ROWS)
  .map(([name, { text }]) => `  --${flagOf(name)}`.padEnd(25) + text + (HOW[name] ?? ""))
  .join("\n");

/** The options that flags give a job, each checked by its own name. */
export function jobOptionsOf(call: Call): JobOptions {
  const options: Record<string, unknown> = {};
  for (const [name, { kind }] of Object.entries(ROWS)) {
    const flag = flagOf(name);
    const short = name === "fairnessKey" ? textsOf(call, LANE) : [];
    const words = [...textsOf(call, flag), ...short];
    if (words.length === 0) continue;
    const value = readFlag(name, words);
    try {
      kind.parse(`--${flag}`, value);
    } catch (error) {
      throw error instanceof SluiceError ? new Misuse(error.message) : error;
    }
    options[name] = value;
  }
  return options;
}

function readFlag(name: string, words: readonly string[]): unknown {
  const { kind } = ROWS[name]!;
  const last = words.at(-1)!;
  if (name === "fairnessKey") return words.length > 1 ? words : last;
  if (name === "headers") return Object.fromEntries(words.map(headerOf));
  if (name === "priority") return /^\d+$/.test(last) ? Number(last) : last;
  if (name === "dedupe" && !last.startsWith("{")) return { key: last };
  if (kind.schema.type === "array") return words.flatMap((word) => valueFrom(kind, word));
  return kind === TIME ? timeOf(name, last) : valueFrom(kind, last);
}

function timeOf(name: string, text: string): Date | number {
  if (/^\d+$/.test(text)) return Number(text);
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  const wanted = "a time such as 2030-01-31T09:00:00Z, or milliseconds since 1970";
  throw new Misuse(`--${flagOf(name)} must be ${wanted}, got ${JSON.stringify(text)}`);
}

function headerOf(text: string): [name: string, value: string] {
  const cut = text.indexOf("=");
  if (cut < 1) throw new Misuse(`--headers must be NAME=VALUE, got ${JSON.stringify(text)}`);
  return [text.slice(0, cut), text.slice(cut + 1)];
}
