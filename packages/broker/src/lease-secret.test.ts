import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import type { FakeClock } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";
import { ByteWriter } from "./codec/byte-writer.ts";
import { encodeFact } from "./codec/facts.ts";
import { job, take } from "./testing/opened.ts";

const SECRET = Uint8Array.from({ length: 16 }, (_, i) => 200 + i);

/** A log with one job that is leased for a second, closed, and the token of its lease. */
async function leasedIn(clock: FakeClock) {
  const log = new MemoryLog();
  const broker = await openBroker({ log, clock, leaseSecret: SECRET });
  const retry = { min: 0, max: 0, jitter: 0 };
  await broker.setQueue("q", { lease: 1000, retry });
  await broker.add("q", [job("x")]);
  const [leased] = await take(broker);
  await broker.close();
  return { log, token: leased!.lease };
}

test("a log keeps its secret even if the next process brings another", async () => {
  const clock = turningClock(5);
  const { log, token } = await leasedIn(clock);
  const leaseSecret = new Uint8Array(16);
  const broker = await openBroker({ log: new MemoryLog({ after: log }), clock, leaseSecret });
  assert.deepEqual(await broker.ack([{ lease: token }]), [{ ok: true }]);
  await broker.close();
});

test("a log without a secret gets one, and leases of before run out", async () => {
  const clock = turningClock(5);
  const { log, token } = await leasedIn(clock);
  const old = await withoutSecret(log, clock.now());
  let broker = await openBroker({ log: old, clock });
  const unsealed = token.slice(0, token.lastIndexOf("."));
  for (const lease of [token, unsealed]) {
    const [outcome] = await broker.ack([{ lease }]);
    assert.equal(outcome?.error?.code, "JOB_NOT_FOUND");
  }
  await clock.advance(1000);
  const [again] = await take(broker);
  assert.equal(again?.attempt, 1);
  await broker.close();
  broker = await openBroker({ log: new MemoryLog({ after: old }), clock });
  assert.deepEqual(await broker.ack([{ lease: again!.lease }]), [{ ok: true }]);
  await broker.close();
});

/** The same log as a version wrote it that had no secret. */
async function withoutSecret(log: MemoryLog, at: number): Promise<MemoryLog> {
  const writer = new ByteWriter((need) => new Uint8Array(need));
  encodeFact(writer, { at, fact: "lease-secret", secret: SECRET }, () => {});
  const told = writer.bytes.subarray(0, writer.at);
  const old = new MemoryLog();
  for await (const _ of old.replay()) assert.fail("a new log is empty");
  let cuts = 0;
  for await (const { facts } of new MemoryLog({ after: log }).replay()) {
    const found = Buffer.from(facts).indexOf(told);
    if (found !== -1) cuts++;
    const from = found === -1 ? facts.length : found;
    const rest = [facts.subarray(0, from), facts.subarray(from + told.length)];
    await old.append(new Uint8Array(Buffer.concat(rest)));
  }
  assert.equal(cuts, 1, "the secret is written once");
  await old.close();
  return new MemoryLog({ after: old });
}

test("a restored log gives no id again, and knows no lease of before", async () => {
  const clock = turningClock(5);
  const { log, token } = await leasedIn(clock);
  const copy = new MemoryLog({ after: log });
  const restored = await openBroker({ log: copy, clock, isRestored: true });
  const [outcome] = await restored.ack([{ lease: token }]);
  assert.ok(outcome?.error !== undefined);
  const [added] = await restored.add("q", [job("y")]);
  const first = added!.ok!.id;
  await restored.close();
  // The same holds for the next broker that opens the log, which begins with a mark.
  const broker = await openBroker({ log: new MemoryLog({ after: copy }), clock });
  const [next] = await broker.add("q", [job("z")]);
  assert.equal(Number.parseInt(next!.ok!.id, 36) - Number.parseInt(first, 36), 1);
  assert.ok(first.length > token.split(".")[0]!.length);
  await broker.close();
});
