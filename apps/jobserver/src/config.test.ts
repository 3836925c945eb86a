import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, readConfig } from "./config.ts";

const DEFAULTS: Config = {
  isPriorityOn: true,
  tiers: [
    { name: "fast", capacity: 1000 },
    { name: "slow", capacity: 5000 },
  ],
  sizing: "fixed",
  endpoint: undefined,
  refreshMs: 900_000,
  workerIds: undefined,
  hasDummyData: false,
  match: "exact",
  slowShare: 0,
  maxWaitMs: 0,
  submitterShare: 0.5,
  workers: { min: 10, max: 10 },
  typeLimits: [],
  timeoutMs: 300_000,
  isolation: "thread",
  nice: 10,
  heapMib: 1024,
  results: { jobs: 1000, ms: 600_000 },
  callbackHosts: [],
  dir: "./data",
  host: "127.0.0.1",
  port: 8080,
  apiKey: undefined,
  logLevel: "info",
};

test("without a variable everything has its documented default", () => {
  assert.deepEqual(readConfig({}), DEFAULTS);
});

test("a variable that is empty is as good as none", () => {
  const empty = { MAX_JOBS: "", API_KEY: " ", PRIORITY_TIERS: "", LISTEN_ADDRESS: "" };
  assert.deepEqual(readConfig(empty), DEFAULTS);
});

// Each variable alone: what it changes, and nothing else.
const READ: readonly [name: string, value: string, change: Partial<Config>][] = [
  [
    "ENABLE_PRIORITY_QUEUE",
    "false",
    { isPriorityOn: false, tiers: [{ name: "slow", capacity: 6000 }] },
  ],
  [
    "FAST_QUEUE_SIZE",
    "7",
    {
      tiers: [
        { name: "fast", capacity: 7 },
        { name: "slow", capacity: 5000 },
      ],
    },
  ],
  [
    "SLOW_QUEUE_SIZE",
    "8",
    {
      tiers: [
        { name: "fast", capacity: 1000 },
        { name: "slow", capacity: 8 },
      ],
    },
  ],
  [
    "PRIORITY_TIERS",
    "vip:500, fast:1000,slow:5000",
    {
      tiers: [
        { name: "vip", capacity: 500 },
        { name: "fast", capacity: 1000 },
        { name: "slow", capacity: 5000 },
      ],
    },
  ],
  [
    "EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT",
    "http://10.0.0.1:9/list",
    { endpoint: new URL("http://10.0.0.1:9/list") },
  ],
  ["PRIORITY_REFRESH_INTERVAL_SECONDS", "60", { refreshMs: 60_000 }],
  ["PRIORITY_WORKER_IDS", "a, b", { workerIds: ["a", "b"] }],
  ["PRIORITY_DUMMY_DATA", "true", { hasDummyData: true }],
  ["PRIORITY_MATCH", "host", { match: "host" }],
  ["PRIORITY_SLOW_SHARE", "0.25", { slowShare: 0.25 }],
  ["PRIORITY_MAX_WAIT_SECONDS", "30", { maxWaitMs: 30_000 }],
  ["PRIORITY_SUBMITTER_SHARE", "1", { submitterShare: 1 }],
  ["MAX_JOBS", "3", { workers: { min: 3, max: 3 } }],
  ["MAX_JOBS_MAX", "30", { workers: { min: 10, max: 30 } }],
  [
    "JOB_TYPE_LIMITS",
    "http-get:4,echo:100",
    {
      typeLimits: [
        ["http-get", 4],
        ["echo", 100],
      ],
    },
  ],
  ["JOB_TIMEOUT_SECONDS", "5", { timeoutMs: 5_000 }],
  ["JOB_ISOLATION", "process", { isolation: "process" }],
  ["JOB_NICE", "0", { nice: 0 }],
  ["CALLBACK_HOSTS", "10.0.0.1:9000, hooks", { callbackHosts: ["10.0.0.1:9000", "hooks"] }],
  ["JOB_MEMORY_MB", "64", { heapMib: 64 }],
  ["RESULT_CACHE_MAX_SIZE", "2", { results: { jobs: 2, ms: 600_000 } }],
  ["RESULT_CACHE_MAX_AGE_SECONDS", "2", { results: { jobs: 1000, ms: 2_000 } }],
  ["DATA_DIR", "/var/jobs", { dir: "/var/jobs" }],
  ["LISTEN_ADDRESS", "[::1]:9000", { host: "::1", port: 9000 }],
  ["LISTEN_ADDRESS", ":9000", { port: 9000 }],
  ["API_KEY", "k".repeat(32), { apiKey: "k".repeat(32) }],
  ["LOG_LEVEL", "debug", { logLevel: "debug" }],
  ["QUEUE_SIZING", "auto", { sizing: "auto" }],
];
for (const [name, value, change] of READ) {
  test(`${name}=${value} is read`, () => {
    assert.deepEqual(readConfig({ [name]: value }), { ...DEFAULTS, ...change });
  });
}

