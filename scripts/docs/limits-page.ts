// The reference of the limits: what callers can meet, with the values that the sources have.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { limitsIn } from "./limits-in.ts";

const PACKAGES = join(dirname(import.meta.dirname), "..", "packages");

const broker = limitsOf("broker");
const protocol = limitsOf("protocol");
const server = limitsOf("server");

/** The values of `limits.ts` of a package, which does not export all of them. */
function limitsOf(name: string): (limit: string) => number {
  const values = limitsIn(readFileSync(join(PACKAGES, name, "src", "limits.ts"), "utf8"));
  return (limit) => {
    const value = values.get(limit);
    if (value === undefined) throw new Error(`${name} has no ${limit}`);
    return value;
  };
}

const HEAD = `# Limits

<!-- Made by \`npm run docs\` from the sources. Do not edit. -->

Everything that comes from outside has a limit. What is beyond it is refused with a code and the limit in the message;
it is never cut or queued without bound. Limits that you can change are options: of [a queue](options.md#queues),
[the broker](options.md#opening) or [the server](configuration.md).
`;

type Row = readonly [what: string, most: string, about?: string];

const KIB = 1024;

/** 10000 as 10,000, and 1048576 as 1 MiB. */
const count = (value: number): string => value.toLocaleString("en-US");
const bytes = (value: number): string => {
  const powers = ["", " KiB", " MiB", " GiB"];
  let power = 0;
  let rest = value;
  for (; power < powers.length - 1 && rest >= KIB && rest % KIB === 0; power++) rest /= KIB;
  return power === 0 ? `${count(rest)} bytes` : `${count(rest)}${powers[power]}`;
};
const seconds = (ms: number): string => `${count(ms / 1000)} s`;

const JOBS: readonly Row[] = [
  ["payload", "1 MiB", "option `payloadBytesMax`, up to 16 MiB"],
  ["result", bytes(broker("RESULT_BYTES_MAX"))],
  ["headers", `${protocol("HEADERS_MAX")}, ${bytes(protocol("HEADERS_BYTES_MAX"))} in all`],
  ["names of queues, gates, groups, tiers", bytes(protocol("NAME_BYTES_MAX")), "`[A-Za-z0-9._:-]`"],
  ["fairness key, dedupe key", bytes(protocol("KEY_BYTES_MAX")), "each level of a path"],
  ["levels of a path", count(protocol("PATH_LEVELS_MAX"))],
  ["gates of a job", count(protocol("JOB_GATES_MAX"))],
  ["tiers of a queue", count(protocol("TIERS_MAX"))],
  ["weight, cost", count(protocol("WEIGHT_MAX"))],
  ["attempts", count(protocol("ATTEMPTS_MAX")), "option `retry.attempts`"],
  ["deliveries", count(protocol("DELIVERIES_MAX")), "option `retry.deliveries`"],
  ["lease", "24 hours", "a worker extends it"],
  ["delay, ttl and other durations", "ten years"],
  ["error text, stack", `${bytes(broker("ERROR_BYTES_MAX"))}, ${bytes(broker("STACK_BYTES_MAX"))}`],
  ["progress", bytes(broker("PROGRESS_BYTES_MAX")), "written to the log at most once a second"],
  ["lines of `job.log`", `${broker("LOG_LINES_MAX")} of ${bytes(broker("LOG_LINE_BYTES_MAX"))}`],
  ["operation id", bytes(broker("OPERATION_ID_BYTES_MAX"))],
];

const BROKER: readonly Row[] = [
  ["queues", "10,000", "option `queuesMax`; in a cluster of each partition"],
  [
    "jobs of a queue",
    "1,000,000",
    `option \`capacity\`, up to ${count(protocol("CAPACITY_JOBS_MAX"))}`,
  ],
  ["items of a batch", count(protocol("BATCH_MAX"))],
  ["payloads of an add under an operation id", bytes(broker("OPERATION_BYTES_MAX"))],
  ["adds that wait for room or for the log", count(broker("WAITING_ADDS_MAX")), "`RATE_LIMITED`"],
  ["items of a page", count(protocol("PAGE_MAX"))],
  ["value of a store or of the configuration", bytes(broker("STORE_VALUE_BYTES_MAX"))],
  ["weight rules of a queue", count(protocol("WEIGHT_RULES_MAX"))],
  ["windows of a gate", count(protocol("WINDOWS_MAX"))],
  ["rungs of a ladder", count(protocol("LADDER_RUNGS_MAX"))],
  ["rate, burst of a gate", count(protocol("RATE_MAX")), "the slowest rate is one in eleven days"],
  ["events that wait for one reader", count(protocol("EVENTS_WAITING_MAX")), "`RATE_LIMITED`"],
  ["actions on many jobs at once", count(broker("BULKS_RUNNING_MAX"))],
];

