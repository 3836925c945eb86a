/** Finds the command that the words name, and runs it. */
import { parseArgs } from "node:util";
import { nearest } from "@sluice/protocol";
import { type Call, type Command, EXIT, Misuse, type Options, type Output } from "./command.ts";
import { COMMANDS } from "./commands/index.ts";
import { errorLine, wantsJson } from "./report.ts";
import { visible } from "./visible.ts";

const COMMON: Options = {
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
};

const COMMON_USAGE = `  --json                 for scripts: one JSON value, or one on each line
  --help                 this text`;

export type Surroundings = Pick<Call, "env" | "input" | "output" | "stop">;

export async function run(args: readonly string[], given: Surroundings): Promise<number> {
  const around = { ...given, output: shown(given.output) };
  const { out } = around.output;
  const [name, ...rest] = args[0] === "--version" ? ["version", ...args.slice(1)] : args;
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    out(await helpOn(rest[0], wantsJson(args)));
    return EXIT.well;
  }
  const entry = COMMANDS.find((known) => known.name === name);
  if (entry === undefined) {
    const message = `there is no command "${name}"${hint(name, COMMAND_NAMES)}`;
    return misuse(around, wantsJson(args), message, "sluice help lists all commands.");
  }
  const command = await entry.load();
  // An app reads its own words.
  if (command.options === undefined) return command.run({ ...bare(rest), ...around });
  try {
    const call = { ...parse(rest, command), ...around };
    if (call.values.help !== true) return await command.run(call);
    out(usageOf(command));
    return EXIT.well;
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    return misuse(around, wantsJson(args), error.message, error.help ?? synopsisOf(command));
  }
}

/** Payloads, errors and names come from others: none of them may command the terminal. */
function shown(output: Output): Output {
  return { ...output, out: (text) => output.out(visible(text)) };
}

function misuse(around: Surroundings, isJson: boolean, message: string, usage: string): number {
  const json = errorLine({ code: "INVALID", message });
  around.output.progress.write(`${visible(isJson ? json : `${message}\n\n${usage}`)}\n`);
  return EXIT.misuse;
}

type Words = Omit<Call, keyof Surroundings>;

function bare(words: readonly string[]): Words {
  return { words, after: [], values: {}, isJson: false };
}

function parse(args: readonly string[], { options }: Command): Words {
  const cut = args.indexOf("--");
  const own = cut === -1 ? args : args.slice(0, cut);
  try {
    const { values, positionals } = parseArgs({
      args: [...own],
      options: { ...COMMON, ...options },
      allowPositionals: true,
      allowNegative: true,
    });
    return {
      words: positionals,
      after: cut === -1 ? [] : args.slice(cut + 1),
      values: values as Call["values"],
      isJson: values.json === true,
    };
  } catch (error) {
    throw new Misuse(
      misread(error as NodeJS.ErrnoException, Object.keys({ ...COMMON, ...options })),
    );
  }
}

/** Node explains how to pass a word that begins with a dash; most often a flag is misspelt. */
function misread({ code, message }: NodeJS.ErrnoException, flags: readonly string[]): string {
  const flag = /'--([^' ]+)/.exec(message)?.[1];
  if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION" || flag === undefined) return message;
  return `there is no flag --${flag}${hint(flag, flags, "--")}`;
}

/** `sluice help NAME`, `sluice help all` for every command, else the overview. */
async function helpOn(name: string | undefined, isJson: boolean): Promise<string> {
  const wanted = COMMANDS.find((command) => command.name === name);
  if (wanted !== undefined) return usageOf(await wanted.load());
  if (name !== "all") return overview();
  const all = await Promise.all(
    COMMANDS.map(async ({ name, summary, load }) => ({
      name,
      summary,
      usage: usageOf(await load()),
    })),
  );
  return isJson ? JSON.stringify(all) : all.map(({ usage }) => usage).join("\n\n");
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const lines = COMMANDS.map(({ name, summary }) => `  sluice ${name.padEnd(width)}  ${summary}`);
  return `Sluice: a durable job queue that decides at dispatch time.

${lines.join("\n")}

sluice COMMAND --help prints its options, sluice help all those of every command.
Exit codes: 0 success, 1 failure, 2 wrong usage, 3 the server cannot be reached, 70 a bug.`;
}

function usageOf({ usage, options }: Command): string {
  return options === undefined ? usage : `${usage}\n${COMMON_USAGE}`;
}

/** Short enough that what is wrong, which is printed above it, stays on the screen. */
function synopsisOf({ name, usage }: Command): string {
  return `${usage.split("\n\n", 1)[0]}\n\nsluice ${name} --help lists all flags.`;
}

const COMMAND_NAMES = COMMANDS.map(({ name }) => name);

/** A slip of the fingers is worth a hint. */
function hint(given: string, known: readonly string[], before = ""): string {
  const meant = nearest(given, known);
  return meant === undefined ? "" : `, did you mean "${before}${meant}"?`;
}
