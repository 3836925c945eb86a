import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock, SluiceError } from "sluice";
import { openMail, openSluice } from "./testing/open-mail.ts";

/** What the error of a refused call says. */
async function refusal(call: Promise<unknown>): Promise<{ message: string; given: unknown[] }> {
  const error = await call.then(
    () => assert.fail("it was accepted"),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof SluiceError && error.code === "INVALID", String(error));
  return { message: error.message, given: [error.details.field, error.details.value] };
}

test("a queue's refusals name the field that was typed and the value that was given", async (t) => {
  const { sluice } = await openSluice(t);
  const set = (options: object) => refusal(sluice.queue("q", options));
  const cases: [object, unknown[]][] = [
    [{ lease: "0s" }, ["queue.lease", "0s"]],
    [{ promoteAfter: 0 }, ["queue.promoteAfter", 0]],
    [{ fullRetry: "0s" }, ["queue.fullRetry", "0s"]],
    [{ ttl: "0ms" }, ["queue.ttl", "0ms"]],
    [{ retry: { min: "10m", max: "1m" } }, ["queue.retry.min", "10m"]],
    [{ retry: { min: "1h" } }, ["queue.retry.min", "1h"]],
    [{ results: { jobs: -1 } }, ["queue.results.jobs", -1]],
    [{ capacity: { job: 5 } }, ["queue.capacity.job", 5]],
    [{ tiers: [{ nmae: "x" }] }, ["queue.tiers[0].nmae", "x"]],
    [{ weights: { acme: 0 } }, ['queue.weights["acme"]', 0]],
  ];
  for (const [options, given] of cases) {
    const told = await set(options);
    assert.deepEqual(told.given, given);
    assert.ok(told.message.startsWith(String(given[0])), told.message);
    assert.doesNotMatch(told.message, /[a-z]Ms\b/);
  }
  const { message } = await set({ retry: { min: "10m", max: "1m" } });
  assert.equal(message, 'queue.retry.min must be at most max (60000), got "10m"');
});

test("a job's refusals do too, one by one and in bulk", async (t) => {
  const { mail } = await openMail<number>(t);
  const cases: [object, unknown[]][] = [
    [{ weight: 0 }, ["job.weight", 0]],
    [{ delay: "1s", runAt: 5 }, ["job.runAt", 5]],
    [{ dedupe: { key: "k", mode: "window", window: 0 } }, ["job.dedupe.window", 0]],
    [{ dedupe: { key: "k", mode: "window" } }, ["job.dedupe.window", undefined]],
    [{ backoff: { min: "2h" } }, ["job.backoff.min", 7_200_000]],
    [{ gates: ["no name"] }, ["job.gates[0]", "no name"]],
  ];
  for (const [options, given] of cases) {
    const told = await refusal(mail.add(1, options));
    assert.deepEqual(told.given, given);
    assert.doesNotMatch(told.message, /[a-z]Ms\b/);
    const [bulk] = await mail.addBulk([{ payload: 1, ...options }]);
    assert.ok(bulk instanceof SluiceError);
    assert.equal(bulk.message, told.message);
  }
});

test("a gate's refusals do too", async (t) => {
  const { sluice } = await openSluice(t);
  const set = (options: object) => refusal(sluice.gate("g").set(options));
  const window = await set({ windows: [{ limit: 1, per: "0s" }] });
  assert.deepEqual(window.given, ["gate.windows[0].per", "0s"]);
  assert.deepEqual((await set({ ladder: ["0s"] })).given, ["gate.ladder[0]", "0s"]);
  const factors = await set({ interval: { every: "1s", factors: [-1] } });
  assert.deepEqual(factors.given, ["gate.interval.factors[0]", -1]);
});

test("what a policy has set is named too", async (t) => {
  const { mail } = await openMail<number>(t, { policy: { weight: () => 0 } });
  assert.deepEqual((await refusal(mail.add(1))).given, ["job.weight", 0]);
  assert.deepEqual((await refusal(mail.add(1, { cost: 2 }))).given, ["job.weight", 0]);
});

test("other errors pass as they are", async (t) => {
  const { sluice, mail } = await openMail<number>(t, { capacity: { jobs: 1 } });
  await mail.add(1);
  await assert.rejects(mail.add(2), { code: "QUEUE_FULL" });
  await assert.rejects(sluice.queue("no name"), { code: "INVALID" });
});

test("unknown options are refused everywhere", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const job = await mail.add(1);
  const typo = { concurency: 5 } as object;
  const field = (name: string) => (error: unknown) => {
    assert.equal((error as SluiceError).details.field, name);
    assert.equal((error as SluiceError).details.value, 5);
    return true;
  };
  assert.throws(() => mail.work(() => {}, typo), field("work.concurency"));
  assert.throws(() => mail.consume(typo), field("consume.concurency"));
  assert.throws(() => sluice.events(typo), field("events.concurency"));
  assert.throws(() => new FakeClock(typo), field("clock.concurency"));
  assert.throws(() => sluice.store("s").scan(typo), field("scan.concurency"));
  await assert.rejects(mail.addBulk([], typo), field("addBulk.concurency"));
  await assert.rejects(job.finished(typo), field("finished.concurency"));
  await assert.rejects(sluice.close(typo), field("close.concurency"));
  await assert.rejects(mail.redrive(typo), field("redrive.concurency"));
  assert.throws(() => sluice.events({ events: ["addd" as "added"] }), {
    code: "INVALID",
    message: /^events\.events\[0\] must be one of added, .*, got "addd"$/,
  });
  assert.throws(() => sluice.events({ queue: 5 as unknown as string }), { code: "INVALID" });
  assert.throws(() => sluice.events(null as unknown as object), { code: "INVALID" });
});
