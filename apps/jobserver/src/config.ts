/** The settings of the job server, by variables whose names and defaults are documented. */
import {
  addressOf,
  BadVariable,
  choiceOf,
  type Environment,
  flagOf,
  listOf,
  pairsOf,
  shareOf,
  textOf,
  wholeOf,
} from "./environment.ts";
import { TIERS_MAX, TIMEOUT_SECONDS_MAX } from "./limits.ts";

export interface TierSize {
  readonly name: string;
  readonly capacity: number;
}

export interface Config {
  readonly isPriorityOn: boolean;
  /** The most urgent first. */
  readonly tiers: readonly TierSize[];
  readonly sizing: "fixed" | "auto";
  readonly endpoint: URL | undefined;
  readonly refreshMs: number;
  readonly workerIds: readonly string[] | undefined;
  readonly hasDummyData: boolean;
  readonly match: "exact" | "host";
  /** Part of the dispatches that is kept for all tiers but the first. */
  readonly slowShare: number;
  /** A job moves up a tier after this long; 0: never. */
  readonly maxWaitMs: number;
  readonly submitterShare: number;
  readonly workers: { readonly min: number; readonly max: number };
  readonly typeLimits: readonly (readonly [type: string, count: number])[];
  readonly timeoutMs: number;
  /** Where the handlers of a user's module run. */
  readonly isolation: "thread" | "process";
  /** How much they yield to the server. */
  readonly nice: number;
  /** Memory of one of their threads or processes. */
  readonly heapMib: number;
  readonly results: { readonly jobs: number; readonly ms: number };
  /** Hosts that callbacks may go to though they are private. */
  readonly callbackHosts: readonly string[];
  readonly dir: string;
  readonly host: string;
  readonly port: number;
  readonly apiKey: string | undefined;
  readonly logLevel: LogLevel;
}

export type LogLevel = (typeof LOG_LEVELS)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;
const QUEUE_SIZE_MAX = 10_000_000;
const WORKERS_MAX = 10_000;
/** The least that the server takes as a key. */
const API_KEY_CHARS_MIN = 32;
/** The least urgent that Unix knows. */
const NICE_MAX = 19;
const HEAP_MIB_MAX = 1024 * 1024;
const YEAR_S = 365 * 24 * 3600;

/** Reads every variable by its name. Throws `BadVariable` for the first invalid value. */
export function readConfig(env: Environment): Config {
  const isPriorityOn = flagOf(env, "ENABLE_PRIORITY_QUEUE", true);
  const workers = wholeOf(env, "MAX_JOBS", 10, 1, WORKERS_MAX);
  const seconds = (name: string, absent: number, min: number, max: number): number =>
    wholeOf(env, name, absent, min, max) * 1000;
  return {
    isPriorityOn,
    tiers: tiersOf(env, isPriorityOn),
    sizing: choiceOf(env, "QUEUE_SIZING", "fixed", ["fixed", "auto"]),
    endpoint: endpointOf(env),
    refreshMs: seconds("PRIORITY_REFRESH_INTERVAL_SECONDS", 900, 1, YEAR_S),
    workerIds: listOf(env, "PRIORITY_WORKER_IDS"),
    hasDummyData: flagOf(env, "PRIORITY_DUMMY_DATA", false),
    match: choiceOf(env, "PRIORITY_MATCH", "exact", ["exact", "host"]),
    slowShare: shareOf(env, "PRIORITY_SLOW_SHARE", 0),
    maxWaitMs: seconds("PRIORITY_MAX_WAIT_SECONDS", 0, 0, YEAR_S),
    submitterShare: shareOf(env, "PRIORITY_SUBMITTER_SHARE", 0.5),
    workers: { min: workers, max: ceilingOf(env, workers) },
    typeLimits: pairsOf(env, "JOB_TYPE_LIMITS", WORKERS_MAX) ?? [],
    timeoutMs: seconds("JOB_TIMEOUT_SECONDS", 300, 1, TIMEOUT_SECONDS_MAX),
    isolation: choiceOf(env, "JOB_ISOLATION", "thread", ["thread", "process"]),
    nice: wholeOf(env, "JOB_NICE", 10, 0, NICE_MAX),
    heapMib: wholeOf(env, "JOB_MEMORY_MB", 1024, 16, HEAP_MIB_MAX),
    results: {
      jobs: wholeOf(env, "RESULT_CACHE_MAX_SIZE", 1000, 0, QUEUE_SIZE_MAX),
      ms: seconds("RESULT_CACHE_MAX_AGE_SECONDS", 600, 1, YEAR_S),
    },
    callbackHosts: hostsOf(env, "CALLBACK_HOSTS"),
    dir: textOf(env, "DATA_DIR") ?? "./data",
    ...listenOf(env),
    apiKey: apiKeyOf(env),
    logLevel: choiceOf(env, "LOG_LEVEL", "info", LOG_LEVELS),
  };
}

