/**
 * The settings of the service, from four places, the later over the earlier: defaults, a YAML file,
 * the environment (`TORZNAB_*`), the flags of the command. None is needed to start.
 */
import { DEADLINE_MS_MAX, RESPONSE_BYTES_MAX } from "../limits.ts";
import { bool, durationMs, fieldsOf, invalid, positiveMs, scalar, text, whole } from "./fields.ts";
import { type HostInput, parseHost } from "./host-input.ts";
import { address, type IndexerInput, keyOf, parseIndexer } from "./indexer-input.ts";

export interface Settings {
  dir: string;
  /** Holds the key that seals secrets. Default `torznab.key` in `dir`. */
  keyFile: string | undefined;
  host: string;
  port: number;
  /** What clients must say to use the service; without one, only this machine may. */
  apiKey: string | undefined;
  /** Serve other machines without a key. */
  insecure: boolean;
  /** Where clients reach the service, when that is not the address that they call. */
  publicUrl: string | undefined;
  requestTimeoutMs: number;
  /** How long a search of each priority may take, unless the caller says. */
  interactiveDeadlineMs: number;
  rssDeadlineMs: number;
  completionDeadlineMs: number;
  backgroundDeadlineMs: number;
  cacheTtlMs: number;
  history: number;
  workers: number;
  responseBytesMax: number;
  indexers: IndexerInput[];
  /** Limits that the indexers of a host share. */
  hosts: HostInput[];
}

const DEFAULTS: Settings = {
  dir: "./torznab-data",
  keyFile: undefined,
  host: "127.0.0.1",
  port: 9797,
  apiKey: undefined,
  insecure: false,
  publicUrl: undefined,
  requestTimeoutMs: 30_000,
  interactiveDeadlineMs: 45_000,
  rssDeadlineMs: 60_000,
  completionDeadlineMs: DEADLINE_MS_MAX,
  backgroundDeadlineMs: 600_000,
  cacheTtlMs: 600_000,
  history: 500,
  workers: 10,
  responseBytesMax: RESPONSE_BYTES_MAX,
  indexers: [],
  hosts: [],
};

/** Long enough that it cannot be guessed by trying. */
const API_KEY_MIN = 32;

type Reader = (field: string, value: unknown) => Partial<Settings>;

/** By name, as in the file; in the environment `cacheTtl` is `TORZNAB_CACHE_TTL`. */
const READERS: Readonly<Record<string, Reader>> = {
  dir: (field, value) => ({ dir: text(field, value, 4_096) }),
  keyFile: (field, value) => ({ keyFile: text(field, value, 4_096) }),
  listen: (field, value) => listenOf(field, value),
  apiKey: (field, value) => ({ apiKey: apiKeyOf(field, value) }),
  insecure: (field, value) => ({ insecure: bool(field, value) }),
  publicUrl: (field, value) => ({ publicUrl: address(field, value).url.replace(/\/+$/, "") }),
  requestTimeout: (field, value) => ({ requestTimeoutMs: positiveMs(field, value, 600_000) }),
  interactiveDeadline: (field, value) => ({ interactiveDeadlineMs: deadlineMs(field, value) }),
  rssDeadline: (field, value) => ({ rssDeadlineMs: deadlineMs(field, value) }),
  completionDeadline: (field, value) => ({ completionDeadlineMs: deadlineMs(field, value) }),
  backgroundDeadline: (field, value) => ({ backgroundDeadlineMs: deadlineMs(field, value) }),
  cacheTtl: (field, value) => ({ cacheTtlMs: durationMs(field, value, 86_400_000) }),
  history: (field, value) => ({ history: whole(field, value, 0, 100_000) }),
  workers: (field, value) => ({ workers: whole(field, value, 1, 1_000) }),
  responseBytesMax: (field, value) => ({
    responseBytesMax: whole(field, value, 1_024, RESPONSE_BYTES_MAX),
  }),
};

const LISTS = ["indexers", "hosts"];
const FILE_FIELDS = [...Object.keys(READERS), ...LISTS];

/** `file` is what the YAML said, `flags` the settings given on the command line, by name. */
export function parseSettings(
  file: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, unknown>> = {},
): Settings {
  const settings = { ...DEFAULTS };
  const given = fieldsOf("settings", file ?? {}, FILE_FIELDS);
  for (const [name, value] of Object.entries(given)) {
    if (!LISTS.includes(name)) Object.assign(settings, READERS[name]!(name, value));
  }
  settings.indexers = indexersOf(given.indexers, environment);
  settings.hosts = hostsOf(given.hosts);
  for (const [name, read] of Object.entries(READERS)) {
    const variable = `TORZNAB_${snake(name)}`;
    const value = environment[variable];
    if (value !== undefined && value !== "") Object.assign(settings, read(variable, value));
  }
  for (const [name, value] of Object.entries(flags)) {
    if (value !== undefined) Object.assign(settings, READERS[name]!(`--${kebab(name)}`, value));
  }
  refuseOpenDoor(settings);
  return settings;
}

/** Variables that look like settings and are none: a misspelt one would pass in silence. */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const known = new Set(Object.keys(READERS).map((name) => `TORZNAB_${snake(name)}`));
  const isKey = (name: string) => /^TORZNAB_INDEXER_\w+_API_KEY$/.test(name);
  return Object.keys(environment).filter(
    (name) => name.startsWith("TORZNAB_") && !known.has(name) && !isKey(name),
  );
}

function deadlineMs(field: string, value: unknown): number {
  return positiveMs(field, value, DEADLINE_MS_MAX);
}

/** Keys may stay out of the file: that of my-tracker is `TORZNAB_INDEXER_MY_TRACKER_API_KEY`. */
function indexersOf(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
): IndexerInput[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("indexers", "a list", value);
  const inputs = value.map((item, index) => parseIndexer(`indexers[${index}]`, item));
  const ids = new Set<string>();
  for (const [index, input] of inputs.entries()) {
    if (ids.has(input.id)) throw invalid(`indexers[${index}].id`, "used once", input.id);
    ids.add(input.id);
    const variable = `TORZNAB_INDEXER_${input.id.toUpperCase().replaceAll("-", "_")}_API_KEY`;
    const key = environment[variable];
    if (key !== undefined) input.apiKey = keyOf(variable, key);
  }
  return inputs;
}

function hostsOf(value: unknown): HostInput[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid("hosts", "a list", value);
  const inputs = value.map((item, index) => parseHost(`hosts[${index}]`, item));
  const names = new Set<string>();
  for (const [index, { host }] of inputs.entries()) {
    if (names.has(host)) throw invalid(`hosts[${index}].host`, "used once", host);
    names.add(host);
  }
  return inputs;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function refuseOpenDoor({ host, apiKey, insecure }: Settings): void {
  if (isLoopback(host) || apiKey !== undefined || insecure) return;
  const wanted = "a loopback address unless apiKey is set (or insecure is true)";
  throw invalid("listen", wanted, host);
}

function listenOf(field: string, value: unknown): Partial<Settings> {
  const [, host, port] = /^(?:(\[[^\]]+\]|[^:]*):)?(\d{1,5})$/.exec(scalar(value)) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw invalid(field, "an address such as 127.0.0.1:9797, or a port", value);
  }
  const plain = host?.replace(/^\[|\]$/g, "");
  return { port: Number(port), ...(plain ? { host: plain } : {}) };
}

function apiKeyOf(field: string, value: unknown): string {
  if (typeof value === "string" && value.length >= API_KEY_MIN && value.length <= 512) return value;
  throw invalid(field, `a text of ${API_KEY_MIN} to 512 characters`, value);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
