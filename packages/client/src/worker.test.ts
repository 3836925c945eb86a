import assert from "node:assert/strict";
import { hostname } from "node:os";
import { test } from "node:test";
import { VERSION } from "@sluice/protocol";
import { JobFailed, RetryAfter, type SluiceError, Unrecoverable } from "sluice";
import { openMail, openSluice } from "./testing/open-mail.ts";

test("a handler gets the job, and its result reaches the caller that waits", async (t) => {
  const { mail } = await openMail<{ to: string }, { sent: string }>(t);
  mail.work((job) => ({ sent: `${job.payload.to} ${job.attempt} ${job.headers.a}` }));
  const job = await mail.add({ to: "x" }, { headers: { a: "b" } });
  assert.deepEqual(await job.finished(), { sent: "x 0 b" });
  assert.deepEqual((await job.info()).result, { sent: "x 0 b" });
});

test("a handler may return nothing, and may not be asynchronous", async (t) => {
  const { mail } = await openMail(t);
  mail.work(() => {});
  assert.equal(await (await mail.add(1)).finished(), undefined);
});

test("events come in order: started, finished when the ack is confirmed, then idle", async (t) => {
  const { sluice, mail } = await openMail<number, number>(t);
  const heard: string[] = [];
  sluice.on("finished", ({ result }) => heard.push(`sluice finished ${result}`));
  mail.on("started", ({ job }) => heard.push(`started ${job.payload}`));
  const worker = mail.work(({ payload }) => payload * 2, { concurrency: 2 });
  worker.on("finished", ({ result }) => heard.push(`finished ${result}`));
  worker.on("idle", () => heard.push("idle"));
  worker.on("closed", () => heard.push("closed"));
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  await sluice.drain();
  await worker.close();
  assert.deepEqual(heard, [
    "started 1",
    "started 2",
    "finished 2",
    "sluice finished 2",
    "finished 4",
    "sluice finished 4",
    "idle",
    "closed",
  ]);
});

test("a job that throws is retried with backoff until its attempts are used up", async (t) => {
  const { sluice, clock, mail } = await openMail(t, {
    retry: { attempts: 3, min: "1s", jitter: 0 },
  });
  const heard: string[] = [];
  mail.on("retried", ({ job, error }) => heard.push(`retried ${job.attempt} ${error}`));
  mail.on("failed", ({ job, error }) => heard.push(`failed ${job.attempt} ${error}`));
  mail.work(({ attempt }) => {
    throw new TypeError(`no ${attempt}`);
  });
  const job = await mail.add(1);
  const finished = assert.rejects(job.finished(), (error) => {
    assert.ok(error instanceof JobFailed);
    assert.deepEqual([error.state, error.reason], ["dead", "TypeError: no 2"]);
    return true;
  });
  await sluice.drain();
  assert.equal(heard.length, 1);
  await clock.advance("1s");
  await clock.advance("2s");
  await finished;
  assert.deepEqual(heard, [
    "retried 0 TypeError: no 0",
    "retried 1 TypeError: no 1",
    "failed 2 TypeError: no 2",
  ]);
  const dead = await sluice.job(job.id).info();
  assert.deepEqual(
    [dead.queue, dead.dead?.origin, dead.error],
    ["mail.dlq", "mail", "TypeError: no 2"],
  );
});

test("Unrecoverable ends a job at once", async (t) => {
  const { mail } = await openMail(t);
  mail.work(async () => {
    throw new Unrecoverable("no such user");
  });
  const job = await mail.add(1);
  await assert.rejects(job.finished(), { state: "dead", reason: "Unrecoverable: no such user" });
  assert.equal((await mail.stats()).retried, 0);
});

test("RetryAfter cools its gate down and uses no attempt", async (t) => {
  const { sluice, clock, mail } = await openMail<number, number>(t, { retry: { attempts: 1 } });
  await sluice.gate("smtp").set({ rate: 100 });
  let calls = 0;
  mail.work(({ attempt }) => {
    calls++;
    if (calls === 1) throw new RetryAfter("30s", { gate: "smtp", reason: "429" });
    return attempt;
  });
  const job = await mail.add(1, { gates: ["smtp"] });
  const free = await mail.add(2);
  await sluice.drain();
  assert.equal(await free.finished(), 0, "a job without the gate continues");
  const { cooldown } = await sluice.gate("smtp").info();
  assert.deepEqual(cooldown, { until: clock.now() + 30_000, reason: "429" });
  await clock.advance(29_999);
  assert.equal(calls, 2);
  await clock.advance(1);
  assert.equal(await job.finished(), 0);
});

