import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError } from "sluice";
import { openMail, openSluice } from "./testing/open-mail.ts";

const never = (): Promise<never> => new Promise(() => {});

test("closing takes no new job and waits for those that run", async (t) => {
  const { sluice, mail } = await openMail<number, string>(t);
  const { promise, resolve } = Promise.withResolvers<string>();
  const worker = mail.work(() => promise);
  const [first, second] = await Promise.all([mail.add(1), mail.add(2)]);
  await sluice.drain();
  const closed = worker.close({ timeout: 60_000 });
  resolve("done");
  await closed;
  assert.equal(await first.finished(), "done");
  assert.equal((await second.info()).state, "waiting");
  assert.deepEqual(await mail.workers(), []);
});

test("after the timeout handlers are aborted, and their jobs go back at once", async (t) => {
  const { sluice, clock, mail } = await openMail<number, string>(t);
  const reasons: string[] = [];
  const worker = mail.work((_, { signal }) => {
    signal.addEventListener("abort", () => reasons.push(signal.reason.code));
    return never();
  });
  const job = await mail.add(1);
  await sluice.drain();
  const closed = worker.close({ timeout: 5_000 });
  await clock.advance(4_999);
  assert.deepEqual(reasons, []);
  await clock.advance(1);
  await closed;
  assert.deepEqual(reasons, ["ABORTED"]);
  const { state, attempt } = await job.info();
  assert.deepEqual([state, attempt], ["waiting", 0], "no attempt is lost");
  mail.work(() => "by another");
  assert.equal(await job.finished(), "by another");
});

test("jobs that were held ready go back at once", async (t) => {
  const { sluice, mail } = await openMail<number, string>(t);
  const { promise, resolve } = Promise.withResolvers<string>();
  const worker = mail.work(() => promise, { prefetch: 5 });
  await mail.addBulk(Array.from({ length: 6 }, (_, payload) => ({ payload })));
  await sluice.drain();
  assert.equal((await mail.stats()).running, 6);
  const closed = worker.close({ timeout: 60_000 });
  await sluice.drain();
  assert.equal((await mail.stats()).running, 1);
  resolve("done");
  await closed;
  assert.equal((await mail.stats()).waiting, 5);
});

test("what a handler does after it was aborted changes nothing", async (t) => {
  const { sluice, mail } = await openMail<number, string>(t);
  const { promise, reject } = Promise.withResolvers<string>();
  const heard: string[] = [];
  sluice.on("failed", () => heard.push("failed"));
  sluice.on("retried", () => heard.push("retried"));
  const worker = mail.work(() => promise);
  const job = await mail.add(1);
  await sluice.drain();
  await worker.close({ timeout: 0 });
  reject(new Error("aborted"));
  await sluice.drain();
  assert.deepEqual(heard, []);
  assert.equal((await job.info()).state, "waiting");
});

test("closing twice is closing once", async (t) => {
  const { mail } = await openMail(t);
  let closed = 0;
  const worker = mail.work(() => {}).on("closed", () => closed++);
  await Promise.all([worker.close(), worker.close()]);
  await worker.close();
  assert.equal(closed, 1);
  await assert.rejects(worker.close({ timeout: -1 }), { code: "INVALID" });
});

test("a second close may shorten the time of the first, and never lengthens it", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  const signals: AbortSignal[] = [];
  const worker = mail.work((_, { signal }) => {
    signals.push(signal);
    return never();
  });
  await mail.add(1);
  await sluice.drain();
  const closes = [worker.close({ timeout: 60_000 }), worker.close({ timeout: 90_000 })];
  closes.push(worker.close(), worker.close({ timeout: 5_000 }));
  await clock.advance(4_999);
  assert.equal(signals[0]?.aborted, false);
  await clock.advance(1);
  await Promise.all(closes);
  assert.equal(signals[0]?.aborted, true);
});

test("closing a Sluice again may shorten the time of its workers", async (t) => {
  const { sluice, clock, mail } = await openMail<number>(t);
  mail.work(never);
  await mail.add(1);
  await sluice.drain();
  const closed = sluice.close({ timeout: 60_000 });
  const again = sluice.close({ timeout: 1_000 });
  await clock.advance("1s");
  await Promise.all([closed, again]);
});

test("await using closes a worker", async (t) => {
  const { mail } = await openMail(t);
  {
    await using worker = mail.work(() => {});
    assert.equal(worker.running, 0);
  }
  assert.deepEqual(await mail.workers(), []);
});

test("a worker of a deleted queue closes by itself", async (t) => {
  const { sluice, mail } = await openMail(t);
  const closed = Promise.withResolvers<void>();
  mail.work(() => {}).on("closed", () => closed.resolve());
  await sluice.drain();
  await mail.delete();
  await closed.promise;
});

test("a handler is aborted when its queue is deleted, or its job cancelled by key", async (t) => {
  const { sluice } = await openSluice(t);
  for (const end of ["delete", "cancelByKey"] as const) {
    const mail = await sluice.queue<number>(`mail-${end}`);
    const signals: AbortSignal[] = [];
    const lost: string[] = [];
    const worker = mail.work(
      (_, { signal }) => {
        signals.push(signal);
        return never();
      },
      { concurrency: 2 },
    );
    worker.on("lease-lost", ({ job }) => lost.push(job.id));
    const job = await mail.add(1, { dedupe: { key: "k" } });
    await mail.add(2);
    await sluice.drain();
    await (end === "delete" ? mail.delete() : mail.cancelByKey("k"));
    await sluice.drain();
    const aborted = signals.map((signal) => signal.aborted);
    assert.deepEqual(aborted, [true, end === "delete"], end);
    assert.equal(lost[0], job.id);
  }
});

test("a worker of a queue that is not there tells the error and closes", async (t) => {
  const { mail } = await openMail(t);
  await mail.delete();
  const heard: string[] = [];
  const closed = Promise.withResolvers<void>();
  mail
    .work(() => {})
    .on("error", ({ error }) => heard.push((error as SluiceError).code))
    .on("closed", () => closed.resolve());
  await closed.promise;
  assert.deepEqual(heard, ["QUEUE_NOT_FOUND"]);
});

test("closing a Sluice closes its workers and gives their jobs back", async (t) => {
  const { sluice, mail } = await openMail(t);
  const heard: string[] = [];
  sluice.on("closed", ({ worker }) => heard.push(worker));
  mail.work(never, { name: "a" });
  mail.work(() => {}, { name: "b" });
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  await sluice.drain();
  await sluice.close();
  assert.deepEqual(heard.sort(), ["a", "b"]);
  await sluice.close();
  await assert.rejects(mail.add(1), { code: "CLOSED" });
  assert.throws(() => mail.work(() => {}), { code: "CLOSED" });
  assert.throws(() => mail.consume(), { code: "CLOSED" });
});

test("what was added before the close is not lost", async (t) => {
  const { sluice, mail } = await openMail(t);
  const added = mail.add(1);
  await sluice.close();
  assert.notEqual((await added).id, "");
});
