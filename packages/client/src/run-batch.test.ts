import assert from "node:assert/strict";
import { test } from "node:test";
import { type BatchJob, JobFailed } from "sluice";
import { openMail } from "./testing/open-mail.ts";

const payloads = (jobs: readonly BatchJob<number>[]): number[] => jobs.map((job) => job.payload);

test("a batch starts when it is full, or when its first job has waited", async (t) => {
  const { sluice, clock, mail } = await openMail<number, number>(t);
  const batches: number[][] = [];
  mail.work((jobs) => void batches.push(payloads(jobs)), { batch: { max: 3, wait: "200ms" } });
  await mail.addBulk([1, 2, 3, 4].map((payload) => ({ payload })));
  await clock.advance(199);
  assert.deepEqual(batches, [[1, 2, 3]]);
  await clock.advance(1);
  assert.deepEqual(batches, [[1, 2, 3], [4]]);
  await sluice.drain();
});

test("each job of a batch has its own outcome", async (t) => {
  const { clock, mail } = await openMail<number, number>(t, { retry: { attempts: 1 } });
  const handler = (jobs: readonly BatchJob<number>[]): (number | Error)[] =>
    jobs.map(({ payload }) => (payload === 2 ? new Error("no twos") : payload * 10));
  mail.work(handler, { batch: { max: 10, wait: 0 } });
  const added = await Promise.all([1, 2, 3].map((payload) => mail.add(payload)));
  await clock.advance(1);
  assert.equal(await added[0]!.finished(), 10);
  await assert.rejects(added[1]!.finished(), (error) => {
    return error instanceof JobFailed && error.reason === "Error: no twos";
  });
  assert.equal(await added[2]!.finished(), 30);
});

test("a batch whose handler throws fails as a whole, and each job is retried", async (t) => {
  const { sluice, clock, mail } = await openMail<number, void>(t, {
    retry: { attempts: 2, min: "1s", jitter: 0 },
  });
  let calls = 0;
  mail.work(
    (jobs) => {
      if (calls++ === 0) throw new Error("the whole batch");
      assert.deepEqual(
        jobs.map(({ attempt }) => attempt),
        [1, 1],
      );
    },
    { batch: { max: 2, wait: "1s" } },
  );
  await mail.addBulk([{ payload: 1 }, { payload: 2 }]);
  await clock.advance("5s");
  await sluice.drain();
  assert.equal(calls, 2);
  assert.equal((await mail.stats()).finished, 2);
});

test("a wrong number of outcomes fails the batch with an error that says so", async (t) => {
  const { clock, mail } = await openMail<number, number>(t, { retry: { attempts: 1 } });
  mail.work(() => [1, 2, 3], { batch: { max: 2, wait: 0 } });
  const job = await mail.add(1);
  await clock.advance(1);
  await assert.rejects(job.finished(), /array of 1 outcomes, one for each job, .* 3 outcomes/);
});

test("a payload that cannot be read fails its job alone", async (t) => {
  const { sluice, clock } = await openMail(t);
  const raw = await sluice.queue<number, void>("raw", { retry: { attempts: 1 } });
  const seen: number[] = [];
  await sluice.broker.add("raw", [{ payload: Uint8Array.of(255) }]);
  await raw.add(7);
  raw.work((jobs) => void seen.push(...payloads(jobs)), { batch: { max: 2 } });
  await clock.advance("1s");
  await sluice.drain();
  assert.deepEqual(seen, [7]);
  const { finished, dead } = await raw.stats();
  assert.deepEqual([finished, dead], [1, 1]);
});

test("closing gives back the jobs of a batch that has not started", async (t) => {
  const { mail, clock } = await openMail<number, void>(t);
  const worker = mail.work(() => assert.fail("started"), { batch: { max: 5, wait: "1h" } });
  const job = await mail.add(1);
  await clock.advance(1);
  await worker.close();
  const { state, deliveries, attempt } = await job.info();
  assert.deepEqual([state, deliveries, attempt], ["waiting", 1, 0]);
});
