import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtraRecord, Fact, JobRecord, JobSpec } from "@sluice/engine";
import fc from "fast-check";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import type { Told } from "./fact-types.ts";
import { decodeFact, encodeFact } from "./facts.ts";
import { FEATURE_LEVEL } from "./levels.ts";
import { readSampleBody, SAMPLES, writeSampleBody } from "./sample-facts.ts";

/** ASCII, everything, half pairs, and keys of a kilobyte. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.nat(0xffff), { maxLength: 50 })
      .map((units) => String.fromCharCode(...units)),
  },
  { weight: 1, arbitrary: fc.string({ minLength: 1000, maxLength: 1024, size: "max" }) },
);
const whole = fc.oneof(fc.nat(300), fc.maxSafeNat());
const time = fc.oneof(
  whole,
  fc.integer({ min: 1_763_200_000_000, max: 1_763_300_000_000 }),
  fc.double({ min: 0, max: 8.64e15, noNaN: true }),
  fc.constant(Number.POSITIVE_INFINITY),
);
const number = fc.oneof(whole, fc.double());
const bytes = fc.uint8Array({ maxLength: 40 });
const body = fc.option(bytes, { nil: undefined });
const path = fc.array(text, { minLength: 1, maxLength: 4 });
const gates = fc.array(text, { maxLength: 16 });
const ending = fc.constantFrom(
  ...(["finished", "failed", "cancelled", "expired", "dead", "wait-too-long"] as const),
);
const mode = fc.constantFrom(
  ...(["pending", "window", "debounce", "replace", "keepLast"] as const),
);
/** JSON has no -0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

const { record } = fc;
/** Each of the fields or not. */
const optional = { requiredKeys: [] };

const backoff = record({ minMs: number, maxMs: number, factor: number, jitter: number }, optional);
const spec = record(
  {
    fairnessKey: fc.oneof(text, path),
    weight: number,
    priority: fc.oneof(number, text),
    gates,
    policyGates: fc.constant(true as const),
    cost: number,
    delayMs: time,
    runAt: time,
    ttlMs: time,
    deadline: time,
    maxWaitMs: time,
    dedupe: record({ key: text, mode, windowMs: time }, { requiredKeys: ["key", "mode"] }),
    group: text,
    attempts: number,
    backoff,
    leaseMs: time,
    sizeBytes: whole,
    ordered: fc.boolean(),
    body: bytes,
  },
  optional,
) satisfies fc.Arbitrary<JobSpec>;
const history = fc.array(
  record(
    {
      at: time,
      event: fc.constantFrom(
        ...(["added", "due", "dispatched", "failed", "expired", "returned"] as const),
        ...(["retried", "promoted", "dead", "redriven", "ended", "suspended"] as const),
      ),
      detail: text,
    },
    { requiredKeys: ["at", "event"] },
  ),
  { maxLength: 5 },
);
const waited = record({ gate: text, waitMs: time, maxWaitMs: time });
const anyJson = fc.constantFrom<unknown>(0, 0.5, "half", null, { done: 1, of: [2, 3] });
const extra = record(
  {
    deadline: time,
    wallDeadline: time,
    runAt: time,
    maxWaitMs: time,
    dedupe: record({ key: text, mode, until: time }, { requiredKeys: ["key", "mode"] }),
    followUp: spec,
    group: text,
    leaseMs: number,
    backoff,
    error: text,
    result: bytes,
    history,
    waited,
    origin: record({ queue: text, spec, attempts: number, reason: text }),
    stack: text,
    progress: anyJson,
    diedAt: time,
    leasesBefore: number,
    generation: number,
  },
  optional,
) satisfies fc.Arbitrary<ExtraRecord>;
const required = {
  id: whole,
  queue: text,
  state: fc.constantFrom(...(["waiting", "delayed", "leased", "ended", "blocked"] as const)),
  tier: fc.nat(15),
  path,
  weight: fc.nat(3),
  gates,
  cost: fc.integer({ min: 1, max: 3 }),
  sizeBytes: whole,
  attempt: fc.nat(2),
  attempts: fc.nat(1000),
  lease: fc.nat(2),
  seq: whole,
  addedAt: time,
  time,
  dispatchedMs: fc.oneof(fc.constant(0), whole),
  worker: text,
  body,
};
const yes = fc.constant(true as const);
const edges = fc.array(
  record(
    { id: whole, on: fc.constantFrom("fail" as const, "run" as const, "wait" as const), ending },
    { requiredKeys: ["id", "on"] },
  ),
  { maxLength: 4 },
);
const job = record(
  {
    ...required,
    ending,
    policyGates: fc.constant(true as const),
    ordered: fc.constant(true as const),
    after: edges,
    flow: whole,
    needed: fc.constant(true as const),
    held: fc.constant(true as const),
    extra,
  },
  { requiredKeys: Object.keys(required) as (keyof typeof required)[] },
) satisfies fc.Arbitrary<JobRecord>;

