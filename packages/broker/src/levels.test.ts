import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "@sluice/engine";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { type LocalBroker, openBroker } from "./broker.ts";
import { ByteWriter } from "./codec/byte-writer.ts";
import { encodeFact, FACT_KINDS, TYPE_LEVELS } from "./codec/facts.ts";
import { FEATURE_LEVEL } from "./codec/levels.ts";
import { readFacts } from "./codec/read-facts.ts";
import type { OpenOptions } from "./options.ts";
import { job, take } from "./testing/opened.ts";

/** All numbers that the releases before levels can read. It never grows. */
const LEVEL_1_TYPES = [...Array.from({ length: 41 }, (_, i) => i + 1), 44, 46];

/** A log of the release before levels: four jobs, one finished, one failed, and a delayed one. */
const LEVEL_1_LOG = Buffer.from(
  [
    "HoDoltaNNwAALoDoltaNNxAHBwcHBwcHBwcHBwcHBwcHDoDoltaNNwRtYWlsrQN7InRpZXJzIjpbeyJuYW1lIjoi",
    "MCJ9LHsibmFtZSI6IjEifSx7Im5hbWUiOiIyIn0seyJuYW1lIjoiMyJ9XSwidGllck9yZGVyIjoic3RyaWN0Iiwi",
    "ZmFpcm5lc3MiOnRydWUsIndlaWdodHMiOnt9LCJ3ZWlnaHQiOjEsImNhcGFjaXR5Ijp7ImpvYnMiOjEwMDAwMDAs",
    "ImJ5dGVzIjoxMDczNzQxODI0LCJkZWxheWVkIjoxMDAwMDAwLCJsZWFzZWQiOjEwMDAwMDB9LCJvbkZ1bGwiOiJy",
    "ZWplY3QiLCJhZGRUaW1lb3V0TXMiOjUwMDAsImZ1bGxSZXRyeU1zIjoxMDAwMCwibGVhc2VNcyI6MTAwMCwicmV0",
    "cnkiOnsiYXR0ZW1wdHMiOjEsIm1pbk1zIjowLCJtYXhNcyI6MCwiZmFjdG9yIjoyLCJqaXR0ZXIiOjAsImRlbGl2",
    "ZXJpZXMiOjI1MH0sInJlc3VsdHMiOnsiam9icyI6MTAwMCwibXMiOjYwMDAwMH0sInBhdXNlZCI6ZmFsc2UsImRs",
    "cSI6Im1haWwuZGxxIn0WgOiW1o03AQRzbXRwEXsiY29uY3VycmVuY3kiOjJ9AYDoltaNNwgBAQRtYWlsAwF5AQRz",
    "bXRwAQEAAAAAAAABAAAAYQGA6JbWjTcIAgIEbWFpbAMBeAEEc210cAEBAAAAAAAAAQAAAGIBgOiW1o03CAMDBG1h",
    "aWwDAXkBBHNtdHABAQAAAAAAAAEAAABjAYDoltaNNwgEBARtYWlsAwF4AQRzbXRwAQEAAAAAAAABAAAAZAGA6JbW",
    "jTcBBQUEbWFpbAMABQEAwKkHAAAAAAUAAABsYXRlcgKA6JbWjTcBAdAPBHBvbGwCgOiW1o03AgHQDwRwb2xsA4Do",
    "ltaNNwEBDoDoltaNNwhtYWlsLmRscbMDeyJ0aWVycyI6W3sibmFtZSI6IjAifSx7Im5hbWUiOiIxIn0seyJuYW1l",
    "IjoiMiJ9LHsibmFtZSI6IjMifV0sInRpZXJPcmRlciI6InN0cmljdCIsImZhaXJuZXNzIjp0cnVlLCJ3ZWlnaHRz",
    "Ijp7fSwid2VpZ2h0IjoxLCJjYXBhY2l0eSI6eyJqb2JzIjoxMDAwMDAwLCJieXRlcyI6MTA3Mzc0MTgyNCwiZGVs",
    "YXllZCI6MTAwMDAwMCwibGVhc2VkIjoxMDAwMDAwfSwib25GdWxsIjoicmVqZWN0IiwiYWRkVGltZW91dE1zIjo1",
    "MDAwLCJmdWxsUmV0cnlNcyI6MTAwMDAsImxlYXNlTXMiOjMwMDAwLCJyZXRyeSI6eyJhdHRlbXB0cyI6NSwibWlu",
    "TXMiOjEwMDAsIm1heE1zIjozMDAwMDAsImZhY3RvciI6Miwiaml0dGVyIjowLjIsImRlbGl2ZXJpZXMiOjI1MH0s",
    "InJlc3VsdHMiOnsiam9icyI6MTAwMCwibXMiOjYwMDAwMH0sInBhdXNlZCI6ZmFsc2UsImRscSI6ZmFsc2V9CIDo",
    "ltaNNwECEGF0dGVtcHRzIHVzZWQgdXACbm8=",
  ].join(""),
  "base64",
);

