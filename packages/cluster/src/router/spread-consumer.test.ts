import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { GATHER_MS, PATIENCE_MS, QUIET_MS, SURPLUS_MS, WITHOUT_ONE_MS } from "../limits.ts";
import { job, keysOf, partitionsOf, stage, textOf } from "../testing/stage.ts";

const SPREAD = 3;

async function consuming(credits: number) {
  const { cluster, router, clock, directory } = stage();
  await router.setQueue("q", { spread: SPREAD });
  const got: LeasedJob[] = [];
  const consumer = await router.consume("q", { worker: "w", credits }, (jobs) => {
    got.push(...jobs);
  });
  const add = (slot: number, count: number) => {
    const [fairnessKey] = keysOf(slot, SPREAD, 1);
    return router.add(
      "q",
      Array.from({ length: count }, (_, i) => job(`${slot}.${i}`, { fairnessKey: fairnessKey! })),
    );
  };
  return { cluster, router, clock, directory, got, consumer, add };
}

test("credits at partitions that have nothing are used by the one that has jobs", async () => {
  const { clock, got, add } = await consuming(6);
  await add(1, 20);
  await clock.advance(QUIET_MS);
  assert.equal(got.length, 6);
});

test("a single credit finds its job, wherever it is", async () => {
  for (let slot = 0; slot < SPREAD; slot++) {
    const { clock, got, add } = await consuming(1);
    await add(slot, 2);
    await clock.advance(QUIET_MS * SPREAD);
    assert.deepEqual(got.map(textOf), [`${slot}.0`]);
  }
});

test("jobs beyond the credits wait for the next one, and go back when none comes", async () => {
  const { router, clock, got, consumer, add } = await consuming(1);
  // All partitions are quiet, and each has been lent the one credit.
  await clock.advance(QUIET_MS * SPREAD);
  for (let slot = 0; slot < SPREAD; slot++) await add(slot, 1);
  await clock.advance(0);
  assert.equal(got.length, 1);
  assert.equal((await router.queue("q")).stats.running, 3);
  consumer.addCredits(1);
  assert.equal(got.length, 2, "a job that waits here is handed out at once");
  await clock.advance(SURPLUS_MS);
  const { stats } = await router.queue("q");
  assert.deepEqual([got.length, stats.running, stats.waiting], [2, 2, 1]);
  consumer.addCredits(1);
  await clock.advance(QUIET_MS * SPREAD);
  assert.deepEqual([got.length, got[2]?.attempt], [3, 0]);
});

test("with jobs everywhere nothing goes back, and every partition has its turn", async () => {
  const { router, clock, got, consumer, add } = await consuming(0);
  for (let slot = 0; slot < SPREAD; slot++) await add(slot, 10);
  for (let i = 0; i < 12; i++) {
    consumer.addCredits(1);
    await clock.advance(1);
    assert.equal(got.length, i + 1);
  }
  const counts = new Map<number, number>();
  for (const partition of partitionsOf(got)) {
    counts.set(partition, (counts.get(partition) ?? 0) + 1);
  }
  assert.deepEqual([...counts.values()], [4, 4, 4]);
  assert.equal((await router.queue("q")).stats.dispatched, 12);
});

test("batches do not shrink with the number of partitions that have jobs", async () => {
  const { router, clock } = stage();
  await router.setQueue("q", { spread: 4 });
  const sizes: number[] = [];
  const consumer = await router.consume("q", { worker: "w", credits: 40 }, (jobs) => {
    sizes.push(jobs.length);
    // The worker is done with them one after the other.
    for (let i = 0; i < jobs.length; i++)
      clock.at(clock.now() + i / 20, () => consumer.addCredits(1));
  });
  const jobs = Array.from({ length: 4 }, (_, slot) => keysOf(slot, 4, 1)[0]!).flatMap((key) =>
    Array.from({ length: 400 }, (_, i) => job(`${i}`, { fairnessKey: key })),
  );
  await router.add("q", jobs);
  await clock.advance(200);
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    jobs.length,
  );
  const later = sizes.slice(8);
  const mean = later.reduce((sum, size) => sum + size, 0) / later.length;
  assert.ok(mean > 14, `${mean} in a batch: ${sizes}`);
  const { stats } = await router.queue("q");
  assert.equal(stats.dispatched, jobs.length, "nothing went back");
});

test("a credit of a worker whose other jobs take long is used at once", async () => {
  const { clock, got, consumer, add } = await consuming(40);
  for (let slot = 0; slot < SPREAD; slot++) await add(slot, 100);
  await clock.advance(QUIET_MS);
  assert.equal(got.length, 40);
  consumer.addCredits(1);
  await clock.advance(GATHER_MS);
  assert.equal(got.length, 41);
});

test("a consumer follows the queue to the partitions it is spread to", async () => {
  const { router, clock, got } = await consuming(8);
  await router.setQueue("q", { spread: 4 });
  await clock.advance(0);
  const [fairnessKey] = keysOf(3, 4, 1);
  await router.add("q", [job("new", { fairnessKey: fairnessKey! })]);
  await clock.advance(QUIET_MS * 4);
  assert.deepEqual(got.map(textOf), ["new"]);
});

test("a consumer of a queue that is deleted is over", async () => {
  const { router, clock, consumer } = await consuming(2);
  let isOver = false;
  void consumer.over.then(() => {
    isOver = true;
  });
  await router.deleteQueue("q");
  await clock.advance(0);
  assert.equal(isOver, true);
  await assert.rejects(
    router.consume("q", { worker: "w", credits: 1 }, () => {}),
    {
      code: "QUEUE_NOT_FOUND",
    },
  );
});

test("a partition that is away delays no other, and joins in when it is back", async () => {
  const { cluster, router, clock, directory } = stage();
  await router.setQueue("q", { spread: SPREAD });
  const [, away] = directory.placementOf("q");
  const add = (slot: number): Promise<unknown> =>
    router.add("q", [job(`${slot}`, { fairnessKey: keysOf(slot, SPREAD, 1)[0]! })]);
  for (let slot = 0; slot < SPREAD; slot++) await add(slot);
  cluster.away.add(away!);
  await cluster.drop(away!, "close");
  const poll = router.lease("q", { max: 1 });
  const late = router.lease("q", { max: 5 });
  await clock.advance(WITHOUT_ONE_MS);
  assert.deepEqual([(await poll).length, (await late).length], [1, 1]);
  const got: string[] = [];
  const joining = router.consume("q", { worker: "w", credits: 5 }, (jobs) => {
    got.push(...jobs.map(textOf));
  });
  await clock.advance(WITHOUT_ONE_MS);
  await joining;
  await add(0);
  await clock.advance(0);
  assert.deepEqual(got, ["0"]);
  cluster.away.clear();
  await clock.advance(1000);
  assert.deepEqual(got, ["0", "1"]);
});

test("a consumer that is stopped is over though a partition is away, and stays so", async () => {
  const { cluster, router, clock, directory, got, consumer, add } = await consuming(6);
  const [, away] = directory.placementOf("q");
  cluster.away.add(away!);
  await cluster.drop(away!, "close");
  let isOver = false;
  void consumer.over.then(() => {
    isOver = true;
  });
  await consumer.stop();
  await clock.advance(PATIENCE_MS + 1_000);
  assert.ok(isOver);
  cluster.away.clear();
  await clock.advance(PATIENCE_MS);
  await add(1, 1);
  await clock.advance(SURPLUS_MS);
  assert.deepEqual([got.length, (await router.workers("q")).length], [0, 0]);
  assert.equal((await router.queue("q")).stats.dispatched, 0);
});
