import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "@sluice/engine";
import { Engine } from "@sluice/engine";
import { letterQueueConfig, parseQueue, SluiceError } from "@sluice/protocol";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { JOB_TYPES } from "./fact-types.ts";
import { decodeFact, encodeFact, FACT_KINDS } from "./facts.ts";
import { RARE_FACTS } from "./rare-facts.ts";
import { ALL_SAMPLES, readSampleBody, SAMPLES, writeSampleBody } from "./sample-facts.ts";

function encode(...facts: readonly Fact[]): Uint8Array {
  const writer = new ByteWriter((need) => new Uint8Array(need * 2));
  const parts = facts.map((fact) => {
    encodeFact(writer, fact, writeSampleBody);
    return writer.bytes.slice(writer.start, writer.at);
  });
  return new Uint8Array(Buffer.concat(parts));
}

function decode(bytes: Uint8Array): Fact[] {
  const reader = new ByteReader(bytes);
  const facts: Fact[] = [];
  while (!reader.isAtEnd) facts.push(decodeFact(reader, readSampleBody));
  return facts;
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof SluiceError && error.code === code;

for (const [kind, samples] of Object.entries(SAMPLES)) {
  test(`"${kind}" is read as it was written`, () => {
    for (const fact of samples) assert.deepEqual(decode(encode(fact)), [fact]);
  });

  test(`"${kind}" cut off anywhere is damage, and the offset is inside`, () => {
    for (const fact of samples) {
      const bytes = encode(fact);
      for (let length = 0; length < bytes.length; length++) {
        const reader = new ByteReader(bytes.slice(0, length));
        assert.throws(
          () => decodeFact(reader, readSampleBody),
          (error) => {
            assert.ok(error instanceof SluiceError);
            assert.equal(error.code, "LOG_DAMAGED");
            assert.ok((error.details.offset as number) <= length);
            return true;
          },
        );
      }
    }
  });
}

test("facts follow each other without anything between them", () => {
  assert.deepEqual(decode(encode(...ALL_SAMPLES)), ALL_SAMPLES);
});

test("reads a part of a larger buffer only within its bounds", () => {
  const bytes = encode(SAMPLES.leased[0]);
  const larger = Buffer.alloc(bytes.length + 20, 0xff);
  larger.set(bytes, 10);
  const part = larger.subarray(10, 10 + bytes.length);
  assert.deepEqual(decode(part), [SAMPLES.leased[0]]);
  assert.throws(() => decode(part.subarray(0, -1)), hasCode("LOG_DAMAGED"));
});

test("reads a field that was undefined as absent", () => {
  const { config } = SAMPLES.queue[0];
  const told = { ...SAMPLES.queue[0], config: { ...config, ttlMs: undefined } };
  assert.deepEqual(decode(encode(told)), [SAMPLES.queue[0]]);
  const { at, id } = SAMPLES["follow-up"][0];
  const followUp: Fact = { at, fact: "follow-up", id, spec: { group: undefined, cost: 1 } };
  assert.deepEqual(decode(encode(followUp)), [{ at, fact: "follow-up", id, spec: { cost: 1 } }]);
});

test("leaves out fields of a caller's object that a job does not have", () => {
  const { at, id } = SAMPLES["follow-up"][0];
  const spec = { cost: 2, path: ["x"], priorityName: "y" };
  assert.deepEqual(decode(encode({ at, fact: "follow-up", id, spec })), [
    { at, fact: "follow-up", id, spec: { cost: 2 } },
  ]);
});

test("a result that is not bytes is our mistake", () => {
  const fact: Fact = { at: 1, fact: "ended", id: 1, ending: "finished", blame: [], result: "text" };
  assert.throws(() => encode(fact), { code: "ERR_ASSERTION" });
});

test("a fact of a kind that has no codec is our mistake, and is not lost in silence", () => {
  const unknown = { at: 1, fact: "unheard-of" } as unknown as Fact;
  assert.throws(() => encode(unknown), { code: "ERR_ASSERTION" });
});

test("a result is a copy: it does not hold the chunk it came in", () => {
  const bytes = encode(SAMPLES.ended[1]!);
  const [fact] = decode(bytes);
  assert.ok(fact?.fact === "ended" && fact.result instanceof Uint8Array);
  assert.notEqual(fact.result.buffer, bytes.buffer);
});

test("a job's body is its last part", () => {
  const bytes = encode(SAMPLES.job[0]);
  assert.deepEqual([...bytes.slice(-5)], [1, 3, 1, 2, 3]);
});

test("a type, a code or a flag that this version does not know is one of a later version", () => {
  assert.throws(() => decode(Uint8Array.of(0, 1)), hasCode("LOG_VERSION"));
  assert.throws(() => decode(Uint8Array.of(127, 1)), hasCode("LOG_VERSION"));
  assert.throws(() => decode(Uint8Array.of(255, 1)), hasCode("LOG_VERSION"));
  assert.throws(() => decode(Uint8Array.of(JOB_TYPES.ended, 1, 7, 1)), hasCode("LOG_VERSION"));
  assert.throws(() => decode(Uint8Array.of(JOB_TYPES.due, 1, 2, 1)), hasCode("LOG_VERSION"));
  assert.throws(
    () => decode(Uint8Array.of(JOB_TYPES.retried, 1, 3, 1, 1, 1)),
    hasCode("LOG_VERSION"),
  );
});

test("settings that are no object, or no JSON, are damage", () => {
  for (const json of ["", "{", "1", "null", '"x"']) {
    const writer = new ByteWriter((need) => new Uint8Array(need + 100));
    writer.head(RARE_FACTS.queue.type, 1);
    writer.text("mail");
    writer.text(json);
    assert.throws(() => decode(writer.bytes.slice(0, writer.at)), hasCode("LOG_DAMAGED"));
  }
});

test("each type has a number from 1 to 127", () => {
  assert.equal(FACT_KINDS[0], undefined);
  assert.ok(FACT_KINDS.length <= 128);
});

test("decoded facts give an engine the same state as the original facts", () => {
  const told: Fact[] = [];
  const engine = new Engine({ letterQueue: letterQueueConfig, facts: told });
  const body = Uint8Array.of(1, 2, 3);
  const options = { tiers: ["high", "low"], retry: { attempts: 2 }, dlq: "dead" };
  engine.setQueue("q", parseQueue("q", options).config, 1000.5);
  engine.setGate("g:*", { rate: 1000, ladder: [10, 20] }, 1000.5);
  for (let i = 0; i < 10; i++) {
    const dedupe = { key: `\ud800 ${i}`, mode: "keepLast" as const };
    const fairnessKey = ["é", `tenant-${i % 3}`];
    engine.add("q", { fairnessKey, gates: [`g:${i % 2}`], delayMs: i / 3, dedupe, body }, 1001.25);
  }
  for (let now = 1002; now < 1100; now += 7.3) {
    engine.want("q", "worker", 2, now);
    for (const { id, lease } of engine.dispatch(now)) {
      if (id % 2 === 0) engine.ack(id, lease, now, body);
      else engine.nack(id, lease, now, { error: "no", delayMs: 1.5 });
    }
  }
  assert.ok(new Set(told.map(({ fact }) => fact)).size > 5);
  assert.deepEqual(decode(encode(...told)), told.map(asStored));
  const snapshots = [told, decode(encode(...told))].map((facts) => {
    const heard = new Engine({ letterQueue: letterQueueConfig });
    for (const fact of facts) heard.apply(fact);
    const jobs = Array.from({ length: 10 }, (_, i) => heard.queries.record(i + 1));
    return [jobs, ...[...heard.checkpoint()].flat().map(asStored)];
  });
  assert.deepEqual(snapshots[1], snapshots[0]);
});

/**
 * As a fact comes back: without where its job was, and nothing undefined but what must be there.
 */
function asStored(fact: Fact): Fact {
  if ("id" in fact && "queue" in fact && fact.fact !== "key-held") {
    const { queue: _, ...stored } = fact;
    return stored;
  }
  return fact.fact === "queue" || fact.fact === "gate"
    ? ({ ...fact, config: JSON.parse(JSON.stringify(fact.config)) } as Fact)
    : fact;
}
