import { cases, durableCases, onQueue } from "./case.ts";
import { accepted, bytes, check, each, equal, matches, refused, rejects } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const jobsSurvive = durableCases("jobs survive", {
  "waiting jobs keep id, payload, headers and their order": onQueue(async (scene) => {
    const headers = { tenant: "acme", greeting: "grüß dich" };
    const payloads = Array.from({ length: 40 }, (_, i) => `job ${i}`);
    const ids = await scene.addAll(payloads, { headers, fairnessKey: ["acme", "7"], priority: 1 });
    await scene.reopen();
    const jobs = await scene.expect(payloads, "the jobs in their order");
    equal(each(jobs, "id"), ids, "their ids");
    const same = { headers, fairnessKey: ["acme", "7"], tier: 1, attempt: 0 };
    for (const job of jobs) matches(job, same, `job ${job.id}`);
  }),

  "ids go on rising and are never given twice": onQueue(async (scene) => {
    const before = await scene.addAll(["a", "b", "c"]);
    for (const job of await scene.take(3)) await scene.ack(job);
    await scene.reopen();
    const after = await scene.add("d");
    check(
      before.every((id) => id < after),
      `${after} must come after ${before}`,
    );
  }),

  "a lease is live: still its own, and ackable": onQueue(async (scene) => {
    const id = await scene.add("x");
    const job = await scene.takeOne();
    await scene.reopen();
    await scene.expect([], "what there is for another");
    await scene.ack(job, bytes("42"));
    matches(await scene.broker.job(id), { state: "finished", result: bytes("42") }, "the job");
  }),

  "a lease runs out at its time, and an extended one at its new time": async (scene) => {
    await scene.queue({ lease: scene.steps(10), retry: PROMPT });
    await scene.addAll(["short", "long"]);
    const [, long] = await scene.take(2);
    await scene.broker.extend([{ lease: long!.lease, leaseMs: scene.steps(40) }]);
    await scene.reopen();
    await scene.pass(5);
    await scene.expect([], "what there is before");
    await scene.pass(6);
    const [short] = await scene.expect(["short"], "what there is when the short lease is over");
    equal(short?.attempt, 1, "its attempt");
    await scene.ack(long!);
  },

  "a lease that was lost stays lost": async (scene) => {
    await scene.queue({ lease: scene.steps(2), retry: PROMPT });
    await scene.add("x");
    const old = await scene.takeOne();
    await scene.pass(3);
    await scene.reopen();
    const outcomes = await scene.broker.ack([{ lease: old.lease }]);
    refused(outcomes[0], "LEASE_LOST", "the ack with the lost lease");
    equal((await scene.takeOne()).attempt, 1, "the attempt of the next delivery");
  },

  "nothing finished comes back": onQueue(async (scene) => {
    const ids = await scene.addAll(["finished", "cancelled", "purged"]);
    const job = await scene.takeOne();
    await scene.ack(job, bytes("42"));
    await scene.broker.cancel([ids[1]!]);
    await scene.broker.purge("q");
    await scene.settle();
    await scene.reopen();
    await scene.expect([], "what there is");
    const [again] = await scene.broker.ack([{ lease: job.lease }]);
    refused(again, "ALREADY_FINISHED", "a second ack");
    const end = await scene.atOnce(scene.broker.ended(ids[0]!), "the end");
    matches(end, { state: "finished", result: bytes("42") }, "the result");
  }),

  "attempts, errors and dead letters are kept": async (scene) => {
    await scene.queue({ retry: { attempts: 3, ...PROMPT } });
    const id = await scene.add("x", { headers: { a: "b" } });
    await scene.nack(await scene.takeOne(), { error: "first" });
    const dead = await scene.add("y", { attempts: 1 });
    const [x, y] = await scene.take(2);
    await scene.nack(y!, { error: "boom" });
    await scene.nack(x!, { error: "second" });
    await scene.reopen();
    const job = await scene.takeOne();
    matches(job, { id, attempt: 2, attempts: 3, headers: { a: "b" } }, "the job that failed twice");
    const info = await scene.broker.job(dead);
    matches(info, { queue: "q.dlq", error: "boom", attempt: 0 }, "the dead job");
    matches(info.dead, { origin: "q", reason: "attempts used up" }, "its death");
    equal(await scene.broker.redrive("q.dlq"), 1, "how many can be put back");
    matches(await scene.takeOne(), { id: dead, attempt: 0 }, "the job that was put back");
  },

  "delays, retries and deadlines keep their times": async (scene) => {
    await scene.queue({ retry: { min: scene.steps(24), jitter: 0 } });
    await scene.add("retried");
    await scene.nack(await scene.takeOne());
    await scene.add("delayed", { delayMs: scene.steps(14) });
    const mortal = await scene.add("mortal", { ttlMs: scene.steps(4), delayMs: scene.steps(3) });
    await scene.pass(1);
    await scene.reopen();
    await scene.pass(4);
    equal((await scene.broker.job(mortal)).state, "expired", "how the mortal job ended");
    await scene.expect([], "what there is before any time");
    await scene.pass(10);
    await scene.expect(["delayed"], "what there is at the time of the delay");
    await scene.pass(10);
    await scene.expect(["retried"], "what there is at the time of the retry");
  },

  "jobs with options of their own keep them": onQueue(async (scene) => {
    const backoff = { minMs: 0, maxMs: 0, jitter: 0 };
    await scene.add("x", { attempts: 2, leaseMs: scene.steps(7), backoff, cost: 2, weight: 3 });
    await scene.reopen();
    const job = await scene.takeOne();
    scene.near(job.expiresAt, scene.now() + scene.steps(7), "the end of the lease");
    matches(await scene.broker.job(job.id), { cost: 2, weight: 3, attempts: 2 }, "the job");
    await scene.nack(job);
    await scene.nack(await scene.takeOne());
    await scene.expect(["x"], "what is dead after two failures", "q.dlq");
  }),
});

