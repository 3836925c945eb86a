import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, SluiceError } from "@sluice/protocol";
import { MemoryDirectory } from "../directory.ts";
import { homeOfStore } from "../hash.ts";
import { job, keysOf, partitionsOf, stage, textOf } from "../testing/stage.ts";
import { ClusterRouter } from "./cluster-router.ts";

test("jobs of one call go to the partitions of their keys, and are answered in order", async () => {
  const { router } = stage();
  const { config } = await router.setQueue("q", { spread: 3 });
  assert.equal(config.spread, 3);
  const jobs = Array.from({ length: 30 }, (_, i) => job(`${i}`, { fairnessKey: `k${i % 7}` }));
  const outcomes = await router.add("q", [...jobs, job("bad", { weight: 0 })]);
  assert.equal(outcomes[30]?.error?.code, "INVALID");
  const added = outcomes.slice(0, 30).map(({ ok }) => ok!);
  assert.equal(new Set(partitionsOf(added)).size, 3);
  for (const [i, { id }] of added.entries()) assert.equal(textOf(await router.job(id)), `${i}`);
  const { stats } = await router.queue("q");
  assert.deepEqual([stats.waiting, stats.added], [30, 30]);
});

test("a lane stays in one partition, however the levels below it are called", async () => {
  const { router } = stage();
  await router.setQueue("q", { spread: 4 });
  const keys = ["acme", ["acme", "a"], ["acme", "b", "c"]];
  const jobs = keys.map((fairnessKey) => job("x", { fairnessKey }));
  const added = (await router.add("q", jobs)).map(({ ok }) => ok!);
  assert.equal(new Set(partitionsOf(added)).size, 1);
});

test("a queue is spread over as many nodes as there are", async () => {
  const { router, directory } = stage();
  const owners = ["a", "a", "b", "b"];
  Object.assign(directory, { ownerOf: (partition: number) => owners[partition] });
  for (const queue of ["q", "r", "s", "t", "u"]) {
    await router.setQueue(queue, { spread: 2 });
    const placed = directory.placementOf(queue).map((partition) => owners[partition]);
    assert.deepEqual(placed.sort(), ["a", "b"]);
  }
});

test("a spread grows in place, never shrinks, and has a bound", async () => {
  const { router, directory } = stage();
  await router.setQueue("q", { lease: 7000 });
  const [home] = directory.placementOf("q");
  await router.add("q", [job("before", { fairnessKey: keysOf(1, 2, 1)[0]! })]);
  await router.setQueue("q", { spread: 2 });
  assert.deepEqual(directory.placementOf("q"), [home, (home! + 1) % 4]);
  const [second] = (
    await router.add("q", [job("after", { fairnessKey: keysOf(1, 2, 1)[0]! })])
  ).map(({ ok }) => ok!);
  assert.deepEqual(partitionsOf([second!]), [(home! + 1) % 4]);
  const taken = await router.lease("q", { max: 10 });
  assert.deepEqual(taken.map(textOf).sort(), ["after", "before"]);
  assert.deepEqual(
    taken.map(({ expiresIn }) => expiresIn),
    [7000, 7000],
    "the new partition has the options of the queue",
  );
  for (const spread of [1, 0, 5, 1.5]) {
    await assert.rejects(router.setQueue("q", { spread }), { code: "INVALID" });
  }
});

test("a refusal by one partition affects only its own items", async () => {
  const refuse = (): Promise<never> => Promise.reject(new SluiceError("RATE_LIMITED", "too much"));
  const ports = [
    { cancel: async (ids: string[]) => ids.map(() => ({ ok: true })) },
    { cancel: refuse },
  ] as unknown as Broker[];
  const router = new ClusterRouter({
    directory: new MemoryDirectory(2),
    partitions: { port: (partition) => ports[partition]!, close: async () => {} },
  });
  const outcomes = await router.cancel(["0-a1", "1-a1", "9-a1", "0-a2"]);
  const answers = outcomes.map(({ ok, error }) => ok ?? error?.code);
  assert.deepEqual(answers, [true, "RATE_LIMITED", "JOB_NOT_FOUND", true]);
  await assert.rejects(router.cancel(["1-a1", "1-a2"]), { code: "RATE_LIMITED" });
});

