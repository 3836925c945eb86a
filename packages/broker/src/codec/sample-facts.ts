/** At least one fact of each kind, for tests: the compiler asks for a kind that is missing. */
import type { Fact, JobRecord, JobSpec } from "@sluice/engine";
import { parseQueue } from "@sluice/protocol";
import type { ByteReader } from "./byte-reader.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { Told } from "./fact-types.ts";

/** Bodies of tests are bytes, or undefined. */
export function writeSampleBody(writer: ByteWriter, body: unknown): void {
  writer.u8(body === undefined ? 0 : 1);
  if (body !== undefined) writer.blob(body as Uint8Array);
}

export function readSampleBody(reader: ByteReader): Uint8Array | undefined {
  return reader.u8() === 0 ? undefined : reader.blob().slice();
}

const at = 1_763_200_000_000;
const body = Uint8Array.of(1, 2, 3);

const config = {
  ...parseQueue("mail", {
    tiers: [{ name: "high" }, { name: "low", capacity: 5 }],
    capacity: { jobs: 100, bytes: 1e9, delayed: 100, blocked: 100, running: 10 },
    retry: { attempts: 3, min: 100, max: 1000, jitter: 0.5 },
    dlq: "dead",
    results: { jobs: 10, ttl: "1s" },
  }).config,
  // A reader of facts makes plain objects. The parser does not.
  weights: { "big*": 4 },
};

const newJob: JobRecord = {
  id: 1,
  queue: "mail",
  state: "waiting",
  tier: 1,
  path: ["tenant"],
  weight: 0,
  gates: ["smtp"],
  cost: 1,
  sizeBytes: 3,
  attempt: 0,
  attempts: 3,
  lease: 0,
  seq: 1,
  addedAt: at,
  time: at,
  dispatchedMs: 0,
  worker: "",
  body,
};

const spec: JobSpec = {
  fairnessKey: ["eu", "tenant"],
  weight: 2,
  priority: "high",
  gates: ["a", "b"],
  cost: 3,
  delayMs: 0.5,
  runAt: at,
  ttlMs: 4,
  deadline: at + 0.25,
  maxWaitMs: Number.POSITIVE_INFINITY,
  dedupe: { key: "k", mode: "window", windowMs: 60_000 },
  group: "g",
  attempts: 7,
  backoff: { minMs: 1, maxMs: 2, factor: 1.5, jitter: 0 },
  leaseMs: 10,
  sizeBytes: 3,
  body,
};

const oldJob: JobRecord = {
  ...newJob,
  id: Number.MAX_SAFE_INTEGER,
  state: "leased",
  path: ["eu", "tenant", "user", "task"],
  weight: 5,
  gates: Array.from({ length: 16 }, (_, i) => `gate-${i}`),
  cost: 1_000_000,
  attempt: 2,
  lease: 3,
  addedAt: at - 86_400_000,
  time: at + 30_000.125,
  dispatchedMs: 86_000,
  worker: "worker-1",
  extra: {
    deadline: Number.POSITIVE_INFINITY,
    maxWaitMs: 0,
    dedupe: { key: "half a pair: \ud800", mode: "keepLast", until: at + 1 },
    followUp: spec,
    group: "g",
    leaseMs: 10,
    backoff: {},
    error: "ünïcode ✓ 𝄞",
    result: Uint8Array.of(9),
    history: [
      { at: at - 5, event: "added" },
      { at, event: "failed", detail: "no" },
    ],
    waited: { gate: "a", waitMs: 1, maxWaitMs: 0.5 },
    origin: { queue: "mail", spec: { fairnessKey: "", priority: 0 }, attempts: 3, reason: "" },
    stack: "at a\nat b",
    progress: { done: 0.5 },
    diedAt: at,
    leasesBefore: 2,
    generation: 3,
    schedule: { key: "mail/nightly", tick: at, isOver: true },
    steps: {
      steps: [
        {
          name: "charge",
          occurrence: 0,
          kind: "run",
          at,
          isDone: false,
          failures: 2,
          error: "429",
          signal: -1,
          sizeBytes: 0,
        },
      ],
      signals: [{ index: 0, name: "ok", at, isTaken: true, sizeBytes: 4 }],
      signalled: 1,
      pending: { name: "charge", occurrence: 0, kind: "run" },
      base: { gates: ["a"], cost: 1 },
    },
  },
};

