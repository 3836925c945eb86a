import assert from "node:assert/strict";
import { test } from "node:test";
import { openMail } from "./testing/open-mail.ts";

const numbers = (count: number): { payload: number }[] =>
  Array.from({ length: count }, (_, payload) => ({ payload }));

test("jobs come one by one and are acked with a result", async (t) => {
  const { mail } = await openMail<number, string>(t);
  const jobs = await mail.addBulk(numbers(5));
  const seen: number[] = [];
  for await (const job of mail.consume({ prefetch: 2 })) {
    seen.push(job.payload);
    await job.ack(`did ${job.payload}`);
    if (seen.length === 5) break;
  }
  assert.deepEqual(seen, [0, 1, 2, 3, 4]);
  const last = jobs[4];
  assert.ok(last !== undefined && !(last instanceof Error));
  assert.equal(await last.finished(), "did 4");
});

test("no more jobs are held than the prefetch says, until some are ended", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  await mail.addBulk(numbers(10));
  const jobs = mail.consume({ prefetch: 3 });
  const first = await jobs.next();
  await jobs.next();
  await sluice.drain();
  assert.equal((await mail.stats()).running, 3);
  assert.ok(!first.done);
  await first.value.ack();
  await sluice.drain();
  assert.equal((await mail.stats()).running, 3);
  await jobs.close({ timeout: 0 });
  const { running, waiting, finished } = await mail.stats();
  assert.deepEqual([running, waiting, finished], [0, 9, 1]);
});

test("a nacked job comes again after its delay, or after the backoff", async (t) => {
  const { clock, mail } = await openMail<number>(t, { retry: { min: "7s", jitter: 0 } });
  const job = await mail.add(1);
  const jobs = mail.consume();
  const take = async () => {
    const { value } = await jobs.next();
    assert.ok(value !== undefined);
    return value;
  };
  await (await take()).nack(new Error("not now"), { delay: "1m" });
  const why = await job.why();
  assert.ok(why.state === "delayed" && why.until === clock.now() + 60_000);
  await clock.advance("1m");
  const second = await take();
  assert.equal(second.attempt, 1);
  await second.nack();
  assert.equal((await job.info()).error, "Error: not now");
  await clock.advance("1h");
  await (await take()).giveBack();
  const third = await take();
  assert.equal(third.attempt, 2, "giving back uses no attempt");
  await third.ack();
  await jobs.close();
});

test("heartbeats keep jobs that were taken and jobs that wait to be", async (t) => {
  const { clock, mail } = await openMail<number>(t, { lease: "30s" });
  await mail.addBulk(numbers(2));
  const jobs = mail.consume({ prefetch: 2 });
  const first = await jobs.next();
  await clock.advance("10m");
  const second = await jobs.next();
  assert.ok(!first.done && !second.done);
  assert.deepEqual([first.value.attempt, second.value.attempt], [0, 0]);
  await Promise.all([first.value.ack(), second.value.ack()]);
  await jobs.close();
});

test("leaving the loop gives back what was not taken", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.addBulk(numbers(5));
  for await (const job of mail.consume({ prefetch: 5 })) {
    await job.ack();
    break;
  }
  const { running, waiting, finished } = await mail.stats();
  assert.deepEqual([running, waiting, finished], [0, 4, 1]);
});

test("a throw inside the loop fails the job in hand at once, and no other", async (t) => {
  const { mail } = await openMail<number>(t, { retry: { min: "1m", jitter: 0 } });
  const jobs = await mail.addBulk(numbers(3));
  const signals: AbortSignal[] = [];
  const looping = async (): Promise<void> => {
    for await (const job of mail.consume({ prefetch: 3 })) {
      signals.push(job.signal);
      throw new Error("boom");
    }
  };
  await assert.rejects(looping(), /boom/);
  const [first, second] = jobs;
  assert.ok(first !== undefined && !(first instanceof Error));
  assert.ok(second !== undefined && !(second instanceof Error));
  const { state, attempt, error } = await first.info();
  assert.deepEqual([state, attempt], ["delayed", 1]);
  assert.match(error ?? "", /loop was left/);
  assert.equal(signals[0]?.aborted, true);
  const other = await second.info();
  assert.deepEqual([other.state, other.attempt], ["waiting", 0], "it was not started");
});