test("a repeated operation is answered as the first was, wherever its items are", async () => {
  const { cluster, router, clock } = stage();
  await router.setQueue("q", { spread: 4 });
  const jobs = Array.from({ length: 12 }, (_, i) => job(`${i}`, { fairnessKey: `k${i}` }));
  const options = { operationId: "once" };
  const first = await router.add("q", jobs, options);
  for (let partition = 0; partition < 4; partition++) await cluster.drop(partition, "crash");
  const again = router.add("q", jobs, options);
  await clock.advance(300);
  assert.deepEqual(await again, first);
  assert.equal((await router.queue("q")).stats.added, 12);
});

test("a call that is repeated after its queue's spread grew has effect once", async () => {
  const { router } = stage();
  await router.setQueue("q", {});
  const jobs = Array.from({ length: 12 }, (_, i) => job(`${i}`, { fairnessKey: `k${i}` }));
  const calls = ["mine", "numbered:relay:7"];
  const answers = [];
  for (const operationId of calls) answers.push(await router.add("q", jobs, { operationId }));
  await router.setQueue("q", { spread: 2 });
  answers.push(await router.add("q", jobs, { operationId: "between" }));
  await router.setQueue("q", { spread: 4 });
  answers.push(await router.add("q", jobs, { operationId: "last" }));
  for (const [i, operationId] of [...calls, "between", "last"].entries()) {
    assert.deepEqual(await router.add("q", jobs, { operationId }), answers[i], operationId);
  }
  const spreads = answers.map((one) => new Set(partitionsOf(one.map(({ ok }) => ok!))).size);
  assert.deepEqual(spreads, [1, 1, 2, 4]);
  assert.equal((await router.queue("q")).stats.added, answers.length * jobs.length);
});

test("an add of no jobs asks every partition of its queue whether the id is known", async () => {
  const { router } = stage();
  await router.setQueue("q", { spread: 4 });
  for (let i = 0; i < 12; i++) {
    const ask = () => router.add("q", [], { operationId: `numbered:relay-${i}:7` });
    assert.deepEqual(await ask(), []);
    const jobs = [job(`${i}`, { fairnessKey: `k${i}` })];
    const adding = router.add("q", jobs, { operationId: `numbered:relay-${i}:7` });
    await assert.rejects(ask(), { code: "CONFLICT" });
    await adding;
    await assert.rejects(ask(), { code: "CONFLICT" });
  }
});

test("a call that is repeated while it is under way goes where the first one goes", async () => {
  const { router, cluster, directory } = stage();
  await router.setQueue("q", { spread: 3 });
  const [home, , last] = directory.placementOf("q");
  // Over two partitions as over three, the first key is at home; the second is not in one place.
  const [first] = keysOf(0, 6, 1);
  const [second] = keysOf(5, 6, 1);
  const jobs = [job("a", { fairnessKey: first! }), job("b", { fairnessKey: second! })];
  const [under] = await (await cluster.broker(home!)).add("q", [jobs[0]!], { operationId: "op" });
  const answers = await router.add("q", jobs, { operationId: "op" });
  assert.deepEqual(partitionsOf(answers.map(({ ok }) => ok!)), [home, last]);
  assert.equal(answers[0]!.ok!.id, `${home}-${under!.ok!.id}`);
});

