/**
 * The settings of the server, from the table of its options. A flag wins over the environment, and
 * the environment over the file.
 */
import { readFileSync } from "node:fs";
import {
  type Field,
  flagOf,
  SERVER_OPTIONS,
  type ServerSettings,
  SluiceError,
  variableOf,
} from "@sluice/protocol";
import { type Call, type Options, textOf } from "../command.ts";
import { valueFrom } from "../settings.ts";

const ROWS: Readonly<Record<string, Field>> = SERVER_OPTIONS;
const NAMES = Object.keys(ROWS);

const typeOf = (name: string): unknown => ROWS[name]!.kind.schema.type;

export const SERVE_OPTIONS: Options = {
  config: { type: "string" },
  ...Object.fromEntries(
    NAMES.map((name) => {
      const type = typeOf(name) === "boolean" ? "boolean" : "string";
      return [flagOf(name), { type, multiple: typeOf(name) === "array" }];
    }),
  ),
};

/** The longest flag with its dashes, and a gap of two on either side. */
const WIDTH = 6 + Math.max(...NAMES.map((name) => flagOf(name).length));

export const SERVE_USAGE = [
  ...NAMES.map((name) => `  --${flagOf(name)}`.padEnd(WIDTH) + sentenceOf(ROWS[name]!)),
  `${"  --config FILE".padEnd(WIDTH)}A file of YAML with these options: adds-per-second is addsPerSecond`,
  `${"".padEnd(WIDTH)}there. The environment has them as ${variableOf("addsPerSecond")}.`,
].join("\n");

function sentenceOf({ text, default: value, reckoned }: Field): string {
  if (value === undefined && reckoned === undefined) return text;
  return `${text.replace(/\.$/, "")} (default ${reckoned ?? value}).`;
}

export async function serveSettings(call: Call): Promise<ServerSettings> {
  const path = textOf(call, "config") ?? call.env.SLUICE_CONFIG;
  const file = path === undefined ? {} : await readFile(path);
  const found: Record<string, unknown> = {};
  for (const name of NAMES) {
    const flag = flagOf(name);
    const variable = variableOf(name);
    const value =
      given(name, call.values[flag], `--${flag}`) ??
      given(name, call.env[variable] || undefined, variable) ??
      given(name, file[name] ?? undefined, `${path}: ${name}`);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

async function readFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new SluiceError("INVALID", `${path} cannot be read: ${(error as Error).message}`);
  }
  // 72 modules, which a server without such a file does not load.
  const { parse } = await import("yaml");
  let value: unknown;
  try {
    value = parse(text) ?? {};
  } catch (error) {
    // The parser says line and column.
    throw new SluiceError("INVALID", `${path} is not YAML: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SluiceError("INVALID", `${path} must have names and values`);
  }
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(ROWS, name));
  if (unknown !== undefined) {
    const known = NAMES.join(", ");
    throw new SluiceError("INVALID", `${path}: ${unknown} is not known; known are ${known}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** The value that one place gives an option; the refusal names the option as this place does. */
function given(name: string, value: unknown, where: string): unknown {
  if (value === undefined) return undefined;
  const { kind } = ROWS[name]!;
  const read = (one: unknown) => (typeof one === "string" ? valueFrom(kind, one) : one);
  return kind.parse(where, Array.isArray(value) ? value.flatMap(read) : read(value));
}
