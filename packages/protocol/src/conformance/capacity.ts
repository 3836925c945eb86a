import { cases } from "./case.ts";
import { accepted, bytes, check, equal, refused, rejects } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const capacity = cases("capacity", {
  "reject: a full queue refuses and says when to come again": async (scene) => {
    await scene.queue({ capacity: { jobs: 2 } });
    await scene.addAll(["a", "b"]);
    const error = refused(await scene.tryAdd("c"), "QUEUE_FULL", "the third of two");
    check((error.retryAfterMs ?? 0) > 0, "the refusal must say when to try again");
    await scene.takeOne();
    accepted(await scene.tryAdd("d"), "an add when one has been taken");
    equal((await scene.broker.queue("q")).stats.rejected, 1, "the adds that were refused");
  },

  "in a batch the jobs that fit go in, and the rest is refused": async (scene) => {
    await scene.queue({ capacity: { jobs: 2 } });
    const jobs = ["a", "b", "c"].map((payload) => ({ payload: bytes(payload) }));
    const outcomes = await scene.broker.add("q", jobs);
    accepted(outcomes[1], "the second of two");
    refused(outcomes[2], "QUEUE_FULL", "the third of two");
  },

  "jobs behind a shut gate count, and running ones do not": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 } });
    await scene.broker.cooldown("shut", scene.steps(50));
    await scene.add("free");
    await scene.takeOne();
    await scene.add("gated", { gates: ["shut"] });
    refused(await scene.tryAdd("more"), "QUEUE_FULL", "an add beside a gated job");
  },

  "bytes have a capacity too": async (scene) => {
    await scene.queue({ capacity: { bytes: 1000 } });
    await scene.add("x".repeat(600));
    refused(await scene.tryAdd("x".repeat(600)), "QUEUE_FULL", "1,200 of 1,000 bytes");
    accepted(await scene.tryAdd("x".repeat(100)), "700 of 1,000 bytes");
  },

  "a lane may have a capacity of its own": async (scene) => {
    await scene.queue({ capacity: { perLane: 1 } });
    await scene.add("a", { fairnessKey: "noisy" });
    refused(await scene.tryAdd("b", { fairnessKey: "noisy" }), "QUEUE_FULL", "the noisy lane");
    accepted(await scene.tryAdd("c", { fairnessKey: "quiet" }), "the quiet lane");
  },

  "a lane may have a part of a tier, and no more": async (scene) => {
    await scene.queue({ tiers: [{ name: "fast", perLane: 1 }, "slow"], onFull: "spill" });
    const noisy = { fairnessKey: "noisy", priority: "fast" };
    await scene.add("a", noisy);
    refused(await scene.tryAdd("b", noisy), "QUEUE_FULL", "the noisy lane");
    accepted(await scene.tryAdd("c", { ...noisy, priority: "slow" }), "the noisy lane elsewhere");
    accepted(await scene.tryAdd("d", { ...noisy, fairnessKey: "quiet" }), "the quiet lane");
  },

  "delayed jobs are bounded apart": async (scene) => {
    await scene.queue({ capacity: { delayed: 1, jobs: 1 } });
    const delayMs = scene.steps(50);
    await scene.add("a", { delayMs });
    refused(await scene.tryAdd("b", { delayMs }), "QUEUE_FULL", "the second delayed job");
    accepted(await scene.tryAdd("c"), "a job without delay");
  },

  "no more jobs run than the queue allows": async (scene) => {
    await scene.queue({ capacity: { running: 2 } });
    await scene.addAll(["a", "b", "c"]);
    const [first] = await scene.expect(["a", "b"], "what is handed out");
    await scene.ack(first!);
    await scene.expect(["c"], "what is handed out after an ack");
  },

  "a retry is never refused for lack of room": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, retry: PROMPT });
    await scene.add("a");
    const job = await scene.takeOne();
    await scene.add("b");
    await scene.nack(job);
    await scene.expect(["b", "a"], "what there is after the failure");
  },

  "a delayed job that falls due on a full queue is put off, and not lost": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, fullRetry: scene.steps(4) });
    await scene.add("late", { delayMs: scene.steps(2) });
    await scene.add("first");
    await scene.pass(3);
    await scene.expect(["first"], "what there is when it falls due");
    await scene.pass(4);
    await scene.expect(["late"], "what there is when it is tried again");
  },

  "drop: the job is answered as dropped, and counted": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "drop" });
    await scene.add("a");
    const { id, dropped } = accepted(await scene.tryAdd("b"), "the add to a full queue");
    equal([id, dropped], ["", true], "id and dropped in the answer");
    await scene.expect(["a"], "the jobs that there are");
    equal((await scene.broker.queue("q")).stats.dropped, 1, "the jobs that were dropped");
  },

  "spill: the job goes to the next tier that has room": async (scene) => {
    const tiers = [{ capacity: 1 }, { capacity: 1 }, { capacity: 1 }];
    await scene.queue({ tiers, onFull: "spill" });
    const got: number[] = [];
    for (const payload of ["a", "b", "c"]) {
      got.push(
        accepted(await scene.tryAdd(payload, { priority: 0 }), `the add of ${payload}`).tier,
      );
    }
    equal(got, [0, 1, 2], "the tiers that the jobs went to");
    refused(await scene.tryAdd("d", { priority: 0 }), "QUEUE_FULL", "an add when all are full");
  },

  "spill: a tier may say where it spills to": async (scene) => {
    await scene.queue({ tiers: [{ capacity: 1, spillTo: 2 }, {}, {}], onFull: "spill" });
    await scene.add("a", { priority: 0 });
    equal(accepted(await scene.tryAdd("b", { priority: 0 }), "the add").tier, 2, "the tier");
  },

  "wait: the add waits for room, and goes in when there is some": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(50) });
    await scene.add("a");
    const add = scene.tryAdd("b");
    await scene.waits(add, "an add to a full queue");
    await scene.takeOne();
    accepted(await scene.atOnce(add, "the add when there is room"), "the add");
    await scene.expect(["b"], "the jobs that there are");
    equal((await scene.broker.queue("q")).stats.rejected, 0, "the adds that were refused");
  },

  "wait: the add is refused when there was no room for its time": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(4) });
    await scene.add("a");
    const add = scene.tryAdd("b");
    await scene.pass(3);
    await scene.waits(add, "the add before its time is over");
    await scene.pass(2);
    refused(await scene.atOnce(add, "the add"), "QUEUE_FULL", "the add after its time");
    equal((await scene.broker.queue("q")).stats.rejected, 1, "the adds that were refused");
    await scene.takeOne();
    await scene.expect([], "what there is besides");
  },

  "wait: an add waits for room in its lane, and others do not wait for it": async (scene) => {
    const addTimeout = scene.steps(50);
    await scene.queue({ capacity: { perLane: 1 }, onFull: "wait", addTimeout });
    await scene.add("a1", { fairnessKey: "a" });
    const add = scene.tryAdd("a2", { fairnessKey: "a" });
    await scene.waits(add, "an add to a full lane");
    accepted(await scene.tryAdd("b1", { fairnessKey: "b" }), "an add to another lane");
    await scene.pass(1);
    await scene.waits(add, "the add to the full lane");
    await scene.ack(await scene.takeOne());
    accepted(await scene.atOnce(add, "the add when there is room in the lane"), "the add");
  },

  "wait: an add waits for room for its bytes": async (scene) => {
    const addTimeout = scene.steps(50);
    await scene.queue({ capacity: { bytes: 1000 }, onFull: "wait", addTimeout });
    await scene.add("x".repeat(600));
    const add = scene.tryAdd("y".repeat(600));
    await scene.waits(add, "an add of 600 bytes where 400 have room");
    await scene.pass(1);
    await scene.waits(add, "the add after a while");
    await scene.takeOne();
    accepted(await scene.atOnce(add, "the add when there is room"), "the add");
  },

  "wait: an add that is given up adds nothing": async (scene) => {
    await scene.queue({ capacity: { jobs: 1 }, onFull: "wait", addTimeout: scene.steps(50) });
    await scene.add("a");
    const giveUp = new AbortController();
    const jobs = [{ payload: bytes("b") }];
    const add = scene.broker.add("q", jobs, { signal: giveUp.signal });
    await scene.waits(add, "an add to a full queue");
    giveUp.abort();
    await rejects(scene.atOnce(add, "the add"), "ABORTED", "the add");
    await scene.takeOne();
    await scene.settle();
    await scene.expect([], "what there is when there is room");
  },
});