test("who breaks out of the loop may give the job in hand back first", async (t) => {
  const { mail } = await openMail<number>(t);
  const job = await mail.add(1);
  for await (const taken of mail.consume()) {
    await taken.giveBack();
    break;
  }
  const { state, attempt } = await job.info();
  assert.deepEqual([state, attempt], ["waiting", 0]);
});

test("a loop that ends by a call leaves jobs to their takers", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.addBulk(numbers(2));
  const consumption = mail.consume();
  const taken = [];
  for await (const job of consumption) {
    taken.push(job);
    if (taken.length === 2) await consumption.return();
  }
  for (const job of taken) await job.ack();
  assert.equal((await mail.stats()).finished, 2);
});

test("a job that was taken can still be ended after the loop", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.add(1);
  const jobs = mail.consume();
  const taken = await jobs.next();
  await jobs.return();
  assert.ok(!taken.done);
  await taken.value.ack();
  assert.equal((await mail.stats()).finished, 1);
});

test("ending a job twice is refused", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.add(1);
  const jobs = mail.consume();
  const { value } = await jobs.next();
  await value?.ack();
  for (const call of [() => value?.ack(), () => value?.nack(), () => value?.extend("1s")]) {
    await assert.rejects(async () => call(), { code: "LEASE_LOST" });
  }
  await jobs.close();
});

test("a cancelled job is lost to its taker, and makes room for the next", async (t) => {
  const { mail } = await openMail<number>(t);
  const job = await mail.add(1);
  const jobs = mail.consume({ prefetch: 1 });
  const { value } = await jobs.next();
  assert.equal(value?.signal.aborted, false);
  await job.cancel();
  assert.equal(value?.signal.aborted, true);
  await assert.rejects(async () => value?.ack(), { code: "LEASE_LOST" });
  await mail.add(2);
  const next = await jobs.next();
  assert.equal(next.value?.payload, 2);
  await next.value?.ack();
  await jobs.close();
});

test("bad ends are refused and leave the job as it is", async (t) => {
  const { mail } = await openMail<number, unknown>(t);
  await mail.add(1);
  const jobs = mail.consume();
  const { value } = await jobs.next();
  assert.ok(value !== undefined);
  await assert.rejects(value.ack(1n), { code: "INVALID", message: /^result/ });
  await assert.rejects(value.nack("x", { delay: "soon" as "1s" }), { code: "INVALID" });
  await assert.rejects(value.nack("x", { wait: 5 } as never), { code: "INVALID" });
  await value.ack(1);
  await jobs.close();
});

test("a loop on a missing queue throws, and closing one that waits ends it", async (t) => {
  const { mail } = await openMail<number>(t);
  const waiting = mail.consume();
  const next = waiting.next();
  await waiting.close();
  assert.deepEqual(await next, { done: true, value: undefined });
  await mail.delete();
  await assert.rejects(mail.consume().next(), { code: "QUEUE_NOT_FOUND" });
});

test("closing a Sluice ends a loop and gives its jobs back", async (t) => {
  const { sluice, mail } = await openMail<number>(t);
  await mail.addBulk(numbers(3));
  const jobs = mail.consume({ prefetch: 2 });
  await jobs.next();
  const closed = sluice.close();
  await closed;
  assert.deepEqual(await jobs.next(), { done: true, value: undefined });
});

test("a shorter time at a second close is the one that counts", async (t) => {
  const { clock, mail } = await openMail<number>(t);
  await mail.add(1);
  const jobs = mail.consume();
  await jobs.next();
  const closed = jobs.close({ timeout: 60_000 });
  const again = jobs.close({ timeout: 1_000 });
  await clock.advance("1s");
  await Promise.all([closed, again]);
  assert.equal((await mail.stats()).waiting, 1);
});

test("closing does not abort a job that the abort of another has given back", async (t) => {
  const { mail } = await openMail<number>(t);
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  const jobs = mail.consume({ prefetch: 2 });
  const { value: first } = await jobs.next();
  const { value: second } = await jobs.next();
  const { signal } = second!;
  first!.signal.addEventListener("abort", () => void second!.giveBack());
  await jobs.close({ timeout: 0 });
  assert.equal(first!.signal.aborted, true);
  assert.equal(signal.aborted, false);
});