test("dead letters stay where they died, and are one queue to every caller", async () => {
  const { router, directory } = stage();
  await router.setQueue("graveyard", { lease: 1234 });
  await router.setQueue("q", { spread: 3, dlq: "graveyard", retry: { attempts: 1 } });
  for (const partition of directory.placementOf("q")) {
    assert.ok(directory.placementOf("graveyard").includes(partition));
  }
  const jobs = Array.from({ length: 12 }, (_, i) => job(`${i}`, { fairnessKey: `k${i}` }));
  await router.add("q", jobs);
  const taken = await router.lease("q", { max: 100 });
  assert.equal(taken.length, 12);
  await router.nack(taken.map(({ lease }) => ({ lease })));
  assert.equal((await router.queue("graveyard")).stats.waiting, 12);
  assert.equal(await router.redrive("graveyard", { count: 5 }), 5);
  assert.equal((await router.queue("q")).stats.waiting, 5);
  const [dead] = await router.lease("graveyard", { max: 1 });
  assert.equal(dead?.expiresIn, 1234);
  assert.equal(await router.redrive("graveyard"), 6);
  await assert.rejects(router.redrive("q"), { code: "NOT_A_DLQ" });
});

test("a group over several partitions ends once, with all its members", async () => {
  const { router, clock } = stage();
  await router.setQueue("q", { spread: 4 });
  const ends: string[][] = [];
  const events = router.events({ events: ["group-ended"] });
  void (async () => {
    for await (const event of events) {
      if (event.event === "group-ended") ends.push(event.members.map(({ id }) => id));
    }
  })();
  await clock.advance(0);
  const jobs = Array.from({ length: 8 }, (_, i) =>
    job(`${i}`, { fairnessKey: `k${i}`, group: "g" }),
  );
  const added = (await router.add("q", jobs)).map(({ ok }) => ok!.id);
  const waiting = router.groupEnded("q/g");
  const taken = await router.lease("q", { max: 100 });
  for (const { lease } of taken) {
    assert.equal((await router.group("q/g")).ended, false);
    await router.ack([{ lease }]);
  }
  const info = await waiting;
  assert.deepEqual([info.ended, info.members.map(({ id }) => id).sort()], [true, added.sort()]);
  await clock.advance(0);
  assert.deepEqual(
    ends.map((ids) => ids.sort()),
    [added],
  );
});

test("policies find the store that they read in every partition", async () => {
  const { cluster, router } = stage();
  await router.storeWrite("config", [{ key: "plan", value: { gold: 5 } }]);
  await router.storeWrite("other", [{ key: "plan", value: 1 }]);
  for (let partition = 0; partition < 4; partition++) {
    const broker = await cluster.broker(partition);
    assert.deepEqual(await broker.storeGet("config", ["plan"]), [{ gold: 5 }]);
    const isHome = partition === homeOfStore("other", 4);
    assert.deepEqual(await broker.storeGet("other", ["plan"]), [isHome ? 1 : undefined]);
  }
});

test("a cooldown shuts the gate in every partition, whichever part asked for it", async () => {
  const { cluster, router } = stage();
  await router.setQueue("q", {});
  await router.add("q", [job("x")]);
  const [taken] = await router.lease("q", { max: 1 });
  const cooldown = { gate: "smtp", ms: 5000, reason: "429" };
  await router.nack([{ lease: taken!.lease, cooldown }]);
  for (let partition = 0; partition < 4; partition++) {
    const gate = await (await cluster.broker(partition)).gate("smtp");
    assert.equal(gate.cooldown?.reason, "429", `partition ${partition}`);
  }
});

test("no call brings back a queue that is being deleted", async () => {
  const { cluster, router, directory, clock } = stage();
  await router.setQueue("q", { spread: 2 });
  const [first, away] = directory.placementOf("q");
  cluster.away.add(away!);
  await cluster.drop(away!, "close");
  const deleting = router.deleteQueue("q");
  const broker = await cluster.broker(first!);
  await broker.deleteQueue("q");
  const add = router.add("q", [job("x", { fairnessKey: keysOf(0, 2, 1)[0]! })]);
  const refusal = assert.rejects(add, { code: "QUEUE_NOT_FOUND" });
  await clock.advance(300);
  cluster.away.clear();
  await clock.advance(1000);
  await deleting;
  await refusal;
  assert.deepEqual(await router.queues(), { items: [] });
});
