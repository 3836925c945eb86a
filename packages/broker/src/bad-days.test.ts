import assert from "node:assert/strict";
import { test } from "node:test";
import { type Log, MemoryLog } from "@sluice/log";
import { type BrokerEvent, type NewJob, SluiceError } from "@sluice/protocol";
import { turningClock, turns } from "@sluice/protocol/testing";
import { openBroker } from "./broker.ts";
import { HeldLog } from "./testing/held-log.ts";
import { add, bytes, job, open } from "./testing/opened.ts";

test("nothing is answered or delivered before it is durable", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log });
  log.hold();
  const happened: string[] = [];
  const adding = add(broker, job("x")).then(() => happened.push("added"));
  const taking = broker.lease("q", { max: 1, wait: 5000 }).then(() => happened.push("taken"));
  await turns(5);
  assert.deepEqual(happened, []);
  log.letGo();
  await Promise.all([adding, taking]);
  assert.deepEqual(happened.sort(), ["added", "taken"]);
});

test("calls that arrive while the log syncs share the next sync", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log });
  log.hold();
  const first = add(broker, job("first"));
  await turns(5);
  const before = log.appends;
  const rest = Array.from({ length: 50 }, (_, i) => add(broker, job(`${i}`)));
  await turns(5);
  log.letGo();
  await Promise.all([first, ...rest]);
  assert.equal(log.appends - before, 1);
});

test("after the log fails, every call is refused, and an event reports the failure", async () => {
  const log = new HeldLog();
  const failures: SluiceError[] = [];
  const { broker } = await open({}, { log, onFailure: (error) => failures.push(error) });
  const id = await add(broker, job("kept"));
  const events = broker.events({ events: ["failed"] });
  log.hold();
  const adding = broker.add("q", [job("lost")]);
  const ending = broker.ended(id);
  await turns(5);
  log.fail();
  await assert.rejects(adding, { code: "LOG_FAILED" });
  await assert.rejects(ending, { code: "LOG_FAILED" });
  await assert.rejects(broker.add("q", [job("later")]), { code: "LOG_FAILED" });
  await assert.rejects(broker.lease("q", { max: 1 }), { code: "LOG_FAILED" });
  await assert.rejects(broker.job(id), { code: "LOG_FAILED" });
  const { value } = (await events.next()) as IteratorResult<BrokerEvent, BrokerEvent>;
  assert.equal(value.event, "failed");
  assert.equal(failures.length, 1);
});

test("callers do not learn where the log is; the operator does", async () => {
  const log = new HeldLog();
  const failures: SluiceError[] = [];
  const { broker } = await open({}, { log, onFailure: (error) => failures.push(error) });
  const id = await add(broker, job("kept"));
  const events = broker.events({ events: ["failed"] });
  log.hold();
  const calls = [broker.add("q", [job("lost")]), broker.ended(id)];
  await turns(5);
  log.fail("writing the log failed in /secret/place: ENOSPC", { path: "/secret", code: "ENOSPC" });
  const told = await Promise.all(
    calls.map((call: Promise<unknown>) => call.then(answered, textOf)),
  );
  for (const call of [() => broker.job(id), () => broker.add("q", [job("later")])]) {
    told.push(await (call() as Promise<unknown>).then(answered, textOf));
  }
  told.push(JSON.stringify((await events.next()).value));
  for (const text of told) {
    assert.match(text, /LOG_FAILED.*ENOSPC/);
    assert.ok(!text.includes("secret"), text);
  }
  assert.match(failures[0]!.message, /secret/);
});

function answered(): string {
  return "it was answered";
}

function textOf(error: SluiceError): string {
  return JSON.stringify(error.toJSON());
}

test("a consumer of a failed broker is over", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log });
  const consumer = await broker.consume("q", { worker: "w", credits: 1 }, () => {});
  log.hold();
  void broker.add("q", [job("x")]).catch(() => {});
  await turns(5);
  log.fail();
  await consumer.over;
});

test("an add waits when the log cannot keep up", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log, unsyncedBytesMax: 1000 });
  log.hold();
  const first = broker.add("q", [job("x".repeat(2000))]);
  await turns(5);
  let isAnswered = false;
  const second = broker.add("q", [job("y")]).then(() => {
    isAnswered = true;
  });
  await turns(5);
  assert.equal((await broker.queue("q")).stats.waiting, 1, "it is not even taken in");
  log.letGo();
  await Promise.all([first, second]);
  assert.ok(isAnswered);
  assert.equal((await broker.queue("q")).stats.waiting, 2);
});

test("a reader of events that falls far behind is cut off, and others are not", async () => {
  const { broker } = await open({ capacity: { jobs: 100_000 } });
  const slow = broker.events({ events: ["added"] });
  const jobs = Array.from({ length: 10_000 }, () => job(""));
  await broker.add("q", jobs);
  const late = broker.events({ events: ["added"] });
  await broker.add("q", jobs.slice(0, 1));
  await assert.rejects(
    async () => {
      for await (const _ of slow);
    },
    { code: "RATE_LIMITED" },
  );
  assert.equal((await late.next()).value.event, "added");
});