type Fields<Kind extends Fact["fact"]> = Omit<Told<Kind>, "at" | "fact">;
const id = whole;
const stepKind = fc.constantFrom(...(["run", "sleep", "wait"] as const));
const named = record({ name: text });
const queueConfig = fc.constant(SAMPLES.queue[0].config);
const counters = fc.constant(SAMPLES.counters[0].counters);
const position = { queue: text, tier: whole, path, isLevel: fc.boolean() };
const save = record(
  {
    bucket: record({ level: fc.integer(), carry: fc.nat(), at: fc.nat() }),
    ladderStep: fc.nat(),
    cooldown: record({ until: fc.nat(), reason: text }),
    last: fc.nat(),
  },
  optional,
);

/** The fields of each kind: the compiler asks for one that is missing. */
const FIELDS: { readonly [Kind in Fact["fact"]]: fc.Arbitrary<Fields<Kind>> } = {
  job: record({ job }),
  moved: record({ job }),
  linked: record({ id, after: edges }),
  released: record({ ids: fc.array(whole, { maxLength: 4 }) }),
  flow: record({
    flow: whole,
    state: fc.constantFrom("open" as const, "sealed" as const, "cancelled" as const),
    until: whole,
  }),
  due: record({ id, until: time }, { requiredKeys: ["id"] }),
  leased: record({ id, lease: whole, until: time, worker: text }),
  extended: record({ id, until: time }),
  returned: record({ id }),
  retried: record(
    {
      id,
      attempt: whole,
      until: time,
      event: fc.constantFrom(...(["failed", "expired", "retried"] as const)),
      error: text,
      stack: text,
      blame: gates,
    },
    { requiredKeys: ["id", "attempt", "until", "event", "blame"] },
  ),
  ended: record(
    { id, ending, error: text, stack: text, result: bytes, blame: gates, waited, needed: yes },
    { requiredKeys: ["id", "ending", "blame"] },
  ),
  dead: record(
    { id, reason: text, attempts: number, error: text, stack: text, blame: gates },
    { requiredKeys: ["id", "reason", "blame"] },
  ),
  progress: record({ id, progress: anyJson }),
  charged: record({ key: text, cost: number }),
  step: record(
    {
      id,
      name: text,
      occurrence: whole,
      kind: stepKind,
      sizeBytes: whole,
      signal: whole,
      body: bytes,
    },
    { requiredKeys: ["id", "name", "occurrence", "kind", "sizeBytes"] },
  ),
  suspended: record(
    {
      ...{ id, name: text, occurrence: whole, kind: stepKind, until: time },
      ...{ gates, cost: number, failures: whole, error: text },
    },
    {
      requiredKeys: [
        ...(["id", "name", "occurrence", "kind", "until"] as const),
        ...(["gates", "cost", "failures"] as const),
      ],
    },
  ),
  signalled: record({ id, name: text, index: whole, sizeBytes: whole, body }),
  redriven: record({ id }),
  revived: record({ id }),
  logged: record({ id, lines: fc.array(text) }),
  forgotten: record({ id }),
  transferred: record({ id, to: text }),
  replaced: record(
    { id, sizeBytes: whole, body, until: time },
    { requiredKeys: ["id", "sizeBytes", "body"] },
  ),
  "follow-up": record({ id, spec }),
  promoted: record({ id, tier: whole }),
  queue: record({ name: text, config: queueConfig }),
  "queue-deleted": named,
  purged: record({ name: text, upTo: whole }),
  "purge-ended": named,
  weight: record({ queue: text, key: path, weight: number }),
  position: record({ ...position, rounds: number, rem: number }),
  "key-held": record({ queue: text, key: text, id, until: time }),
  counters: record({ queue: text, counters, isDlq: fc.boolean() }),
  gate: record({
    key: text,
    config: fc.constantFrom(undefined, { rate: 0.5, ladder: [1, 2] }, {}),
  }),
  cooled: record({ key: text, until: time, reason: text }),
  cleared: record({ key: text }),
  reported: record({ key: text, ok: fc.boolean() }),
  "gate-state": record({ key: text, save }),
  group: record({
    name: text,
    members: fc.array(fc.tuple(id, fc.option(ending, { nil: undefined })), { maxLength: 9 }),
    ended: fc.boolean(),
    held: fc.boolean(),
  }),
  "group-held": named,
  "group-released": named,
  answered: record({
    operation: text,
    call: text,
    since: time,
    answers: fc.array(record({ item: whole, count: whole, answer: json }), { maxLength: 3 }),
  }),
  "group-ended": named,
  stored: record({ store: text, key: text, value: fc.option(json, { nil: undefined }) }),
  schedule: record({
    key: text,
    schedule: record({
      config: record({
        queue: text,
        catchUp: fc.constantFrom(...(["none", "one", "all"] as const)),
        catchUpWindowMs: fc.nat(),
        overlap: fc.constantFrom(...(["allow", "skip", "wait"] as const)),
        pauseOnFailure: fc.boolean(),
        carried: record({ plan: json, payload: bytes }),
      }),
      decidedUntil: fc.nat(),
      made: fc.nat(),
      pausedBy: fc.constantFrom(...(["", "call", "failure"] as const)),
    }),
  }),
  "schedule-deleted": record({ key: text }),
  ticked: record({
    key: text,
    tick: time,
    outcome: fc.constantFrom(...(["added", "held", "missed", "refused", "too-many"] as const)),
    job: fc.option(whole, { nil: undefined }),
    error: fc.option(text, { nil: undefined }),
    after: fc.option(time, { nil: undefined }),
    next: fc.option(time, { nil: undefined }),
    due: fc.constant(undefined),
  }).map((fact) => ({ ...fact, due: fact.next })),
  ids: record({ last: whole, seq: whole }),
  wall: record({ aheadMs: fc.integer() }),
  life: record({ life: whole, lot: whole }),
  borrower: record({ name: text, life: whole }),
  lent: record({ key: text, borrower: text, lot: whole, cost: whole, jobs: whole, until: time }),
  lots: record({
    key: text,
    borrower: text,
    held: whole,
    uses: fc.array(record({ lot: whole, usedCost: whole, usedJobs: whole, isOver: fc.boolean() }), {
      maxLength: 4,
    }),
  }),
  level: record({ level: fc.integer({ min: 1, max: FEATURE_LEVEL }), needs: text }),
  "lease-secret": record({ secret: fc.uint8Array({ minLength: 16, maxLength: 16 }) }),
  "lot-expired": record({ key: text, lot: whole }),
};