async function logOf(...batches: Uint8Array[]): Promise<MemoryLog> {
  const log = new MemoryLog();
  for await (const _ of log.replay()) assert.fail("a new log is empty");
  for (const batch of batches) await log.append(batch);
  await log.close();
  return log;
}

async function factsOf(log: MemoryLog): Promise<Fact[]> {
  const facts: Fact[] = [];
  for await (const batch of new MemoryLog({ after: log }).replay()) {
    facts.push(...readFacts(batch.facts));
  }
  return facts;
}

function encoded(fact: Fact): Uint8Array {
  const writer = new ByteWriter((need) => new Uint8Array(need * 2));
  encodeFact(writer, fact, () => {});
  return writer.bytes.slice(0, writer.at);
}

/** Opens a broker on a log, does a few things and closes it. */
async function used(log: MemoryLog, options: Partial<OpenOptions> = {}): Promise<void> {
  const broker = await openBroker({ log, clock: turningClock(5), ...options });
  await broker.setQueue("q", {});
  await broker.add("q", [job("x", { gates: ["smtp"], delayMs: 5 }), job("y")]);
  const [leased] = await take(broker);
  await broker.ack([{ lease: leased!.lease }]);
  await broker.close();
}

/** Only level 1 is understood by all. */
const AT_LEVEL_1 = { level: 1, behind: () => ["b (0.0.9)"] };

test("a number that older releases cannot read has a level above 1", () => {
  const unmarked = FACT_KINDS.flatMap((kind, type) =>
    kind !== undefined && !LEVEL_1_TYPES.includes(type) && TYPE_LEVELS[type] === 1 ? [kind] : [],
  );
  assert.deepEqual(unmarked, [], "add a row to FACT_LEVELS, see docs/format.md");
  const raised = LEVEL_1_TYPES.filter((type) => TYPE_LEVELS[type]! > 1);
  assert.deepEqual(raised, [], "logs of older releases have these");
});

test("a log of a release before levels is read, and gets the level of this one", async () => {
  const old = new MemoryLog({ after: await logOf(LEVEL_1_LOG) });
  const broker = await openBroker({ log: old, clock: turningClock(5) });
  const { waiting, delayed } = (await broker.queue("mail")).stats;
  assert.deepEqual({ waiting, delayed }, { waiting: 2, delayed: 1 });
  assert.equal((await broker.queue("mail.dlq")).stats.waiting, 1);
  await broker.close();
  const levels = (await factsOf(old)).filter(({ fact }) => fact === "level");
  assert.deepEqual(
    levels.map((fact) => fact.fact === "level" && fact.level),
    [FEATURE_LEVEL],
  );
});

test("the release before levels can read a log that is written at level 1", async () => {
  const log = new MemoryLog();
  await used(log, { level: AT_LEVEL_1 });
  const kinds = new Set((await factsOf(log)).map(({ fact }) => fact));
  const known = new Set(LEVEL_1_TYPES.map((type) => FACT_KINDS[type]));
  assert.ok(kinds.size > 5);
  assert.deepEqual(
    [...kinds].filter((kind) => !known.has(kind)),
    [],
  );
});

test("a log records its level once, and keeps it whatever its next owner allows", async () => {
  const log = new MemoryLog();
  await used(log);
  const again = new MemoryLog({ after: log });
  await used(again, { level: AT_LEVEL_1 });
  const facts = await factsOf(again);
  assert.equal(facts.filter(({ fact }) => fact === "level").length, 1);
});

test("the level is at the head of every mark, before anything that needs it", async () => {
  const log = new MemoryLog({ segmentBytes: 4096 });
  const clock = turningClock(5);
  const broker = await openBroker({ log, clock, segmentBytes: 65_536 });
  await broker.setQueue("q", {});
  for (let round = 0; round < 40; round++) await addAndAck(broker);
  await broker.close();
  const kinds = (await factsOf(log)).map(({ fact }) => fact);
  const marks = kinds.flatMap((kind, at) => (kind === "ids" ? [kinds[at + 1]] : []));
  assert.ok(marks.length > 2, `${marks.length} marks`);
  // A new log begins with a mark before it has a level.
  assert.deepEqual(new Set(marks.slice(1)), new Set(["level"]));
});

async function addAndAck(broker: LocalBroker): Promise<void> {
  await broker.add("q", [job("x".repeat(5000))]);
  const [leased] = await take(broker);
  await broker.ack([{ lease: leased!.lease }]);
}

test("a log of a later release is refused, and the error names the release it needs", async () => {
  const later = encoded({ at: 1, fact: "level", level: FEATURE_LEVEL + 1, needs: "9.9.0" });
  const log = await logOf(encoded({ at: 1, fact: "ids", last: 0, seq: 0 }), later);
  const opening = openBroker({ log: new MemoryLog({ after: log }), clock: turningClock(5) });
  await assert.rejects(opening, {
    code: "LOG_VERSION",
    message: /needs Sluice 9\.9\.0 or newer \(feature level \d+\)/,
  });
});
