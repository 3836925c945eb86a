import { cases, onQueue } from "./case.ts";
import { check, equal, matches, rejects, textOf } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const leasing = cases("lease", {
  "jobs are taken in order, and never more than asked for": onQueue(async (scene) => {
    await scene.addAll(["a", "b", "c", "d"]);
    equal((await scene.take(2)).map(textOf), ["a", "b"], "the first two");
    equal((await scene.take(1)).map(textOf), ["c"], "the next one");
    equal((await scene.take(10)).map(textOf), ["d"], "what is left");
  }),

  "an empty queue is answered with an empty array, at once": onQueue(async (scene) => {
    equal(await scene.take(5), [], "the answer");
  }),

  "a first delivery has attempt 0 and lasts as long as the queue says": async (scene) => {
    await scene.queue({ lease: scene.steps(40), retry: { attempts: 3 } });
    await scene.add("x", { priority: 2 });
    const job = await scene.takeOne();
    matches(job, { attempt: 0, attempts: 3, tier: 2, queue: "q" }, "the delivered job");
    scene.near(job.expiresAt, scene.now() + scene.steps(40), "the end of the lease");
  },

  "the lease time of the call counts before that of job and queue": async (scene) => {
    await scene.queue({ lease: scene.steps(40) });
    await scene.add("x", { leaseMs: scene.steps(30) });
    const job = await scene.takeOne("q", { lease: scene.steps(9) });
    scene.near(job.expiresAt, scene.now() + scene.steps(9), "the end of the lease");
  },

  "durations are milliseconds or texts": onQueue(async (scene) => {
    await scene.add("x");
    const job = await scene.takeOne("q", { wait: "1s", lease: "2h", timeout: "1m" });
    scene.near(job.expiresAt, scene.now() + 2 * 3_600_000, "the end of the lease");
    const wrong = scene.broker.lease("q", { max: 1, wait: "1 hour" as "1h" });
    await rejects(wrong, "INVALID", "a wait that is no duration");
  }),

  "no other worker gets a running job": onQueue(async (scene) => {
    await scene.add("x");
    await scene.takeOne();
    await scene.expect([], "what there is for another");
  }),

  "a queue that does not exist has nothing to lease": async (scene) => {
    const lease = scene.broker.lease("nowhere", { max: 1 });
    await rejects(lease, "QUEUE_NOT_FOUND", "the lease");
  },

  "a number of jobs that cannot be is refused": onQueue(async (scene) => {
    for (const max of [-1, 1.5, Number.NaN]) {
      await rejects(scene.broker.lease("q", { max }), "INVALID", `a max of ${max}`);
    }
  }),

  "many calls at once take each job once": onQueue(async (scene) => {
    const payloads = Array.from({ length: 60 }, (_, i) => `${i}`);
    await Promise.all(payloads.map((payload) => scene.add(payload)));
    const taken = await Promise.all(payloads.map(() => scene.take(2)));
    equal(taken.flat().map(textOf).sort(), [...payloads].sort(), "what was taken");
    const leases = taken.flat().map(({ lease }) => ({ lease }));
    const outcomes = await Promise.all(leases.map((item) => scene.broker.ack([item])));
    check(
      outcomes.every(([outcome]) => outcome?.ok === true),
      "all of them must be acked",
    );
  }),

  "a delivered payload stays as it is, whatever comes after it": onQueue(async (scene) => {
    await scene.add("keep me");
    const job = await scene.takeOne();
    await scene.ack(job);
    for (let i = 0; i < 20; i++) {
      await scene.addAll(Array.from({ length: 50 }, () => "x".repeat(200)));
      const jobs = await scene.take(50);
      await scene.broker.ack(jobs.map(({ lease }) => ({ lease })));
    }
    equal(textOf(job), "keep me", "the payload that was delivered first");
  }),

  "a worker that takes a job can be named": onQueue(async (scene) => {
    const id = await scene.add("x");
    await scene.takeOne("q", { worker: "bob" });
    matches(
      await scene.broker.why(id),
      { state: "running", worker: "bob" },
      "why it does not wait",
    );
    equal((await scene.broker.job(id)).worker, "bob", "the worker of the job");
  }),
});

