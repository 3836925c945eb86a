/**
 * The options of a broker and its server. A row is an option of the library by its own name. As a
 * flag its words are joined by dashes (`--payload-memory-bytes`), in the environment they are
 * `SLUICE_PAYLOAD_MEMORY_BYTES`, and a file of YAML has the name as it is.
 */
import { duration } from "../duration.ts";
import {
  type AnsweredFields,
  type Fields,
  fields,
  type GivenFields,
  type ParsedFields,
} from "../fields.ts";
import { COUNT, FLAG, integer, invalid, type Kind, kind, list, number, oneOf } from "../kinds.ts";

const MIB = 1024 * 1024;

const BYTES_MAX = Number.MAX_SAFE_INTEGER;

/** A payload is read and written in one piece. */
const PAYLOAD_BYTES_MAX = 16 * MIB;

/** 16 MiB of payload in base64, and some room for its options. */
const BODY_BYTES_MAX = 24 * MIB;

const NAMES_MAX = 1000;
const PORT_MAX = 65_535;
const RATE_MAX = 1e9;

/** Longer is no drop: and beyond 24 days a timer would fire at once. */
const RESUME_MS_MAX = 3_600_000;

const WORD: Kind<string> = kind(
  "a text that is not empty",
  { type: "string", minLength: 1 },
  (value) => {
    return typeof value === "string" && value !== "";
  },
);

const WORDS = list(WORD, NAMES_MAX);

/** Of something in a second. */
const RATE = number(1e-6, RATE_MAX);

const bytes = (max = BYTES_MAX): Kind<number> => integer(1, max);

/** The options of a broker, in a process of its own or within a server. */
export const BROKER_OPTIONS = {
  payloadBytesMax: {
    kind: bytes(PAYLOAD_BYTES_MAX),
    default: MIB,
    text: "The largest payload; put larger data into an object store.",
  },
  payloadMemoryBytes: {
    kind: bytes(),
    default: 256 * MIB,
    text: "Memory for payloads; beyond it, they are read from the log.",
  },
  unsyncedBytesMax: {
    kind: bytes(),
    default: 32 * MIB,
    text: "Bytes that may wait for the log to store them; beyond that, adds wait.",
  },
  segmentBytes: {
    kind: bytes(),
    default: 64 * MIB,
    text: "How much the log may take beyond twice its live data.",
  },
  queuesMax: {
    kind: COUNT,
    default: 10_000,
    text: "The most queues; each takes about 10 kB of memory.",
  },
  keptJobsMax: {
    kind: integer(0, Number.MAX_SAFE_INTEGER),
    default: 100_000,
    text: "Ended jobs that all queues keep together; the oldest are deleted first.",
  },
  keptResultBytesMax: {
    kind: bytes(),
    default: 64 * MIB,
    text: "Results of ended jobs that all queues keep together, in memory.",
  },
  keptPayloadBytesMax: {
    kind: bytes(),
    default: 1024 * MIB,
    text: "Payloads of ended jobs that all queues keep together, in the log.",
  },
  cooldownMax: {
    kind: duration(),
    as: "cooldownMaxMs",
    default: "1h",
    text: "The longest cooldown that a failed job can set on a gate; longer ones are cut.",
  },
} as const satisfies Fields;

export interface BrokerSettings extends GivenFields<typeof BROKER_OPTIONS> {}
export type BrokerLimits = ParsedFields<typeof BROKER_OPTIONS>;

const BROKER = fields(BROKER_OPTIONS);

/** Reads the options of a broker among others; those that are not given have their defaults. */
export function parseBroker(field: string, options: object): BrokerLimits {
  return BROKER.parse(field, among(BROKER_OPTIONS, options));
}

/** The given options that are rows of a table. */
export function among<F extends Fields>(rows: F, options: object): GivenFields<F> {
  const given = Object.entries(options).filter(([name]) => Object.hasOwn(rows, name));
  return Object.fromEntries(given) as GivenFields<F>;
}

/** Bounds on what comes over the network, which an operator may change. */
export const LIMIT_OPTIONS = {
  bodyBytesMax: {
    kind: bytes(BODY_BYTES_MAX),
    default: 16 * MIB + 64 * 1024,
    text: "The largest body of a request (413): a payload of 16 MiB and its options.",
  },
  bodiesBytesMax: {
    kind: bytes(),
    default: 128 * MIB,
    text: "Bytes of all bodies in progress (429).",
  },
  connectionsMax: {
    kind: COUNT,
    default: 10_000,
    text: "The most open connections; further ones are closed.",
  },
  connectionsPerAddressMax: {
    kind: COUNT,
    default: 100,
    text: "The most open connections from one address; local ones are exempt for proxies.",
  },
  headersTimeout: {
    kind: duration(1),
    as: "headersTimeoutMs",
    default: "10s",
    text: "Time to receive all headers of a request (408).",
  },
  requestTimeout: {
    kind: duration(1),
    as: "requestTimeoutMs",
    default: "30s",
    text: "Time to receive a whole request with its body (408).",
  },
  idleTimeout: {
    kind: duration(1),
    as: "idleTimeoutMs",
    default: "5s",
    text: "How long an idle connection stays open.",
  },
  requestsPerConnectionMax: {
    kind: COUNT,
    default: 100_000,
    text: "The most requests on one connection; it is closed after the last one.",
  },
  requestsPerSecond: {
    kind: RATE,
    text: "Requests per second of one key (429), unless the key has a limit of its own.",
  },
  addsPerSecond: {
    kind: RATE,
    text: "Jobs added per second, over all queues; further ones get 429.",
  },
  eventStreamsMax: {
    kind: COUNT,
    default: 100,
    text: "Readers of events at once (429); each gets every event.",
  },
  keyFailuresPerMinute: {
    kind: RATE,
    default: 10,
    text: "Wrong keys per minute from one address (429); valid keys still pass.",
  },
} as const satisfies Fields;