export const admission = cases("admission", {
  "adds are slowed down to a rate once the queue is filled to a level": async (scene) => {
    const rate = scene.oneEvery(10);
    await scene.queue({ capacity: { jobs: 10 }, admission: { fill: 0.5, rate, burst: 1 } });
    await scene.addAll(["1", "2", "3", "4", "5"]);
    accepted(await scene.tryAdd("6"), "the add that the burst lets in");
    const error = refused(await scene.tryAdd("7"), "RATE_LIMITED", "the add after it");
    const { retryAfterMs = 0 } = error;
    const isSoon = retryAfterMs > 0 && retryAfterMs <= scene.steps(10);
    check(isSoon, `retryAfterMs must be within the rate's 10 steps, got ${retryAfterMs}`);
    await scene.pass(11);
    accepted(await scene.tryAdd("8"), "the add after a token came");
  },

  "adds below the level are not slowed down": async (scene) => {
    const rate = scene.oneEvery(10);
    await scene.queue({ capacity: { jobs: 10 }, admission: { fill: 0.5, rate, burst: 1 } });
    for (let i = 0; i < 20; i++) {
      accepted(await scene.tryAdd(`${i}`), `add ${i}`);
      await scene.takeOne();
    }
  },
});

export const results = cases("results", {
  "an ended job is kept for its time, and then forgotten": async (scene) => {
    await scene.queue({ results: { ttl: scene.steps(4) } });
    const id = await scene.add("x");
    const job = await scene.takeOne();
    await scene.ack(job, bytes("42"));
    await scene.pass(3);
    equal((await scene.broker.job(id)).result, bytes("42"), "the result while it is kept");
    await scene.pass(2);
    await rejects(scene.broker.job(id), "ALREADY_FINISHED", "the job afterwards");
    const [again] = await scene.broker.ack([{ lease: job.lease }]);
    refused(again, "ALREADY_FINISHED", "an ack of the forgotten job");
  },

  "of many ended jobs the latest are kept": async (scene) => {
    await scene.queue({ results: { jobs: 2 } });
    const ids = await scene.addAll(["a", "b", "c"]);
    for (const job of await scene.take(3)) await scene.ack(job);
    await rejects(scene.broker.job(ids[0]!), "ALREADY_FINISHED", "the oldest");
    for (const id of ids.slice(1)) equal((await scene.broker.job(id)).state, "finished", "a later");
    equal((await scene.broker.queue("q")).stats.kept, 2, "the jobs that are kept");
  },
});