/** The value is a secret, so only its length is shown. */
function apiKeyOf(env: Environment): string | undefined {
  const key = textOf(env, "API_KEY");
  if (key === undefined || key.length >= API_KEY_CHARS_MIN) return key;
  const got = `${key.length} characters`;
  throw new BadVariable("API_KEY", `a text of at least ${API_KEY_CHARS_MIN} characters`, got);
}

function listenOf(env: Environment): { host: string; port: number } {
  const address = addressOf(env, "LISTEN_ADDRESS", { host: "127.0.0.1", port: 8080 });
  const isLoopback = /^(localhost|::1|127(\.\d{1,3}){3})$/.test(address.host);
  if (isLoopback || textOf(env, "API_KEY") !== undefined) return address;
  throw new BadVariable("LISTEN_ADDRESS", "a loopback address unless API_KEY is set", address.host);
}

/** `host` or `host:port`, as they are in a URL. */
function hostsOf(env: Environment, name: string): readonly string[] {
  return (listOf(env, name) ?? []).map((item) => {
    const url = URL.parse(`http://${item}`);
    if (url !== null && url.pathname === "/" && url.username === "") return url.host;
    throw new BadVariable(name, "host or host:port with commas between them", item);
  });
}

function tiersOf(env: Environment, isPriorityOn: boolean): readonly TierSize[] {
  const pairs = pairsOf(env, "PRIORITY_TIERS", QUEUE_SIZE_MAX);
  const given = ["FAST_QUEUE_SIZE", "SLOW_QUEUE_SIZE"].find((name) => textOf(env, name));
  if (pairs !== undefined && given !== undefined) {
    throw new BadVariable("PRIORITY_TIERS", `unset where ${given} is set`, env.PRIORITY_TIERS!);
  }
  if (pairs !== undefined && pairs.length > TIERS_MAX) {
    throw new BadVariable("PRIORITY_TIERS", `at most ${TIERS_MAX} tiers`, env.PRIORITY_TIERS!);
  }
  const tiers = pairs?.map(([name, capacity]) => ({ name, capacity })) ?? [
    { name: "fast", capacity: wholeOf(env, "FAST_QUEUE_SIZE", 1000, 1, QUEUE_SIZE_MAX) },
    { name: "slow", capacity: wholeOf(env, "SLOW_QUEUE_SIZE", 5000, 1, QUEUE_SIZE_MAX) },
  ];
  if (isPriorityOn) return tiers;
  // The legacy mode has one tier, as large as all of them were.
  const capacity = tiers.reduce((sum, tier) => sum + tier.capacity, 0);
  return [{ name: tiers.at(-1)!.name, capacity }];
}

function endpointOf(env: Environment): URL | undefined {
  const name = "EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT";
  const value = textOf(env, name);
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new BadVariable(name, "an http or https URL", value);
}

function ceilingOf(env: Environment, workers: number): number {
  const max = wholeOf(env, "MAX_JOBS_MAX", workers, 1, WORKERS_MAX);
  if (max >= workers) return max;
  throw new BadVariable("MAX_JOBS_MAX", `at least MAX_JOBS (${workers})`, String(max));
}
