import { parseArgs } from "node:util";
import { checkCommand, repairCommand } from "./log.ts";

/** Where a command writes. */
export interface Output {
  /** One line, or several. */
  out(text: string): void;
  /** For progress bars: standard error, so that the output stays clean. */
  readonly progress: { readonly isTTY?: boolean | undefined; write(text: string): unknown };
}

export interface Call {
  readonly dir: string;
  readonly isJson: boolean;
  readonly output: Output;
}

const USAGE = `sluice log check DIR     reads a log that nobody has open and tells what is wrong with it
sluice log repair DIR    makes a damaged log one that opens; the originals are kept beside it

  --json                 one JSON object, for scripts
  --help                 this text`;

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<number>>> = {
  "log check": checkCommand,
  "log repair": repairCommand,
};

/** Exit codes: 0 all is well, 1 something is wrong, 2 the call makes no sense. */
export async function run(args: readonly string[], output: Output): Promise<number> {
  const parsed = parse(args);
  if (typeof parsed === "string") {
    output.out(`${parsed}\n\n${USAGE}`);
    return 2;
  }
  const { values, positionals } = parsed;
  if (values.help === true || positionals.length === 0) {
    output.out(USAGE);
    return 0;
  }
  const name = positionals.slice(0, 2).join(" ");
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  const [dir, ...rest] = positionals.slice(2);
  if (command === undefined || dir === undefined || rest.length > 0) {
    const what = command === undefined ? `there is no command "${name}"` : `${name} takes one DIR`;
    output.out(`${what}\n\n${USAGE}`);
    return 2;
  }
  return command({ dir, isJson: values.json === true, output });
}

function parse(args: readonly string[]) {
  const options = { json: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