const edges: NonNullable<JobRecord["after"]> = [
  { id: 7, on: "fail" },
  { id: 300, on: "wait", ending: "finished" },
  { id: 8, on: "run", ending: "dead" },
];

export const SAMPLES: { readonly [Kind in Fact["fact"]]: readonly [Told<Kind>, ...Told<Kind>[]] } =
  {
    job: [
      { at, fact: "job", job: newJob },
      { at: at + 0.5, fact: "job", job: oldJob },
      { at, fact: "job", job: { ...newJob, path: [], gates: [], body: undefined, extra: {} } },
      { at, fact: "job", job: { ...newJob, state: "ended", ending: "wait-too-long" } },
      { at, fact: "job", job: { ...newJob, gates: ["a"], policyGates: true } },
      { at, fact: "job", job: { ...newJob, ordered: true, held: true } },
      { at, fact: "job", job: { ...newJob, state: "delayed", time: Number.POSITIVE_INFINITY } },
      { at, fact: "job", job: { ...newJob, state: "blocked", after: edges, flow: 9, time: 5 } },
      { at, fact: "job", job: { ...newJob, state: "ended", ending: "finished", needed: true } },
    ],
    moved: [
      { at, fact: "moved", job: newJob },
      { at, fact: "moved", job: oldJob },
      { at, fact: "moved", job: { ...newJob, state: "leased", worker: "w", inProcess: true } },
    ],
    linked: [{ at, fact: "linked", id: 300, after: edges }],
    released: [
      { at, fact: "released", ids: [1, 300] },
      { at, fact: "released", ids: [] },
    ],
    flow: [
      { at, fact: "flow", flow: 300, state: "open", until: at + 600_000 },
      { at, fact: "flow", flow: 1, state: "sealed", until: 0 },
      { at, fact: "flow", flow: 1, state: "cancelled", until: 0 },
    ],
    due: [
      { at, fact: "due", id: 1 },
      { at, fact: "due", id: 1, until: at + 1000 },
    ],
    leased: [
      { at, fact: "leased", id: 300, lease: 1, until: at + 30_000, worker: "w1" },
      { at: 0, fact: "leased", id: 0, lease: 0, until: Number.POSITIVE_INFINITY, worker: "" },
      { at, fact: "leased", id: 300, lease: 1, until: at, worker: "w1", inProcess: true },
    ],
    extended: [
      { at, fact: "extended", id: 300, until: at + 60_000 },
      { at: 0.1, fact: "extended", id: 1, until: 0.3 },
    ],
    returned: [{ at, fact: "returned", id: 300 }],
    retried: [
      { at, fact: "retried", id: 1, attempt: 1, until: at, event: "retried", blame: [] },
      {
        at,
        fact: "retried",
        id: 1,
        attempt: 2,
        until: at + 500,
        event: "failed",
        error: "no",
        stack: "at a",
        blame: ["a", "b"],
      },
      { at, fact: "retried", id: 1, attempt: 2, until: at, event: "expired", error: "", blame: [] },
    ],
    ended: [
      { at, fact: "ended", id: 300, ending: "finished", blame: [] },
      {
        at,
        fact: "ended",
        id: 1,
        ending: "wait-too-long",
        error: "",
        stack: "at a",
        result: new Uint8Array(0),
        blame: ["a"],
        waited: { gate: "a", waitMs: Number.POSITIVE_INFINITY, maxWaitMs: 0.5 },
      },
      { at, fact: "ended", id: 1, ending: "failed", error: "e".repeat(1000), blame: [] },
      { at, fact: "ended", id: 300, ending: "finished", blame: [], needed: true },
    ],
    dead: [
      { at, fact: "dead", id: 1, reason: "attempts", blame: [] },
      { at, fact: "dead", id: 1, reason: "attempts", error: "no", blame: ["a"] },
      { at, fact: "dead", id: 1, reason: "", attempts: 2, error: "", stack: "at a", blame: [] },
    ],
    progress: [{ at, fact: "progress", id: 300, progress: 0.5 }],
    redriven: [{ at, fact: "redriven", id: 1 }],
    logged: [{ at, fact: "logged", id: 300, lines: ["ok", ""] }],
    forgotten: [{ at, fact: "forgotten", id: 300 }],
    transferred: [{ at, fact: "transferred", id: 300, to: "mail" }],
    revived: [{ at, fact: "revived", id: 1 }],
    replaced: [
      { at, fact: "replaced", id: 1, sizeBytes: 3, body },
      { at, fact: "replaced", id: 1, sizeBytes: 0, body: undefined, until: at + 5 },
    ],
    "follow-up": [
      { at, fact: "follow-up", id: 1, spec },
      { at, fact: "follow-up", id: 1, spec: {} },
      { at, fact: "follow-up", id: 1, spec: { fairnessKey: "", priority: 3, gates: [] } },
    ],
    promoted: [{ at, fact: "promoted", id: 1, tier: 0 }],
    queue: [{ at, fact: "queue", name: "mail", config }],
    "queue-deleted": [{ at, fact: "queue-deleted", name: "mail" }],
    purged: [{ at, fact: "purged", name: "mail", upTo: 1e12 }],
    "purge-ended": [{ at, fact: "purge-ended", name: "mail" }],
    weight: [{ at, fact: "weight", queue: "mail", key: ["eu", ""], weight: 7 }],
    position: [
      {
        at,
        fact: "position",
        queue: "mail",
        tier: 1,
        path: ["eu"],
        isLevel: true,
        rounds: 3,
        rem: 2,
      },
      {
        at,
        fact: "position",
        queue: "mail",
        tier: 0,
        path: ["a", "b", "c", "d"],
        isLevel: false,
        rounds: -1,
        rem: 0,
      },
    ],
    "key-held": [{ at, fact: "key-held", queue: "mail", key: "é", id: 1, until: at + 1 }],
    counters: [
      {
        at,
        fact: "counters",
        queue: "mail",
        isDlq: true,
        counters: {
          added: 1,
          dispatched: 2,
          finished: 3,
          failed: 4,
          retried: 5,
          expired: 6,
          cancelled: 7,
          dead: 8,
          redriven: 11,
          dropped: 9,
          rejected: 10,
          steps: 12,
          suspended: 13,
          signals: 14,
        },
      },
    ],
    gate: [
      { at, fact: "gate", key: "smtp:*", config: { rate: 0.5, windows: [] } },
      { at, fact: "gate", key: "smtp", config: undefined },
    ],
    cooled: [{ at, fact: "cooled", key: "smtp", until: at + 1000, reason: "429" }],
    charged: [
      { at, fact: "charged", key: "smtp", cost: 5 },
      { at, fact: "charged", key: "smtp", cost: -5 },
    ],
    step: [
      { at, fact: "step", id: 300, name: "a", occurrence: 0, kind: "run", sizeBytes: 3, body },
      { at, fact: "step", id: 1, name: "b", occurrence: 1, kind: "wait", sizeBytes: 0, signal: 2 },
    ],
    suspended: [
      {
        ...{ at, fact: "suspended", id: 300, name: "a", occurrence: 0, kind: "run" },
        ...{ until: at, gates: ["smtp"], cost: 2, failures: 0 },
      },
      {
        ...{ at, fact: "suspended", id: 1, name: "", occurrence: 2, kind: "sleep" },
        ...{ until: Number.POSITIVE_INFINITY, gates: [], cost: 1, failures: 3, error: "no" },
      },
    ],
    signalled: [{ at, fact: "signalled", id: 300, name: "ok", index: 1, sizeBytes: 3, body }],
    cleared: [{ at, fact: "cleared", key: "smtp" }],
    reported: [
      { at, fact: "reported", key: "smtp", ok: true },
      { at, fact: "reported", key: "smtp", ok: false },
    ],
    "gate-state": [
      {
        at,
        fact: "gate-state",
        key: "smtp",
        save: { bucket: { level: -5, carry: 3, at }, takes: { times: [at], costs: [2] }, last: at },
      },
      { at, fact: "gate-state", key: "smtp", save: {} },
    ],
    group: [
      {
        at,
        fact: "group",
        name: "g",
        members: [
          [1, undefined],
          [2, "dead"],
        ],
        ended: false,
        held: false,
      },
      { at, fact: "group", name: "g", members: [], ended: true, held: false },
      { at, fact: "group", name: "g", members: [[3, "finished"]], ended: false, held: true },
    ],
    "group-ended": [{ at, fact: "group-ended", name: "g" }],
    "group-held": [{ at, fact: "group-held", name: "g" }],
    "group-released": [{ at, fact: "group-released", name: "g" }],
    answered: [
      {
        at,
        fact: "answered",
        operation: "o",
        call: "add q 2",
        since: at,
        answers: [{ item: 0, count: 2, answer: { id: 7, tier: 3 } }],
      },
    ],
    stored: [
      { at, fact: "stored", store: "s", key: "k", value: { a: [1, "ü", null, "\ud800"] } },
      { at, fact: "stored", store: "s", key: "k", value: null },
      { at, fact: "stored", store: "s", key: "k", value: undefined },
    ],
    schedule: [
      {
        at,
        fact: "schedule",
        key: "mail/nightly",
        schedule: {
          config: {
            queue: "mail",
            catchUp: "one",
            catchUpWindowMs: 86_400_000,
            overlap: "skip",
            pauseOnFailure: false,
            carried: { plan: { cron: "0 3 * * *" }, payload: body },
          },
          decidedUntil: at,
          next: at + 1000,
          due: at + 1500,
          made: 2,
          pausedBy: "",
        },
      },
    ],
    "schedule-deleted": [{ at, fact: "schedule-deleted", key: "mail/nightly" }],
    ticked: [
      {
        at,
        fact: "ticked",
        key: "mail/nightly",
        tick: at - 1,
        outcome: "added",
        job: 300,
        error: undefined,
        after: undefined,
        next: at + 1000,
        due: at + 1500,
      },
      {
        at,
        fact: "ticked",
        key: "mail/nightly",
        tick: at - 1,
        outcome: "refused",
        job: undefined,
        error: "full",
        after: at - 60_000,
        next: undefined,
        due: undefined,
      },
    ],
    ids: [{ at, fact: "ids", last: 5, seq: 9 }],
    wall: [
      { at, fact: "wall", aheadMs: 3_600_000 },
      { at, fact: "wall", aheadMs: -1500 },
    ],
    life: [{ at, fact: "life", life: 3, lot: 300 }],
    borrower: [{ at, fact: "borrower", name: "7", life: 2 }],
    lent: [
      {
        at,
        fact: "lent",
        key: "smtp",
        borrower: "7",
        lot: 300,
        cost: 50,
        jobs: 40,
        until: at + 1000,
      },
    ],
    lots: [
      {
        at,
        fact: "lots",
        key: "smtp",
        borrower: "7",
        held: 4,
        uses: [
          { lot: 299, usedCost: 9, usedJobs: 3, isOver: true },
          { lot: 300, usedCost: 1, usedJobs: 1, isOver: false },
        ],
      },
      { at, fact: "lots", key: "smtp", borrower: "7", held: 0, uses: [] },
    ],
    level: [{ at, fact: "level", level: 2, needs: "0.1.0" }],
    "lease-secret": [
      { at, fact: "lease-secret", secret: Uint8Array.from({ length: 16 }, (_, i) => i * 17) },
    ],
    "lot-expired": [{ at, fact: "lot-expired", key: "smtp", lot: 300 }],
  };

/** All of them in one list. */
export const ALL_SAMPLES: readonly Fact[] = Object.values(SAMPLES).flat();