const facts = Object.entries(FIELDS).map(([fact, fields]) =>
  fc
    .tuple(time, fields as fc.Arbitrary<object>)
    // The objects of fast-check have no prototype at times; a clone of one is plain.
    .map(([at, rest]) => structuredClone({ at, fact, ...rest }) as Fact),
);
const anyFact = fc.oneof(...facts);

function encode(fact: Fact): Uint8Array {
  const writer = new ByteWriter((need) => new Uint8Array(Math.max(need, 4096)));
  encodeFact(writer, fact, writeSampleBody);
  return writer.bytes.slice(writer.start, writer.at);
}

for (const [index, kind] of Object.keys(FIELDS).entries()) {
  test(`any "${kind}" is read as it was written, and every byte of it is read`, () => {
    fc.assert(
      fc.property(facts[index]!, (fact) => {
        const reader = new ByteReader(encode(fact));
        assert.deepEqual(decodeFact(reader, readSampleBody), fact);
        assert.ok(reader.isAtEnd);
      }),
      { numRuns: 200 },
    );
  });
}

test("chunks of any size hold the same bytes as one chunk, each fact in one of them", () => {
  fc.assert(
    fc.property(fc.array(anyFact, { maxLength: 12 }), fc.nat(300), (told, spareBytes) => {
      const chunks: Uint8Array[] = [];
      const writer: ByteWriter = new ByteWriter((need) => {
        chunks.push(writer.bytes.slice(0, writer.start));
        return new Uint8Array(need + spareBytes);
      });
      for (const fact of told) encodeFact(writer, fact, writeSampleBody);
      chunks.push(writer.bytes.slice(0, writer.at));
      assert.deepEqual(Buffer.concat(chunks), Buffer.concat(told.map(encode)));
      assert.deepEqual(chunks.flatMap(decodeAll), told);
    }),
    { numRuns: 300 },
  );
});

function decodeAll(chunk: Uint8Array): Fact[] {
  const reader = new ByteReader(chunk);
  const read: Fact[] = [];
  while (!reader.isAtEnd) read.push(decodeFact(reader, readSampleBody));
  return read;
}
