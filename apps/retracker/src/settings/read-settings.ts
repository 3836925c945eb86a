/** Where settings come from: flags before the environment, before the file, before the defaults. */
import { readFileSync, statSync } from "node:fs";
import { isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { CONFIG_BYTES_MAX } from "../limits.ts";
import {
  complete,
  DEFAULTS,
  isKey,
  judge,
  KEYS,
  type Settings,
  SettingsError,
} from "./settings.ts";

const PREFIX = "RETRACKER_";

export interface Sources {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Called for variables that are not settings. */
  readonly onWarning?: (text: string) => void;
}

/** What Kubernetes sets in every pod beside a service called `retracker`. */
const OF_KUBERNETES = /^(?:SERVICE_(?:HOST|PORT)|PORT)(?:_|$)/;

/** `--config FILE` names the file, and so does `RETRACKER_CONFIG`. */
export function readSettings(sources: Sources): Settings {
  const { flags, environment } = sources;
  const { config = environment[`${PREFIX}CONFIG`], ...said } = readFlags(flags);
  const fromFile = config === undefined ? {} : readFile(config);
  return complete({ ...fromFile, ...readEnvironment(sources), ...said });
}

/** `--announce-interval 900`, `--announce-interval=900`; a flag alone is true. */
function readFlags(flags: readonly string[]): Partial<Settings> & { config?: string } {
  const said: Record<string, unknown> = {};
  for (let i = 0; i < flags.length; i++) {
    const flag = flags[i]!;
    if (!flag.startsWith("--"))
      throw new SettingsError(`there is no option ${flag}; --help prints all`);
    const equals = flag.indexOf("=");
    const name = flag.slice(2, equals === -1 ? undefined : equals).replaceAll("-", "_");
    const isSwitch = isKey(name) && typeof DEFAULTS[name] === "boolean";
    const next = isSwitch ? "true" : flags[++i];
    const value = equals === -1 ? next : flag.slice(equals + 1);
    if (equals !== -1 && !isSwitch) i--;
    if (value === undefined) throw new SettingsError(`${flag} needs a value`);
    if (name === "config") said.config = value;
    else if (isKey(name)) said[name] = checked(name, fromText(name, value), flag);
    else throw new SettingsError(`there is no option ${flag}; --help prints all`);
  }
  return said;
}

/** Others set variables too: one that is unknown is a warning, where a flag would be an error. */
function readEnvironment({ environment, onWarning }: Sources): Partial<Settings> {
  const said: Record<string, unknown> = {};
  for (const [variable, value] of Object.entries(environment)) {
    if (!variable.startsWith(PREFIX) || value === undefined) continue;
    const name = variable.slice(PREFIX.length).toLowerCase();
    if (name === "config") continue;
    if (!isKey(name)) {
      const isForeign = OF_KUBERNETES.test(variable.slice(PREFIX.length));
      if (!isForeign)
        onWarning?.(`${variable} is ignored: there is no such setting; ${nearest(name)}`);
      continue;
    }
    said[name] = checked(name, fromText(name, value), variable);
  }
  return said;
}

const SWITCHES: Readonly<Record<string, boolean>> = {
  __proto__: null as never,
  true: true,
  1: true,
  yes: true,
  false: false,
  0: false,
  no: false,
};

/** Lists are written with commas. */
function fromText(name: keyof Settings, text: string): unknown {
  const usual = DEFAULTS[name];
  if (typeof usual === "number") return /^-?\d+$/.test(text) ? Number(text) : text;
  if (typeof usual === "boolean") return SWITCHES[text.toLowerCase()] ?? text;
  if (!Array.isArray(usual)) return text;
  return text === "" ? [] : text.split(",").map((item) => item.trim());
}

function checked(name: keyof Settings, value: unknown, where: string): unknown {
  const problem = judge(name, value);
  if (problem !== undefined) throw new SettingsError(`${where}: ${problem}`);
  return value;
}

function readFile(file: string): Partial<Settings> {
  let text: string;
  try {
    if (statSync(file).size > CONFIG_BYTES_MAX)
      throw new Error(`it is larger than ${CONFIG_BYTES_MAX} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new SettingsError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return parseFile(text, file);
}

/** Messages name the file and the line. */
export function parseFile(text: string, file: string): Partial<Settings> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [error] = document.errors;
  if (error !== undefined) {
    const { line } = lines.linePos(error.pos[0]);
    throw new SettingsError(`${file}:${line}: ${error.message.split("\n")[0]}`);
  }
  if (document.contents === null) return {};
  if (!isMap(document.contents))
    throw new SettingsError(`${file}:1: the file must be a map of settings`);
  const said: Record<string, unknown> = {};
  for (const { key, value } of document.contents.items) {
    const offset = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
    const where = `${file}:${lines.linePos(offset).line}`;
    const name = String(isScalar(key) ? key.value : key);
    if (!isKey(name)) {
      throw new SettingsError(
        `${where}: ${JSON.stringify(name)} is not a known key; ${nearest(name)}`,
      );
    }
    const plain = (value as { toJSON?: () => unknown } | null)?.toJSON?.() ?? null;
    said[name] = checked(name, plain, where);
  }
  return said;
}

function nearest(name: string): string {
  const like = KEYS.find((key) => key.startsWith(name.slice(0, 5)) || key.endsWith(name.slice(-6)));
  return like === undefined ? `known are ${KEYS.join(", ")}` : `did you mean ${like}?`;
}