test("after a restart, time continues from the last fact if the clock is behind it", async () => {
  const clock = turningClock(5);
  const log = new MemoryLog();
  const broker = await openBroker({ log, clock });
  await broker.setQueue("q", { lease: 1000 });
  await broker.add("q", [job("x", { delayMs: 5000 })]);
  await clock.advance(60_000);
  await broker.setGate("g", { rate: 1, burst: 10 });
  await broker.close();
  const behind = turningClock(5);
  const again = await openBroker({ log: new MemoryLog({ after: log }), clock: behind });
  const [leased] = await again.lease("q", { max: 1 });
  assert.ok(leased!.expiresAt > clock.now(), "a lease of a second ends after the last fact");
  await behind.advance(1001);
  assert.equal((await again.job(leased!.id)).state, "delayed", "and it ends a second later");
  await again.close();
});

test("a payload that is damaged in the log is not served: the broker stops", async () => {
  const log: Log = new MemoryLog();
  const { broker } = await open({}, { log, payloadMemoryBytes: 1 });
  const filler = Array.from({ length: 3 }, () => job("f".repeat(900_000)));
  await broker.add("q", [job("x"), ...filler]);
  log.read = () => Promise.reject(new SluiceError("LOG_DAMAGED", "a block is damaged"));
  const taking = broker.lease("q", { max: 1, wait: 1000 });
  assert.deepEqual(await taking, []);
  await assert.rejects(broker.add("q", [job("y")]), { code: "LOG_FAILED" });
});

test("jobs that exceed one append are complete after a restart", async () => {
  const log = new MemoryLog();
  const { broker, clock } = await open({}, { log });
  const size = 100_000;
  const jobOf = (n: number): NewJob => ({ payload: new Uint8Array(size).fill(n), group: "g" });
  // A group is not taken apart: 70 MB in one go, and as much in many calls at once.
  await broker.add(
    "q",
    Array.from({ length: 700 }, (_, n) => jobOf(n % 251)),
  );
  const small = Array.from({ length: 35 }, (_, n) => n);
  await Promise.all(small.map(() => broker.add("q", small.slice(0, 20).map(jobOf))));
  await broker.close();
  const again = await openBroker({ log: new MemoryLog({ after: log }), clock });
  const all = await again.lease("q", { max: 2000 });
  assert.equal(all.length, 1400);
  for (const { payload } of all) {
    assert.equal(payload.length, size);
    assert.equal(payload[0], payload[size - 1]);
  }
  await again.close();
});

test("refuses an invalid limit with its name and value", async () => {
  for (const options of [
    { payloadBytesMax: 0 },
    { payloadBytesMax: 16 * 1024 * 1024 + 1 },
    { payloadMemoryBytes: -1 },
    { segmentBytes: 0.5 },
    { unsyncedBytesMax: Number.NaN },
  ]) {
    const [field] = Object.keys(options);
    await assert.rejects(openBroker({ log: new MemoryLog(), ...options }), (error: SluiceError) => {
      return error.code === "INVALID" && error.details.field === `open.${field}`;
    });
  }
});

test("bytes above the limit of a payload are refused, bytes at it are not", async () => {
  const { broker } = await open({}, { payloadBytesMax: 10 });
  const [at, above] = await broker.add("q", [
    { payload: bytes("0123456789") },
    { payload: bytes("0123456789a") },
  ]);
  assert.ok(at!.ok);
  assert.equal(above!.error?.code, "PAYLOAD_TOO_LARGE");
});

test("a lease granted while the log syncs an earlier one waits for its own sync", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log });
  const delivered: string[] = [];
  await broker.consume("q", { worker: "w", credits: 10 }, (jobs) => {
    delivered.push(...jobs.map(({ payload }) => new TextDecoder().decode(payload)));
  });
  log.hold();
  void broker.add("q", [job("first")]);
  await turns(5);
  void broker.add("q", [job("second")]);
  await turns(5);
  log.letGo();
  log.hold();
  await turns(5);
  assert.deepEqual(delivered, ["first"]);
  log.letGo();
  await turns(5);
  assert.deepEqual(delivered, ["first", "second"]);
});

test("a poll whose job is cancelled on its way is answered with nothing", async () => {
  const log = new HeldLog();
  const { broker } = await open({}, { log });
  const id = await add(broker, job("x"));
  log.hold();
  const polling = broker.lease("q", { max: 1 });
  await turns(5);
  const cancelling = broker.cancel([id]);
  log.letGo();
  assert.deepEqual(await polling, []);
  assert.deepEqual(await cancelling, [{ ok: true }]);
});
