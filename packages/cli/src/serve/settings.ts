/**
 * The settings of the server. The same names in a file, in the environment and on the command line;
 * what is said closer to the command wins.
 */
import { readFileSync } from "node:fs";
import { SluiceError } from "@sluice/protocol";
import { parse } from "yaml";
import { type Call, Misuse, type Options, textOf } from "../command.ts";
import { NATS_FILES, type NatsFiles } from "../nats-address.ts";

type Kind = "text" | "number" | "flag" | "list";

interface Setting {
  readonly kind: Kind;
  readonly text: string;
}

const NATS = {
  "nats-creds": { kind: "text", text: NATS_FILES["nats-creds"] },
  "nats-ca": { kind: "text", text: NATS_FILES["nats-ca"] },
  "nats-cert": { kind: "text", text: NATS_FILES["nats-cert"] },
  "nats-key": { kind: "text", text: NATS_FILES["nats-key"] },
} as const satisfies Readonly<Record<keyof NatsFiles, Setting>>;

/** By their names on the command line; `--adds-per-second` is SLUICE_ADDS_PER_SECOND. */
const SETTINGS = {
  dir: { kind: "text", text: "where the data lies (default ./data)" },
  port: { kind: "number", text: "default 7070; 0: any that is free" },
  host: { kind: "text", text: "default 127.0.0.1: only this machine can reach it" },
  durability: { kind: "text", text: "fsync (default), os or memory" },
  keys: { kind: "flag", text: "ask every caller for an API key; the first is printed once" },
  "root-key": {
    kind: "text",
    text: "one more key that may do everything (better: SLUICE_ROOT_KEY)",
  },
  insecure: { kind: "flag", text: "serve an address that others can reach without keys" },
  "tls-cert": { kind: "text", text: "file with the certificate (PEM)" },
  "tls-key": { kind: "text", text: "file with its key (PEM)" },
  "tls-ca": { kind: "text", text: "file with who signs clients: they must show a certificate" },
  "allow-host": { kind: "list", text: "a name that it answers to beside its addresses (repeat)" },
  "allow-origin": { kind: "list", text: "an origin whose pages may call it (repeat)" },
  "adds-per-second": { kind: "number", text: "take no more jobs than this; the rest gets 429" },
  "requests-per-second": { kind: "number", text: "of one key" },
  "payload-memory": { kind: "number", text: "bytes of payloads held in memory (default 256 MiB)" },
  "cooldown-max-ms": {
    kind: "number",
    text: "the longest cooldown that a failed job can ask for (default 3600000)",
  },
  "queues-max": { kind: "number", text: "queues that may be made (default 10,000)" },
  "resume-ms": { kind: "number", text: "how long a lost worker keeps its jobs (default 2000)" },
  cluster: { kind: "text", text: "be a node of a cluster on these NATS servers: nats://a,b,c" },
  "cluster-name": { kind: "text", text: "which of several on these servers (default sluice)" },
  ...NATS,
  node: { kind: "text", text: "this node's name in the cluster (default: machine and port)" },
  advertise: { kind: "text", text: "where others reach this node (default: where it listens)" },
  "peer-ca": { kind: "text", text: "file with who signs the other nodes (default: --tls-ca)" },
  partitions: { kind: "number", text: "of a new cluster (default 12); it cannot be changed" },
  replicas: { kind: "number", text: "copies that NATS keeps (default 3 in a NATS cluster)" },
  "log-level": { kind: "text", text: "fatal, error, warn, info (default), debug, trace or silent" },
} as const satisfies Readonly<Record<string, Setting>>;

type Name = keyof typeof SETTINGS;
type ValueOf<K extends Kind> = K extends "text"
  ? string
  : K extends "number"
    ? number
    : K extends "flag"
      ? boolean
      : readonly string[];

export type ServeSettings = { readonly [N in Name]?: ValueOf<(typeof SETTINGS)[N]["kind"]> };

const NAMES = Object.keys(SETTINGS) as readonly Name[];

export const SERVE_OPTIONS: Options = {
  config: { type: "string" },
  ...Object.fromEntries(
    NAMES.map((name) => {
      const { kind } = SETTINGS[name];
      const type = kind === "flag" ? "boolean" : "string";
      return [name, { type, multiple: kind === "list" }];
    }),
  ),
};

const WIDTH = 23;

export const SERVE_USAGE = [
  ...NAMES.map((name) => `  --${name}`.padEnd(WIDTH + 2) + SETTINGS[name].text),
  `${"  --config FILE".padEnd(WIDTH + 2)}the same names in YAML; the environment has them as SLUICE_PORT`,
].join("\n");

export function serveSettings(call: Call): ServeSettings {
  const path = textOf(call, "config") ?? call.env.SLUICE_CONFIG;
  const file = path === undefined ? {} : readFile(path);
  const found: Record<string, unknown> = {};
  for (const name of NAMES) {
    const variable = `SLUICE_${name.toUpperCase().replaceAll("-", "_")}`;
    const inFile = file[name];
    const value =
      given(name, call.values[name], `--${name}`) ??
      given(name, call.env[variable] || undefined, variable) ??
      given(name, inFile, `${path}: ${name}`);
    if (value !== undefined) found[name] = value;
  }
  return found as ServeSettings;
}

function readFile(path: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new SluiceError("INVALID", `${path} cannot be read: ${(error as Error).message}`);
  }
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
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(SETTINGS, name));
  if (unknown !== undefined) {
    const known = NAMES.join(", ");
    throw new SluiceError("INVALID", `${path}: ${unknown} is not known; known are ${known}`);
  }
  return value as Readonly<Record<string, unknown>>;
}

/** The value that one place gives a setting; refuses what cannot be, by the place's own name. */
function given(name: Name, value: unknown, where: string): unknown {
  if (value === undefined || value === null) return undefined;
  const { kind } = SETTINGS[name];
  const read = READ[kind](value);
  if (read !== undefined) return read;
  throw new Misuse(`${where} must be ${WANTED[kind]}, got ${JSON.stringify(value)}`);
}

const WANTED: Readonly<Record<Kind, string>> = {
  text: "a text",
  number: "a number of at least 0",
  flag: "true or false",
  list: "texts with commas between them",
};

const READ: Readonly<Record<Kind, (value: unknown) => unknown>> = {
  text: (value) => (typeof value === "string" && value !== "" ? value : undefined),
  number: (value) => {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    return typeof number === "number" && number >= 0 ? number : undefined;
  },
  flag: (value) => {
    if (typeof value === "boolean") return value;
    return value === "true" || value === "1"
      ? true
      : value === "false" || value === "0"
        ? false
        : undefined;
  },
  list: (value) => {
    const items = typeof value === "string" ? value.split(",").map((item) => item.trim()) : value;
    const isList = Array.isArray(items) && items.every((item) => typeof item === "string");
    return isList && !items.includes("") ? items : undefined;
  },
};
