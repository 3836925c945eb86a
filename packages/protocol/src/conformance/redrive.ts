import { cases, onQueue } from "./case.ts";
import { accepted, bytes, equal, matches, refused, rejects } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const redriving = cases("redrive", {
  "dead jobs go back to where they came from, with all their attempts": async (scene) => {
    await scene.queue({ retry: { attempts: 2, ...PROMPT } });
    const options = { headers: { a: "b" }, fairnessKey: "acme", priority: 1 };
    const id = await scene.add("x", options);
    await scene.nack(await scene.takeOne());
    await scene.nack(await scene.takeOne());
    equal(await scene.broker.redrive("q.dlq"), 1, "how many were put back");
    const job = await scene.takeOne();
    const { headers, fairnessKey } = options;
    const back = { id, attempt: 0, attempts: 2, tier: 1, headers, fairnessKey };
    matches(job, back, "the job that is back");
    await scene.nack(job);
    equal((await scene.takeOne()).attempt, 1, "the attempt of the next delivery");
  },

  "jobs that came back are counted at the queue they came back to": onQueue(async (scene) => {
    for (const payload of ["a", "b"]) await scene.bury(payload);
    await scene.broker.redrive("q.dlq");
    equal((await scene.broker.queue("q")).stats.redriven, 2, "redriven, of the queue");
    equal((await scene.broker.queue("q.dlq")).stats.redriven, 0, "redriven, of its dead letters");
  }),

  "a count puts back the oldest, and no more": onQueue(async (scene) => {
    for (const payload of ["a", "b", "c"]) await scene.bury(payload);
    equal(await scene.broker.redrive("q.dlq", { count: 2 }), 2, "how many were put back");
    await scene.expect(["a", "b"], "what is back");
    await scene.expect(["c"], "what is still dead", "q.dlq");
  }),

  "all dead jobs are put back in one call, however many": onQueue(async (scene) => {
    const jobs = Array.from({ length: 2500 }, (_, i) => ({ payload: bytes(`${i}`), attempts: 1 }));
    await scene.broker.add("q", jobs);
    const leases: string[] = [];
    while (leases.length < 2500) {
      const taken = await scene.take(1000);
      if (taken.length === 0) break;
      leases.push(...taken.map(({ lease }) => lease));
    }
    const outcomes = await scene.broker.nack(leases.map((lease) => ({ lease })));
    for (const outcome of outcomes) accepted(outcome, "a nack");
    equal(await scene.broker.redrive("q.dlq"), 2500, "how many were put back");
    equal((await scene.broker.queue("q")).stats.waiting, 2500, "how many wait");
  }),

  "nothing dead is nothing to put back": onQueue(async (scene) => {
    await scene.bury("x");
    equal(await scene.broker.redrive("q.dlq"), 1, "the first time");
    equal(await scene.broker.redrive("q.dlq"), 0, "the second time");
  }),

  "a queue that takes no dead letters cannot be redriven": onQueue(async (scene) => {
    await rejects(scene.broker.redrive("q"), "NOT_A_DLQ", "the redrive");
  }),

  "a queue that does not exist cannot be redriven": async (scene) => {
    await rejects(scene.broker.redrive("nowhere"), "QUEUE_NOT_FOUND", "the redrive");
  },
});

export const retrying = cases("retry", {
  "a finished job runs again, from its first attempt": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x", { headers: { a: "b" } });
    await scene.nack(await scene.takeOne());
    await scene.ack(await scene.takeOne());
    accepted((await scene.broker.retry([id]))[0], "the retry");
    const job = await scene.takeOne();
    matches(job, { id, attempt: 0, headers: { a: "b" } }, "the job that runs again");
    await scene.ack(job);
  },

  "a failed and a cancelled job run again": async (scene) => {
    await scene.queue({ dlq: false });
    const failed = await scene.bury("failed");
    const cancelled = await scene.add("cancelled");
    await scene.broker.cancel([cancelled]);
    for (const outcome of await scene.broker.retry([failed, cancelled])) {
      accepted(outcome, "the retry");
    }
    await scene.expect(["failed", "cancelled"], "what runs again");
  },

  "a delayed job runs at once": onQueue(async (scene) => {
    const id = await scene.add("x", { delayMs: scene.steps(50) });
    accepted((await scene.broker.retry([id]))[0], "the retry");
    await scene.expect(["x"], "what there is");
  }),

  "a job that waits or runs is refused with CONFLICT": onQueue(async (scene) => {
    const id = await scene.add("x");
    refused((await scene.broker.retry([id]))[0], "CONFLICT", "the retry of a waiting job");
    await scene.takeOne();
    refused((await scene.broker.retry([id]))[0], "CONFLICT", "the retry of a running job");
  }),

  "a job that is no longer kept is refused with ALREADY_FINISHED": async (scene) => {
    await scene.queue({ results: { jobs: 0 } });
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne());
    refused((await scene.broker.retry([id]))[0], "ALREADY_FINISHED", "the retry");
  },

  "a job never issued is refused with JOB_NOT_FOUND, and others are not": async (scene) => {
    const other = await scene.elsewhere();
    await other.queue();
    const unknown = (await other.addAll(Array.from({ length: 50 }, (_, i) => `${i}`)))[49]!;
    await scene.queue();
    const known = await scene.add("x", { delayMs: scene.steps(50) });
    const outcomes = await scene.broker.retry([unknown, known]);
    refused(outcomes[0], "JOB_NOT_FOUND", "the retry of the unknown job");
    accepted(outcomes[1], "the retry of the known job");
  },
});