test("a rule beside a policy decides when, and the attempts how often", async (t) => {
  const { sluice, clock } = await openSluice(t);
  const start = clock.now();
  const mail = await sluice.queue<number>("mail", {
    retry: { attempts: 3, rule: (_, { attempt }) => ({ delay: `${attempt + 1}m` }) },
  });
  const runs: number[] = [];
  mail.work(() => {
    runs.push(clock.now() - start);
    throw new Error("no");
  });
  const job = await mail.add(1);
  await clock.advance("1h");
  assert.deepEqual(runs, [0, 60_000, 180_000]);
  await assert.rejects(job.finished(), { state: "dead" });
  assert.equal((await mail.info()).config.retry.attempts, 3);
});

test("reports an invalid answer of a rule as an error, and the policy decides", async (t) => {
  const { sluice } = await openSluice(t);
  const errors: string[] = [];
  sluice.on("error", ({ error }) => errors.push(error.message));
  for (const [i, answer] of [true, { dealy: "1s" }, { delay: "soon" }].entries()) {
    const mail = await sluice.queue<number>(`mail-${i}`, { retry: () => answer as never });
    mail.work(() => Promise.reject(new Error("no")));
    const job = await mail.add(1);
    await sluice.drain();
    assert.equal((await job.info()).state, "delayed");
    assert.match(errors[i] ?? "", /^queue\.retry's answer/);
  }
});

test("a failure that the broker refuses is sent in plain form; the job is retried", async (t) => {
  const { sluice, clock } = await openSluice(t);
  sluice.on("error", () => {});
  const mail = await sluice.queue<number, string>("mail");
  mail.work(({ attempt }) => {
    if (attempt > 0) return "done";
    const error = new RetryAfter("1s", { gate: "smtp" });
    // What no constructor lets through, a later version of the broker may still refuse.
    throw Object.assign(error, { gate: "two words" });
  });
  const job = await mail.add(1);
  await sluice.drain();
  const { state, attempt, error } = await job.info();
  assert.deepEqual([state, attempt], ["delayed", 1]);
  assert.match(error ?? "", /^retry after 1000 ms \(INVALID: .*two words/);
  await clock.advance("1m");
  assert.equal(await job.finished(), "done");
});

test("a retry function decides by the error, and may leave it to the queue", async (t) => {
  const { sluice, clock, mail } = await openMail<string, string>(t, {
    retry: (error, job) => {
      if (String(error).includes("dead")) return "dlq";
      if (String(error).includes("later")) return { delay: "1h" };
      if (String(error).includes("bug")) throw new Error(`rule failed on ${job.payload}`);
      return undefined;
    },
  });
  const errors: string[] = [];
  sluice.on("error", ({ error }) => errors.push(error.message));
  mail.work(({ payload, attempt }) => {
    if (attempt === 0) throw new Error(payload);
    return "ok";
  });
  const dead = await mail.add("dead");
  await assert.rejects(dead.finished(), { state: "dead" });
  const later = await mail.add("later");
  await sluice.drain();
  const why = await later.why();
  assert.ok(why.state === "delayed" && why.until === clock.now() + 3_600_000);
  const bug = await mail.add("bug");
  await sluice.drain();
  assert.equal((await bug.why()).state, "delayed");
  assert.deepEqual(errors, ["rule failed on bug"]);
  await clock.advance("1h");
  assert.equal(await later.finished(), "ok");
});

test("a result that JSON cannot carry fails the job for good, with the field", async (t) => {
  const { mail } = await openMail<number, unknown>(t);
  let calls = 0;
  mail.work(() => {
    calls++;
    return { count: 1n };
  });
  const job = await mail.add(1);
  const reason = "INVALID: result.count must be JSON, got 1n";
  await assert.rejects(job.finished(), { state: "dead", reason });
  assert.equal(calls, 1);
});

test("whatever is thrown has failed, even nothing", async (t) => {
  const { mail } = await openMail<string, unknown>(t, { retry: { attempts: 1 } });
  const thrown: Record<string, unknown> = { a: undefined, b: null, c: "text", d: 5 };
  mail.work(({ payload }) => Promise.reject(thrown[payload]));
  const reasons: unknown[] = [];
  for (const key of Object.keys(thrown)) {
    const job = await mail.add(key);
    await job.finished().catch((error) => reasons.push(error.reason));
  }
  const nothing = "nothing was thrown with the error";
  assert.deepEqual(reasons, [nothing, nothing, "text", "5"]);
});

test("no more handlers run side by side than the concurrency says", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  const releases: (() => void)[] = [];
  let most = 0;
  let running = 0;
  const worker = mail.work(
    async () => {
      running++;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => releases.push(resolve));
      running--;
    },
    { concurrency: 3, name: "w" },
  );
  await mail.addBulk(Array.from({ length: 10 }, (_, payload) => ({ payload })));
  await sluice.drain();
  assert.deepEqual([worker.running, worker.concurrency], [3, 3]);
  const place = { host: hostname(), process: process.pid, version: VERSION };
  const since = clock.now();
  const own = { name: "w", queue: "mail", place, since };
  assert.deepEqual(await mail.workers(), [{ ...own, free: 0, running: 3 }]);
  while (releases.length > 0) {
    releases.shift()?.();
    await sluice.drain();
  }
  assert.equal(most, 3);
  assert.equal((await mail.stats()).finished, 10);
});

