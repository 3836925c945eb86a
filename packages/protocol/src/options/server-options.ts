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
    text: "The largest payload; larger things belong in a store of objects.",
  },
  payloadMemoryBytes: {
    kind: bytes(),
    default: 256 * MIB,
    text: "Memory for payloads; those beyond it are read back from the log.",
  },
  unsyncedBytesMax: {
    kind: bytes(),
    default: 32 * MIB,
    text: "Facts that may be written before the log has them; then adds wait.",
  },
  segmentBytes: {
    kind: bytes(),
    default: 64 * MIB,
    text: "What the log may hold beyond twice what lives in it.",
  },
  queuesMax: {
    kind: COUNT,
    default: 10_000,
    text: "Queues that may be made; each takes about 10 kB of memory.",
  },
  keptJobsMax: {
    kind: integer(0, Number.MAX_SAFE_INTEGER),
    default: 100_000,
    text: "Ended jobs that all queues keep together; the oldest are forgotten first.",
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
    text: "The longest cooldown of a gate that a failed job can ask for; longer ones are cut.",
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
    text: "One request's body (413): a payload of 16 MiB, and some room for its options.",
  },
  bodiesBytesMax: {
    kind: bytes(),
    default: 128 * MIB,
    text: "All bodies that are read or handled at once (429).",
  },
  connectionsMax: { kind: COUNT, default: 10_000, text: "Open connections; more are closed." },
  connectionsPerAddressMax: {
    kind: COUNT,
    default: 100,
    text: "Open connections from one address; local ones are exempt, as a proxy has many.",
  },
  headersTimeout: {
    kind: duration(1),
    as: "headersTimeoutMs",
    default: "10s",
    text: "Time for all headers of a request (408).",
  },
  requestTimeout: {
    kind: duration(1),
    as: "requestTimeoutMs",
    default: "30s",
    text: "Time for a whole request, body included (408).",
  },
  idleTimeout: {
    kind: duration(1),
    as: "idleTimeoutMs",
    default: "5s",
    text: "How long a connection may stay open with nothing to do.",
  },
  requestsPerConnectionMax: {
    kind: COUNT,
    default: 100_000,
    text: "Requests on one connection; it is closed after the last answer.",
  },
  requestsPerSecond: {
    kind: RATE,
    text: "Requests of one key (429), unless the key has a limit of its own.",
  },
  addsPerSecond: { kind: RATE, text: "Jobs that may be added in all; the rest gets 429." },
  eventStreamsMax: {
    kind: COUNT,
    default: 100,
    text: "Readers of events (429): each gets everything that happens.",
  },
  keyFailuresPerMinute: {
    kind: RATE,
    default: 10,
    text: "Wrong keys from one address (429); right ones go through.",
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

/** The options of `sluice serve`. */
export const SERVER_OPTIONS = {
  dir: { kind: WORD, default: "./data", text: "Where the data lies." },
  log: {
    kind: WORD,
    text: "A PostgreSQL database that holds the data in place of `dir`: `postgres://user@host/database`.",
  },
  postgres: {
    kind: WORD,
    text: "A PostgreSQL database with an outbox (`sluice postgres install`): jobs added in its transactions are moved here.",
  },
  port: { kind: integer(0, PORT_MAX), default: 7070, text: "Where it listens; 0: any free port." },
  host: {
    kind: WORD,
    default: "127.0.0.1",
    text: "The address to listen on; by default only this machine can reach it.",
  },
  durability: {
    kind: DURABILITY,
    default: "fsync",
    text: "`fsync` survives a power loss, `os` the end of the process, `memory` neither.",
  },
  keys: { kind: FLAG, text: "Ask every caller for an API key; the first is printed once." },
  rootKey: {
    kind: WORD,
    text: "One more key that may do everything; better in the environment than as a flag.",
  },
  insecure: { kind: FLAG, text: "Serve an address that others can reach without keys." },
  tlsCert: { kind: WORD, text: "File with the certificate (PEM)." },
  tlsKey: { kind: WORD, text: "File with its key (PEM)." },
  tlsCa: { kind: WORD, text: "File with who signs clients: they must show a certificate." },
  allowHosts: { kind: WORDS, text: "Names that it answers to beside its addresses." },
  allowOrigins: { kind: WORDS, text: "Origins whose pages may call it." },
  webhookHosts: {
    kind: WORDS,
    text: "Hosts of webhooks that may be private or on any port: 10.0.0.5:8080. Others are public.",
  },
  resume: {
    kind: RESUME,
    default: "2s",
    text: "How long the leases of a lost worker wait for it to return.",
  },
  ...BROKER_OPTIONS,
  ...LIMIT_OPTIONS,
  cluster: {
    kind: WORD,
    text: "Be a node of a cluster on NATS servers, `nats://a,b,c`, or in PostgreSQL, `postgres://host/database`.",
  },
  clusterName: {
    kind: WORD,
    default: "sluice",
    text: "Which of several clusters on these servers.",
  },
  natsCreds: { kind: WORD, text: "File with the credentials for NATS (a JWT and its key)." },
  natsNkey: { kind: WORD, text: "File with the seed of an NKEY for NATS." },
  natsDomain: { kind: WORD, text: "The JetStream domain in which the cluster is." },
  natsApiPrefix: {
    kind: WORD,
    text: "The prefix under which the account imports JetStream, in place of `$JS.API`.",
  },
  natsCa: {
    kind: WORD,
    text: "File with who signs the NATS servers, which must speak TLS then (PEM).",
  },
  natsCert: { kind: WORD, text: "File with the certificate that NATS servers are shown (PEM)." },
  natsKey: { kind: WORD, text: "File with its key (PEM)." },
  node: { kind: WORD, reckoned: "machine and port", text: "This node's name in the cluster." },
  advertise: {
    kind: WORD,
    reckoned: "where it listens",
    text: "Where others reach this node.",
  },
  peerCa: { kind: WORD, reckoned: "`tlsCa`", text: "File with who signs the other nodes." },
  allowUntestedNats: {
    kind: FLAG,
    text: "Run on a nats-server that is older than all that passed the fault tests.",
  },
  logLevel: {
    kind: oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
    default: "info",
    text: "What the server logs, on standard error.",
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
