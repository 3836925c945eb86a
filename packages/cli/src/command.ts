/** What a command is, and what it is given. */
import type { ParseArgsConfig } from "node:util";
import { parseDuration } from "@sluice/protocol";

/** Where a command writes. */
export interface Output {
  /** One line, or several. What a terminal would obey in it is written out. */
  out(text: string): void;
  /** The same for another program, which gets it as it is; a terminal does not. */
  raw?(text: string): void;
  /** For progress bars and remarks: standard error, so that the output stays clean. */
  readonly progress: {
    readonly isTTY?: boolean | undefined;
    readonly columns?: number | undefined;
    write(text: string): unknown;
  };
}

export type Options = NonNullable<ParseArgsConfig["options"]>;

export interface Call {
  /** The words after the command's name. */
  readonly words: readonly string[];
  /** The words after `--`. */
  readonly after: readonly string[];
  readonly values: Readonly<
    Record<string, string | boolean | readonly (string | boolean)[] | undefined>
  >;
  readonly isJson: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: AsyncIterable<string | Uint8Array>;
  readonly output: Output;
  /** Aborted by Ctrl-C, or when the process gets a signal to end. */
  readonly stop: AbortSignal;
}

export interface Command {
  readonly name: string;
  /** The lines of its own help, without the options that all commands have. */
  readonly usage: string;
  readonly options?: Options;
  /** Words that may come second, for completions. */
  readonly verbs?: readonly string[];
  /** Answers the exit code. */
  run(call: Call): Promise<number>;
}

/** A command by its name: what the overview tells, and where the rest is. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Commands are loaded when they are used, so that each starts with what it needs. */
  load(): Promise<Command>;
}

/** The call makes no sense: exit code 2, with help: the command's own, unless another says more. */
export class Misuse extends Error {
  override readonly name = "Misuse";
  readonly help: string | undefined;

  constructor(message: string, help?: string) {
    super(message);
    this.help = help;
  }
}

/** Exit codes, as documented. */
export const EXIT = {
  well: 0,
  wrong: 1,
  misuse: 2,
  unreachable: 3,
  unexpected: 70,
} as const;

/** Prints what a command has to say: as JSON where that is asked for, else as text. */
export function tell({ isJson, output }: Call, json: unknown, text: () => string): number {
  output.out(isJson ? JSON.stringify(json) : text());
  return EXIT.well;
}

export function textOf(call: Call, name: string): string | undefined {
  const value = call.values[name];
  return typeof value === "string" ? value : undefined;
}

export function textsOf(call: Call, name: string): readonly string[] {
  const value = call.values[name];
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

function numberOf(call: Call, name: string, min = 0): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number) && number >= min) return number;
  throw new Misuse(`--${name} must be a number of at least ${min}, got ${JSON.stringify(text)}`);
}

/** Milliseconds, or a text such as 30s. */
export function durationOf(call: Call, name: string, min = 0): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : text;
  try {
    return parseDuration(`--${name}`, value, undefined, min);
  } catch (error) {
    throw new Misuse((error as Error).message);
  }
}

export function wholeOf(call: Call, name: string, min = 0): number | undefined {
  const number = numberOf(call, name, min);
  if (number === undefined || Number.isSafeInteger(number)) return number;
  throw new Misuse(`--${name} must be a whole number, got ${number}`);
}

/** The words by name; too few or too many of them make no sense. */
export function wordsOf<Names extends readonly string[]>(
  words: readonly string[],
  ...names: Names
): { [Index in keyof Names]: string } {
  if (words.length === names.length) return words as never;
  const given = words.length === 0 ? "nothing" : words.join(" ");
  throw new Misuse(
    names.length === 0
      ? `no more words are taken, got ${given}`
      : `${neededWords(names)}, got ${given}`,
  );
}

function neededWords(names: readonly string[]): string {
  if (names.length === 1) return `${names[0]} is needed`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)} are needed`;
}