test("jobs held ready run when there is a slot, in their order", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const order: number[] = [];
  const worker = mail.work(async ({ payload }) => void order.push(payload), { prefetch: 4 });
  await mail.addBulk(Array.from({ length: 20 }, (_, payload) => ({ payload })));
  await sluice.drain();
  assert.deepEqual(order, [...Array(20).keys()]);
  assert.equal(worker.running, 0);
});

test("a listener that throws does not stop the worker", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  const errors: string[] = [];
  const worker = mail.work(() => {});
  worker.on("error", ({ error }) => errors.push(error.message));
  worker.on("started", () => {
    throw new Error("bad listener");
  });
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  await sluice.drain();
  assert.equal((await mail.stats()).finished, 2);
  assert.deepEqual(errors, ["bad listener", "bad listener"]);
});

test("a handler writes lines about its job, which stay when it has ended", async (t) => {
  const { sluice, mail } = await openMail(t);
  const codes: unknown[] = [];
  mail.work(async (job) => {
    await job.log("half way");
    await job.log(7 as unknown as string).catch((error: SluiceError) => codes.push(error.code));
  });
  const job = await mail.add(1);
  await job.finished();
  const lines = await sluice.job(job.id).log();
  assert.deepEqual([codes, lines.map(({ text }) => text)], [["INVALID"], ["half way"]]);
  assert.equal((await job.attempts()).length, 1);
});

test("progress is shown with the job, and must be JSON", async (t) => {
  const { sluice, mail } = await openMail(t);
  const seen: unknown[] = [];
  mail.work(async (job, { progress }) => {
    await progress({ done: 3 });
    seen.push((await sluice.job(job.id).info()).progress);
    await progress(1n).catch((error: SluiceError) => seen.push(error.code));
  });
  await (await mail.add(1)).finished();
  assert.deepEqual(seen, [{ done: 3 }, "INVALID"]);
});

test("elastic workers grow under load and shrink without it", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  const releases: (() => void)[] = [];
  const worker = mail.work(() => new Promise<void>((resolve) => releases.push(resolve)), {
    concurrency: { min: 1, max: 3, scaleUpAt: 0.6, scaleDownAt: 0.4 },
  });
  const scaled: string[] = [];
  worker.on("scaled", ({ from, to }) => scaled.push(`${from} to ${to}`));
  await mail.addBulk(Array.from({ length: 9 }, (_, payload) => ({ payload })));
  await sluice.drain();
  assert.equal(worker.running, 1);
  await clock.advance("1s");
  assert.equal(worker.running, 2);
  await clock.advance("1s");
  assert.equal(worker.running, 3);
  await clock.advance("5s");
  while (releases.length > 0) {
    for (const release of releases.splice(0)) release();
    await sluice.drain();
  }
  await clock.advance("5s");
  assert.deepEqual(scaled, ["1 to 2", "2 to 3", "3 to 2", "2 to 1"]);
  assert.equal((await mail.stats()).finished, 9);
});

test("a worker that shrank gives back what it has no slot for", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  let load = 1;
  const worker = mail.work(() => new Promise<void>(() => {}), {
    concurrency: { min: 1, max: 2, load: () => load },
  });
  await clock.advance("1s");
  load = 0;
  await clock.advance("1s");
  assert.equal(worker.concurrency, 1);
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  await sluice.drain();
  assert.equal(worker.running, 1);
  const { waiting, running } = await mail.stats();
  assert.deepEqual([waiting, running], [1, 1]);
  await worker.close({ timeout: 0 });
});

test("a handler must be a function, and options must be known", async (t) => {
  const { mail } = await openMail(t);
  assert.throws(() => mail.work(5 as never), { code: "INVALID", message: /^work\.handler/ });
  assert.throws(() => mail.work(() => {}, { threads: 5 } as never), { code: "INVALID" });
});