const FLOWS: readonly Row[] = [
  ["jobs that one job waits for", count(protocol("JOB_AFTER_MAX")), "`after` of an add"],
  ["the same in a flow", count(protocol("FLOW_AFTER_MAX"))],
  [
    "jobs of a flow in one call",
    count(protocol("FLOW_JOBS_MAX")),
    "open, fill and seal a larger one",
  ],
  ["steps of a job", count(protocol("STEPS_MAX"))],
  ["result of a step, value of a signal", bytes(protocol("STEP_VALUE_BYTES_MAX"))],
  ["times of a schedule", count(protocol("SCHEDULE_TIMES_MAX"))],
];

const HTTP: readonly Row[] = [
  ["body", bytes(server("BODY_BYTES_SMALL_MAX")), "of most routes"],
  ["body of adds, acks and nacks", "16.1 MiB", "option `bodyBytesMax`"],
  ["body of extend, give back, progress", bytes(server("LEASES_BODY_BYTES_MAX"))],
  ["body of a queue's settings", bytes(server("QUEUE_BODY_BYTES_MAX"))],
  [
    "all bodies at once",
    "128 MiB",
    "option `bodiesBytesMax`; a quarter is for bodies up to 64 KiB",
  ],
  ["headers", `${server("HEADERS_MAX")}, ${bytes(server("HEADER_BYTES_MAX"))} in all`],
  ["levels of nested values", count(server("JSON_DEPTH_MAX"))],
  ["jobs of a lease call", count(server("LEASE_MAX"))],
  ["payloads of a lease call", bytes(server("LEASE_PAYLOAD_BYTES_MAX"))],
  ["wait of a lease call", seconds(protocol("LEASE_WAIT_MS_MAX"))],
  ["connections", "10,000, 100 for an address", "options, as are timeouts and rates"],
  ["keys", count(server("KEYS_MAX"))],
  ["grants of a key, gates of a grant", `${server("GRANTS_MAX")}, ${server("GRANT_GATES_MAX")}`],
];

const STREAM: readonly Row[] = [
  [
    "streams",
    `${count(server("STREAMS_MAX"))}, ${count(server("STREAMS_PER_ADDRESS_MAX"))} for an address`,
  ],
  ["messages a second", count(server("MESSAGES_PER_SECOND_MAX"))],
  ["a frame, and a message", bytes(protocol("FRAME_BYTES_MAX"))],
  ["JSON of the requests in a message", bytes(protocol("JSON_BYTES_MAX"))],
  [
    "values, different names in it",
    `${count(protocol("JSON_VALUES_MAX"))}, ${count(protocol("JSON_NAMES_MAX"))}`,
  ],
  ["credits of a consumer", count(protocol("CREDITS_MAX"))],
  ["time to greet", seconds(server("HANDSHAKE_MS"))],
  ["silence", seconds(server("STREAM_HEARTBEAT_MS") * server("SILENCES_MAX"))],
];

const CLUSTER: readonly Row[] = [
  ["partitions", count(protocol("PARTITIONS_MAX"))],
  ["replicas", count(protocol("REPLICAS_MAX")), "JetStream's own limit"],
  [
    "streams to partitions from one address",
    count(server("PARTITION_STREAMS_PER_ADDRESS_MAX")),
    "counted beside those of clients",
  ],
];

const AFTER = `
## How the server treats what is beyond

- The body of a request is read after the address, the method and the key have been checked. Large bodies are parsed in
  slices, and other requests get their turn in between.
- A client that is too slow, or does not speak HTTP, gets its answer and one second to read it. Then the connection is
  destroyed.
- An add that waits for room in a full queue is withdrawn when its caller disconnects.
- A stream beyond the limit is refused with 429 at its upgrade.
- \`addsPerSecond\` is the brake for a server that is offered more than it should take: what it takes continues to work,
  and the rest costs little.

## Memory

From about 16,000 jobs, lanes or gates on, the engine reserves address space for 16 million rows of a table at once. The
system backs only the pages that are used: \`process.memoryUsage().arrayBuffers\` then shows gigabytes, \`rss\` shows what
is used. A gate under a pattern (one for each tenant) takes about 1.3 kB while its limits remember something.
`;

export function limitsPage(): string {
  const parts: readonly (readonly [string, readonly Row[]])[] = [
    ["Jobs", JOBS],
    ["Queues and gates", BROKER],
    ["Flows, steps, schedules", FLOWS],
    ["Requests over HTTP", HTTP],
    ["Stream", STREAM],
    ["Cluster", CLUSTER],
  ];
  const tables = parts.map(([title, rows]) => {
    const lines = rows.map(([what, most, about = ""]) => `| ${what} | ${most} | ${about} |`);
    return `\n## ${title}\n\n| what | at most | |\n|---|---|---|\n${lines.join("\n")}\n`;
  });
  return `${HEAD}${tables.join("")}${AFTER}`;
}