const REFUSED: readonly [name: string, value: string][] = [
  ["ENABLE_PRIORITY_QUEUE", "maybe"],
  ["FAST_QUEUE_SIZE", "0"],
  ["FAST_QUEUE_SIZE", "10.5"],
  ["SLOW_QUEUE_SIZE", "-1"],
  ["SLOW_QUEUE_SIZE", "1e3"],
  ["PRIORITY_TIERS", "vip"],
  ["PRIORITY_TIERS", "vip:0"],
  ["PRIORITY_TIERS", "vip:1,vip:2"],
  ["PRIORITY_TIERS", Array.from({ length: 17 }, (_, i) => `t${i}:1`).join(",")],
  ["EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT", "ftp://x"],
  ["EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT", "nowhere"],
  ["PRIORITY_REFRESH_INTERVAL_SECONDS", "0"],
  ["PRIORITY_WORKER_IDS", "a,,b"],
  ["PRIORITY_DUMMY_DATA", "2"],
  ["PRIORITY_MATCH", "prefix"],
  ["PRIORITY_SLOW_SHARE", "1.1"],
  ["PRIORITY_SLOW_SHARE", "half"],
  ["PRIORITY_MAX_WAIT_SECONDS", "-1"],
  ["PRIORITY_SUBMITTER_SHARE", "2"],
  ["MAX_JOBS", "0"],
  ["MAX_JOBS_MAX", "9"],
  ["JOB_TYPE_LIMITS", "echo"],
  ["JOB_TIMEOUT_SECONDS", "0"],
  ["JOB_ISOLATION", "container"],
  ["JOB_NICE", "20"],
  ["CALLBACK_HOSTS", "http://10.0.0.1"],
  ["JOB_MEMORY_MB", "15"],
  ["RESULT_CACHE_MAX_SIZE", "x"],
  ["RESULT_CACHE_MAX_AGE_SECONDS", "0"],
  ["LISTEN_ADDRESS", "localhost"],
  ["LISTEN_ADDRESS", "localhost:65536"],
  ["LOG_LEVEL", "loud"],
  ["QUEUE_SIZING", "elastic"],
];
for (const [name, value] of REFUSED) {
  test(`${name}=${value.slice(0, 30)} is refused by name and value`, () => {
    assert.throws(
      () => readConfig({ [name]: value }),
      (error: Error) => {
        assert.equal(error.name, "BadVariable");
        assert.ok(error.message.startsWith(`${name} must be `), error.message);
        assert.ok(error.message.includes(JSON.stringify(value)), error.message);
        return true;
      },
    );
  });
}

for (const size of ["FAST_QUEUE_SIZE", "SLOW_QUEUE_SIZE"]) {
  test(`PRIORITY_TIERS beside ${size} is an error`, () => {
    const both = { PRIORITY_TIERS: "a:1,b:2", [size]: "5" };
    assert.throws(() => readConfig(both), { name: "BadVariable", variable: "PRIORITY_TIERS" });
  });
}
