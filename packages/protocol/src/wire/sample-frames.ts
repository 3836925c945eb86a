/** One of each kind of frame, for tests: what is written, and how it is read. */
import type { LeasedJob, NewJob } from "../job.ts";
import {
  type FrameReader,
  FrameWriter,
  KIND,
  readAcks,
  readAdded,
  readAnswer,
  readCall,
  readConsume,
  readCount,
  readError,
  readEvents,
  readExtends,
  readHello,
  readLease,
  readLeasedJobs,
  readNacks,
  readNewJobs,
  readOutcomes,
  readTokens,
  readWelcome,
  writeAcks,
  writeAdded,
  writeAnswer,
  writeCall,
  writeConsume,
  writeError,
  writeEvents,
  writeExtends,
  writeHello,
  writeLease,
  writeLeasedJob,
  writeNacks,
  writeNewJob,
  writeOutcomes,
  writeTokens,
  writeWelcome,
} from "./index.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const NEW_JOBS: readonly NewJob[] = [
  { payload: new Uint8Array(0) },
  { payload: bytes("x"), fairnessKey: "acme", gates: ["smtp", "tenant:acme"], weight: 2.5 },
  { payload: bytes("yy"), fairnessKey: ["acme", "ü-\ud800"], priority: 3, headers: { a: "ä" } },
  { payload: bytes("z"), delayMs: 5, dedupe: { key: "k", mode: "window", windowMs: 9 } },
  { payload: bytes("w"), priority: "urgent", weight: Number.NaN, fairnessKey: "k".repeat(300) },
];

const LEASED: LeasedJob = {
  id: "b1k",
  lease: "b1k.3",
  queue: "q",
  attempt: 2,
  attempts: 5,
  deliveries: 70_000,
  tier: 3,
  addedAt: 1_700_000_000_000.5,
  expiresAt: 1_700_000_030_000,
  expiresIn: 30_000,
  fairnessKey: "acme",
  headers: {},
  payload: bytes("payload"),
};

const LEASED_JOBS: readonly LeasedJob[] = [
  LEASED,
  { ...LEASED, fairnessKey: ["a", "b"], headers: JSON.parse('{ "__proto__": "1", "b": "2" }') },
];

const ERROR = { code: "QUEUE_FULL", message: "full", retryAfterMs: 7, details: { a: 1 } } as const;

export interface Sample {
  readonly name: string;
  readonly value: unknown;
  readonly write: (writer: FrameWriter) => void;
  readonly read: (reader: FrameReader) => unknown;
}

function sample<T>(
  name: string,
  value: T,
  write: (writer: FrameWriter, value: T) => void,
  read: (reader: FrameReader) => unknown,
): Sample {
  return { name, value, write: (writer) => write(writer, value), read };
}

const HELLO = {
  version: 1,
  apiKey: "secret",
  client: "test",
  session: "00ff",
  received: 12,
  isResumable: true,
};

const WELCOME = {
  version: 1,
  server: "sluice",
  session: "00ff",
  isResumed: true,
  received: 2 ** 40,
  resumeMs: 2000,
  heartbeatMs: 10_000,
};

/** Frames that write their own head. */
export const GREETINGS: readonly Sample[] = [
  sample("hello", HELLO, writeHello, readHello),
  sample("welcome", WELCOME, writeWelcome, readWelcome),
];

export const SAMPLES: readonly Sample[] = [
  sample(
    "add",
    NEW_JOBS,
    (writer, jobs) => {
      writer.u32(jobs.length);
      for (const job of jobs) writeNewJob(writer, job);
    },
    readNewJobs,
  ),
  sample(
    "deliver",
    LEASED_JOBS,
    (writer, jobs) => {
      writer.u32(jobs.length);
      for (const job of jobs) writeLeasedJob(writer, job);
    },
    (reader) => readLeasedJobs(reader, "q"),
  ),
  sample("ack", [{ lease: "a1.1" }, { lease: "x".repeat(300) }], writeAcks, readAcks),
  sample(
    "ack with results",
    [{ lease: "a" }, { lease: "b", result: bytes("r") }],
    writeAcks,
    readAcks,
  ),
  sample(
    "nack",
    [
      { lease: "a", error: "no", delayMs: 5, unrecoverable: true },
      { lease: "b", cooldown: { gate: "g", ms: 3 }, blame: ["h"] },
      { lease: "c", error: "no", stack: "at a\nat b", blame: false },
    ],
    writeNacks,
    readNacks,
  ),
  sample("give back", ["a", "b"], writeTokens, readTokens),
  sample("extend", [{ lease: "a", leaseMs: 5 }], writeExtends, readExtends),
  sample(
    "lease",
    { queue: "q", options: { max: 5, wait: 1, lease: 2, worker: "w" } },
    (writer, { queue, options }) => writeLease(writer, queue, options),
    readLease,
  ),
  sample(
    "consume",
    { queue: "q", options: { worker: "w", credits: -1, lease: 2 } },
    (writer, { queue, options }) => writeConsume(writer, queue, options),
    readConsume,
  ),
  sample(
    "consume from a place",
    {
      queue: "q",
      options: { worker: "w", credits: 1, place: { host: "h", process: 7, version: "0.1.0" } },
    },
    (writer, { queue, options }) => writeConsume(writer, queue, options),
    readConsume,
  ),
  sample(
    "added",
    [
      { ok: { id: "a1", tier: 3 } },
      { error: ERROR },
      { ok: { id: "", tier: 0, dropped: true as const } },
      { ok: { id: "a1", tier: 1, duplicate: true as const } },
    ],
    writeAdded,
    readAdded,
  ),
  sample(
    "outcomes",
    [{ ok: true }, { ok: false }, { ok: 5.5 }, { error: ERROR }],
    writeOutcomes,
    readOutcomes,
  ),
  sample("error", ERROR, writeError, readError),
  sample(
    "call",
    { name: "setQueue" as const, args: ["q", { paused: true }] },
    (writer, { name, args }) => writeCall(writer, name, args),
    readCall,
  ),
  sample(
    "answer with bytes",
    {
      items: [
        { id: "a", payload: bytes("p") },
        { id: "b", payload: bytes(""), result: bytes("r") },
      ],
    },
    (writer, answer) => writeAnswer(writer, "jobs", answer),
    (reader) => readAnswer(reader, "jobs"),
  ),
  sample(
    "answer with holes",
    [1, undefined, null],
    (writer, answer) => writeAnswer(writer, "storeGet", answer),
    (reader) => readAnswer(reader, "storeGet"),
  ),
  sample("events", [{ at: 1, event: "queue" as const, queue: "q" }], writeEvents, readEvents),
  sample("count", 5, (writer, count) => writer.f64(count), readCount),
];

/** The bytes of one sample in a frame of its own. */
export function frameOf({ write }: Sample): Uint8Array {
  const writer = new FrameWriter();
  writer.begin(KIND.add, 7);
  write(writer);
  writer.end();
  return writer.take();
}