export interface LimitSettings extends GivenFields<typeof LIMIT_OPTIONS> {}
export type ServerLimits = ParsedFields<typeof LIMIT_OPTIONS>;

const LIMITS = fields(LIMIT_OPTIONS, ({ bodyBytesMax, bodiesBytesMax }, field) => {
  if (bodiesBytesMax >= 2 * bodyBytesMax) return;
  const wanted = `at least twice bodyBytesMax (${2 * bodyBytesMax})`;
  throw invalid(`${field}.bodiesBytesMax`, wanted, bodiesBytesMax);
});

export function parseLimits(limits: unknown = {}): ServerLimits {
  return LIMITS.parse("limits", limits);
}

const DURABILITY = oneOf(["fsync", "os", "memory"]);

export const RESUME = duration(0, RESUME_MS_MAX);

/** More hold no more connections: what they bring is one thread's work. */
const THREADS_MAX = 64;

const THREADS = integer(1, THREADS_MAX);

/** The options of `sluice serve`. */
export const SERVER_OPTIONS = {
  dir: { kind: WORD, default: "./data", text: "The directory of the data." },
  log: {
    kind: WORD,
    text: "A PostgreSQL database that stores the data instead of `dir`: `postgres://user@host/database`.",
  },
  postgres: {
    kind: WORD,
    text: "A PostgreSQL database with an outbox (`sluice postgres install`): jobs added in its transactions are moved here.",
  },
  port: {
    kind: integer(0, PORT_MAX),
    default: 7070,
    text: "The port to listen on; 0 for any free one.",
  },
  host: {
    kind: WORD,
    default: "127.0.0.1",
    text: "The address to listen on; by default only this machine can reach it.",
  },
  threads: {
    kind: THREADS,
    default: 1,
    text: "Threads of the server: the first has the jobs, each further one holds connections.",
  },
  durability: {
    kind: DURABILITY,
    default: "fsync",
    text: "`fsync` survives a power loss, `os` a crash of the process, `memory` neither.",
  },
  keys: {
    kind: FLAG,
    text: "Require an API key from every caller; the first key is printed once.",
  },
  rootKey: {
    kind: WORD,
    text: "A key of your own with all rights; set it in the environment, not as a flag.",
  },
  insecure: { kind: FLAG, text: "Allow an address that others can reach without keys." },
  tlsCert: { kind: WORD, text: "File with the certificate (PEM)." },
  tlsKey: { kind: WORD, text: "File with its key (PEM)." },
  tlsCa: {
    kind: WORD,
    text: "File with the authority for clients (PEM): each must show a certificate that it signed.",
  },
  allowHosts: {
    kind: WORDS,
    text: "Host names that the server answers to, besides its addresses.",
  },
  allowOrigins: { kind: WORDS, text: "Origins of web pages that may call the server." },
  webhookHosts: {
    kind: WORDS,
    text: "Webhook hosts that may be private or on any port: 10.0.0.5:8080. Others must be public.",
  },
  resume: {
    kind: RESUME,
    default: "2s",
    text: "How long a worker keeps its leases after its connection is lost.",
  },
  ...BROKER_OPTIONS,
  ...LIMIT_OPTIONS,
  cluster: {
    kind: WORD,
    text: "Run as a node of a cluster on NATS servers, `nats://a,b,c`, or in PostgreSQL, `postgres://host/database`.",
  },
  clusterName: {
    kind: WORD,
    default: "sluice",
    text: "The name of the cluster, as several can share these servers.",
  },
  natsCreds: { kind: WORD, text: "File with the credentials for NATS (a JWT and its key)." },
  natsNkey: { kind: WORD, text: "File with the seed of an NKEY for NATS." },
  natsDomain: { kind: WORD, text: "The JetStream domain in which the cluster is." },
  natsApiPrefix: {
    kind: WORD,
    text: "The prefix under which the account imports JetStream, instead of `$JS.API`.",
  },
  natsCa: {
    kind: WORD,
    text: "File with the authority for the NATS servers (PEM); they must then use TLS.",
  },
  natsCert: { kind: WORD, text: "File with the client certificate for NATS (PEM)." },
  natsKey: { kind: WORD, text: "File with its key (PEM)." },
  node: { kind: WORD, reckoned: "machine and port", text: "This node's name in the cluster." },
  advertise: {
    kind: WORD,
    reckoned: "where it listens",
    text: "The address at which other nodes reach this one.",
  },
  peerCa: {
    kind: WORD,
    reckoned: "`tlsCa`",
    text: "File with the authority for the other nodes (PEM).",
  },
  allowUntestedNats: {
    kind: FLAG,
    text: "Accept a nats-server that is older than those that passed the fault tests.",
  },
  logLevel: {
    kind: oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    default: "info",
    text: "How much the server logs, on standard error.",
  },
} as const satisfies Fields;

/** The options that are given, each parsed: a duration is milliseconds. */
export type ServerSettings = Readonly<Partial<AnsweredFields<typeof SERVER_OPTIONS>>>;

/** `payloadMemoryBytes` as a flag: `payload-memory-bytes`. */
export function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function variableOf(name: string): string {
  return `SLUICE_${flagOf(name).replaceAll("-", "_").toUpperCase()}`;
}