export const polling = cases("lease, waiting", {
  "a poll is answered at once when a job arrives": onQueue(async (scene) => {
    const poll = scene.broker.lease("q", { max: 5, wait: scene.steps(50) });
    await scene.waits(poll, "a poll of an empty queue");
    await scene.add("x");
    const jobs = await scene.atOnce(poll, "the poll");
    equal(jobs.map(textOf), ["x"], "what the poll got");
    await scene.ack(jobs[0]!);
  }),

  "a poll does not wait when there is a job, however many it would take": onQueue(async (scene) => {
    await scene.add("x");
    const poll = scene.broker.lease("q", { max: 5, wait: scene.steps(50) });
    equal((await scene.atOnce(poll, "the poll")).map(textOf), ["x"], "what the poll got");
  }),

  "a poll comes back empty when its time is over": onQueue(async (scene) => {
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(4) });
    await scene.pass(3);
    await scene.waits(poll, "the poll before its time is over");
    await scene.pass(2);
    equal(await scene.atOnce(poll, "the poll"), [], "what the poll got");
    await scene.add("x");
    await scene.expect(["x"], "a job that came later");
  }),

  "a poll gets a delayed job when it falls due": onQueue(async (scene) => {
    await scene.add("x", { delayMs: scene.steps(3) });
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "the poll");
    await scene.pass(4);
    equal((await scene.atOnce(poll, "the poll")).map(textOf), ["x"], "what the poll got");
  }),

  "a poll gets a job when its gate opens": onQueue(async (scene) => {
    await scene.broker.cooldown("smtp", scene.steps(3));
    await scene.add("x", { gates: ["smtp"] });
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "the poll");
    await scene.pass(4);
    equal((await scene.atOnce(poll, "the poll")).map(textOf), ["x"], "what the poll got");
  }),

  "a poll gets a job that another worker failed": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.add("x");
    const job = await scene.takeOne();
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "the poll");
    await scene.nack(job);
    const [again] = await scene.atOnce(poll, "the poll");
    equal(again?.attempt, 1, "the attempt of what the poll got");
  },

  "two polls that wait never get the same job": onQueue(async (scene) => {
    const polls = [1, 2].map(() => scene.broker.lease("q", { max: 1, wait: scene.steps(50) }));
    await scene.settle();
    await scene.addAll(["a", "b"]);
    const got = await scene.atOnce(Promise.all(polls), "both polls");
    equal(got.flat().map(textOf).sort(), ["a", "b"], "what the two got");
  }),

  "a poll that is given up ends with ABORTED and takes no job with it": onQueue(async (scene) => {
    const giveUp = new AbortController();
    const options = { max: 1, wait: scene.steps(50), signal: giveUp.signal };
    const poll = scene.broker.lease("q", options);
    await scene.waits(poll, "the poll");
    giveUp.abort();
    await rejects(scene.atOnce(poll, "the poll"), "ABORTED", "the poll");
    await scene.add("x");
    const job = await scene.takeOne();
    equal([textOf(job), job.attempt], ["x", 0], "the job that came after");
  }),

  "a poll that is given up as a job arrives loses nothing": onQueue(async (scene) => {
    const giveUp = new AbortController();
    const options = { max: 1, wait: scene.steps(50), signal: giveUp.signal };
    const poll = scene.broker.lease("q", options).catch(() => []);
    await scene.waits(poll, "the poll");
    const add = scene.add("x");
    giveUp.abort();
    await add;
    const [polled] = await scene.atOnce(poll, "the poll");
    const job = polled ?? (await scene.takeOne());
    equal([textOf(job), job.attempt], ["x", 0], "the job that came meanwhile");
    await scene.ack(job);
  }),

  "a poll that was given up before it began takes nothing": onQueue(async (scene) => {
    await scene.add("x");
    const poll = scene.broker.lease("q", { max: 1, signal: AbortSignal.abort() });
    await rejects(poll, "ABORTED", "the poll");
    equal((await scene.takeOne()).attempt, 0, "the attempt of the job");
  }),

  "a poll of a queue that is deleted does not go on waiting": onQueue(async (scene) => {
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "the poll");
    await scene.broker.deleteQueue("q");
    const end = await scene.atOnce(
      poll.then(
        (jobs) => jobs.length === 0,
        (error) => error.code === "QUEUE_NOT_FOUND",
      ),
      "the poll",
    );
    check(end, "the poll must end with nothing, or with QUEUE_NOT_FOUND");
  }),
});
