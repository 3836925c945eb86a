import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { turningClock } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";

const payload = Buffer.from("1");
const KIB = 1024;

test("results page out, move with the cleaner, and are read again after a restart", async () => {
  const log = new MemoryLog({ segmentBytes: 8 * KIB });
  const clock = turningClock(5);
  const small = { clock, segmentBytes: 64 * KIB, payloadMemoryBytes: 16 * KIB };
  const broker = await openBroker({ log, ...small });
  await broker.setQueue("q", { lease: "1d", results: { jobs: 0 } });
  await broker.add("q", [{ payload }]);
  const [job] = await broker.lease("q", { max: 1, worker: "w" });
  const { id, lease } = job!;
  const textFor = (n: number): string => `${n} ${"x".repeat(500)}`;
  for (let n = 0; n < 40; n++) {
    await broker.recordStep([{ lease, name: `s${n}`, occurrence: 0, value: textFor(n) }]);
    await broker.signal(id, `signal ${n}`, textFor(n));
  }
  await broker.suspend([{ lease, name: "signal 7", occurrence: 0, kind: "wait" }]);
  // Garbage: the oldest segments are trimmed, and what lives in them is written again.
  const large = Buffer.alloc(2 * KIB, 1);
  for (let round = 0; round < 100; round++) {
    await broker.add("q", [{ payload: large }, { payload: large }]);
    const taken = await broker.lease("q", { max: 2, worker: "w" });
    await broker.ack(taken.map(({ lease: token }) => ({ lease: token })));
  }
  assert.ok(log.spans()[0]!.end > 64 * KIB, "the log was trimmed");
  await broker.close();
  const again = await openBroker({ log: new MemoryLog({ after: log }), ...small });
  const values: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await again.steps(id, cursor === undefined ? {} : { cursor });
    values.push(...page.items.map(({ value }) => value));
    assert.equal(page.signals.length, 39);
    ({ cursor } = page);
  } while (cursor !== undefined);
  const wanted = [...Array.from({ length: 40 }, (_, n) => textFor(n)), textFor(7)];
  assert.deepEqual(values, wanted);
  await again.close();
});

test("an answer has as many results as fit into it", async () => {
  const broker = await openBroker({ log: new MemoryLog(), clock: turningClock(5) });
  await broker.setQueue("q", {});
  await broker.add("q", [{ payload }]);
  const [job] = await broker.lease("q", { max: 1, worker: "w" });
  const value = "x".repeat(400 * KIB);
  for (const name of ["a", "b", "c"]) {
    await broker.recordStep([{ lease: job!.lease, name, occurrence: 0, value }]);
  }
  const first = await broker.steps(job!.id);
  assert.deepEqual(
    first.items.map(({ name }) => name),
    ["a", "b"],
  );
  const second = await broker.steps(job!.id, { cursor: first.cursor! });
  assert.deepEqual([second.items[0]!.name, second.cursor], ["c", undefined]);
  await broker.close();
});
