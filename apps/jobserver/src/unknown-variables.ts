/** Finds variables that look like settings of the job server and are none. */
import type { Environment } from "./environment.ts";

export const KNOWN_VARIABLES: ReadonlySet<string> = new Set([
  "ENABLE_PRIORITY_QUEUE",
  "FAST_QUEUE_SIZE",
  "SLOW_QUEUE_SIZE",
  "PRIORITY_TIERS",
  "QUEUE_SIZING",
  "EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT",
  "PRIORITY_REFRESH_INTERVAL_SECONDS",
  "PRIORITY_WORKER_IDS",
  "PRIORITY_DUMMY_DATA",
  "PRIORITY_MATCH",
  "PRIORITY_SLOW_SHARE",
  "PRIORITY_MAX_WAIT_SECONDS",
  "PRIORITY_SUBMITTER_SHARE",
  "MAX_JOBS",
  "MAX_JOBS_MAX",
  "JOB_TYPE_LIMITS",
  "JOB_TIMEOUT_SECONDS",
  "JOB_ISOLATION",
  "JOB_NICE",
  "JOB_MEMORY_MB",
  "CALLBACK_HOSTS",
  "RESULT_CACHE_MAX_SIZE",
  "RESULT_CACHE_MAX_AGE_SECONDS",
  "DATA_DIR",
  "LISTEN_ADDRESS",
  "API_KEY",
  "LOG_LEVEL",
]);

/** The names have no prefix of their own, so only these beginnings are ours. */
const OURS =
  /^(ENABLE_PRIORITY|FAST_QUEUE|SLOW_QUEUE|QUEUE_SIZ|EXTERNAL_WORKER_ID|PRIORITY_|MAX_JOBS|JOB_TYPE|JOB_TIMEOUT|JOB_ISOLATION|JOB_NICE|JOB_MEMORY|CALLBACK_|RESULT_CACHE)/;

export function unknownVariables(env: Environment): string[] {
  return Object.keys(env).filter((name) => OURS.test(name) && !KNOWN_VARIABLES.has(name));
}