export const namesSurvive = durableCases("names survive", {
  "dedupe keys stay taken, by jobs and by windows": onQueue(async (scene) => {
    const pending = { dedupe: { key: "pending", mode: "pending" } } as const;
    const window = { dedupe: { key: "w", mode: "window", windowMs: scene.steps(12) } } as const;
    const finished = await scene.add("done", window);
    await scene.ack(await scene.takeOne());
    const waiting = await scene.add("first", pending);
    await scene.reopen();
    const again = accepted(await scene.tryAdd("second", pending), "the pending add");
    equal([again.id, again.duplicate], [waiting, true], "the answer to the pending add");
    const within = accepted(await scene.tryAdd("third", window), "the add in the window");
    equal([within.id, within.duplicate], [finished, true], "the answer in the window");
    await scene.pass(13);
    const after = accepted(await scene.tryAdd("fourth", window), "the add after the window");
    equal(after.duplicate, undefined, "whether it is a duplicate");
  }),

  "a replaced payload and a follow-up are kept": onQueue(async (scene) => {
    const options = { dedupe: { key: "k", mode: "keepLast" } } as const;
    await scene.add("first", options);
    await scene.add("second", options);
    const [job] = await scene.expect(["second"], "what there is");
    await scene.add("third", options);
    await scene.reopen();
    await scene.expect([], "what there is while the job runs");
    await scene.ack(job!);
    await scene.expect(["third"], "what there is after it");
  }),

  "a group ends after its last member, whenever that is": onQueue(async (scene) => {
    await scene.addAll(["a", "b"], { group: "g" });
    await scene.ack(await scene.takeOne());
    await scene.reopen();
    const before = await scene.broker.group("q/g");
    equal(before.ended, false, "whether it has ended");
    equal(each(before.members, "state"), ["finished", undefined], "its states");
    const listener = await scene.listen({ events: ["ended", "group-ended"] });
    await scene.ack(await scene.takeOne());
    await listener.hears("group-ended", "the end of the group");
    equal(listener.names, ["ended", "group-ended"], "what was reported");
    equal((await scene.broker.group("q/g")).ended, true, "whether it has ended then");
  }),
});

const RELEASED = "a consumer's leases are given back at once, with no attempt lost";

export const consumersLeave = cases("close", {
  [RELEASED]: onQueue(async (scene) => {
    await scene.add("x");
    const inbox = await scene.consume();
    const [job] = await inbox.holds(1, "the job");
    await scene.reopen();
    equal((await scene.takeOne()).attempt, 0, "the attempt of the next delivery");
    const outcomes = await scene.broker.ack([{ lease: job!.lease }]);
    refused(outcomes[0], "LEASE_LOST", "an ack with the lease that was given back");
  }),
}).map((one) => ({ ...one, reopens: "close" as const }));

export const consumersCrash = cases("crash", {
  "the leases of a consumer that was there are live": onQueue(async (scene) => {
    await scene.add("x");
    const inbox = await scene.consume();
    const [job] = await inbox.holds(1, "the job");
    await scene.reopen();
    await scene.expect([], "what there is for another");
    await scene.ack(job!);
  }),

  "a queue that was deleted does not come back": onQueue(async (scene) => {
    const id = await scene.add("x", { dedupe: { key: "k", mode: "pending" } });
    await scene.broker.deleteQueue("q");
    await scene.reopen();
    await rejects(scene.broker.queue("q"), "QUEUE_NOT_FOUND", "the queue");
    await scene.queue();
    await scene.expect([], "what a queue of that name has");
    check((await scene.add("y")) > id, "ids must not come back either");
  }),
}).map((one) => ({ ...one, reopens: "crash" as const }));
