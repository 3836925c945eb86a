import { cases, onQueue } from "./case.ts";
import { check, each, equal, inOrder, matches } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const failing = cases("nack", {
  "deliveries have attempt 0, 1, 2, and the last error is shown": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    for (const attempt of [0, 1, 2]) {
      const job = await scene.takeOne();
      equal(job.attempt, attempt, `the attempt of delivery ${attempt + 1}`);
      await scene.nack(job, { error: `failure ${attempt}` });
    }
    matches(await scene.broker.job(id), { attempt: 3, error: "failure 2" }, "the job");
  },

  "a failed job comes back after the backoff, which grows": async (scene) => {
    await scene.queue({ retry: { min: scene.steps(2), factor: 3, jitter: 0 } });
    await scene.add("x");
    await scene.nack(await scene.takeOne());
    await scene.pass(1);
    await scene.expect([], "what there is before 2 steps");
    await scene.pass(2);
    await scene.nack(await scene.takeOne());
    await scene.expectAfter(6, ["x"], "what there is after another 6 steps");
  },

  "the delay of a nack counts instead of the backoff": async (scene) => {
    await scene.queue({ retry: { min: scene.steps(50), jitter: 0 } });
    await scene.add("x");
    await scene.nack(await scene.takeOne(), { delayMs: scene.steps(2) });
    await scene.pass(1);
    await scene.expect([], "what there is before the delay is over");
    await scene.pass(2);
    await scene.nack(await scene.takeOne(), { delayMs: 0 });
    equal((await scene.takeOne()).attempt, 2, "the attempt after a nack with no delay");
  },

  "a failed job goes to the back of its strand": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.addAll(["a", "b"]);
    await scene.nack(await scene.takeOne());
    await scene.expect(["b", "a"], "the order after the failure");
  },

  "a lease that runs out counts as a failure": async (scene) => {
    await scene.queue({ lease: scene.steps(3), retry: PROMPT });
    const id = await scene.add("x");
    await scene.takeOne();
    await scene.pass(2);
    await scene.expect([], "what there is while the lease is live");
    await scene.pass(2);
    equal((await scene.takeOne()).attempt, 1, "the attempt after the lease ran out");
    inOrder(
      (await scene.broker.history(id)).map(({ event }) => event),
      ["added", "expired", "dispatched"],
      "the history",
    );
  },

  "a job that lets all its leases run out is dead in the end": async (scene) => {
    await scene.queue({ lease: scene.steps(2), retry: { attempts: 2, ...PROMPT } });
    const id = await scene.add("x");
    for (let i = 0; i < 2; i++) {
      await scene.takeOne();
      await scene.pass(3);
    }
    matches(await scene.broker.job(id), { queue: "q.dlq", attempt: 0 }, "the job");
  },

  "a nack that asks for a cooldown shuts the gate and uses no attempt": async (scene) => {
    await scene.queue({ retry: { attempts: 1, ...PROMPT } });
    await scene.add("x", { gates: ["aws"] });
    const cooldown = { gate: "aws", ms: scene.steps(4), reason: "429 from aws" };
    await scene.nack(await scene.takeOne(), { cooldown });
    // In a cluster the gate may be at home in another partition, which learns of it a little later.
    await scene.settle();
    const info = await scene.broker.gate("aws");
    equal(info.cooldown?.reason, "429 from aws", "the reason of the cooldown");
    scene.near(info.cooldown?.until, scene.now() + scene.steps(4), "the end of the cooldown");
    await scene.pass(3);
    await scene.expect([], "what there is during the cooldown");
    await scene.pass(2);
    equal((await scene.takeOne()).attempt, 0, "the attempt after the cooldown");
  },

  "a failure climbs the ladders of the job's gates, unless it blames none": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.broker.setGate("aws", { ladder: [scene.steps(4)] });
    await scene.addAll(["a", "b"], { gates: ["aws"] });
    const [a, b] = await scene.take(2);
    await scene.nack(a!, { blame: false });
    equal((await scene.broker.gate("aws")).ladderStep, 0, "the step when none is blamed");
    await scene.nack(b!);
    await scene.settle();
    matches(await scene.broker.gate("aws"), { ladderStep: 1 }, "the gate that is blamed");
    await scene.expect([], "what there is while the gate is shut");
  },

  "what a nack cannot mean is refused and changes nothing": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.add("x");
    const job = await scene.takeOne();
    const [outcome] = await scene.broker.nack([{ lease: job.lease, delayMs: -1 }]);
    equal(outcome?.error?.code, "INVALID", "the code of a delay below 0");
    await scene.ack(job);
  },
});

export const dying = cases("dead letters", {
  "a job without attempts left is in the dead letter queue, as it was": async (scene) => {
    await scene.queue({ retry: { attempts: 2, ...PROMPT } });
    const headers = { tenant: "acme" };
    const id = await scene.add("x", { headers, fairnessKey: "acme", priority: 1 });
    await scene.nack(await scene.takeOne(), { error: "first" });
    await scene.nack(await scene.takeOne(), { error: "last" });
    await scene.expect([], "what its own queue has");
    const letter = { queue: "q.dlq", error: "last", attempt: 0, headers, fairnessKey: "acme" };
    const info = await scene.broker.job(id);
    matches(info, letter, "the dead job");
    const death = { origin: "q", reason: "attempts used up", attempts: 2 };
    matches(info.dead, death, "its death");
    const job = await scene.takeOne("q.dlq");
    matches(job, { id, headers }, "the job as the dead letter queue hands it out");
    await scene.ack(job);
  },

  "a dead job tells why it died": onQueue(async (scene) => {
    const id = await scene.bury("x");
    const dead = (await scene.broker.history(id)).find(({ event }) => event === "dead");
    check((dead?.detail ?? "") !== "", "the history must say why the job died");
  }),

  "a failure that nothing can mend needs one attempt only": async (scene) => {
    await scene.queue({ retry: { attempts: 5, ...PROMPT } });
    const id = await scene.add("x");
    await scene.nack(await scene.takeOne(), { unrecoverable: true, error: "no such user" });
    const dead = { queue: "q.dlq", error: "no such user" };
    matches(await scene.broker.job(id), dead, "the job");
  },

  "the dead letter queue may have another name, and is made on first use": async (scene) => {
    await scene.queue({ dlq: "graveyard" });
    const { items: before } = await scene.broker.queues();
    equal(each(before, "name"), ["q"], "the queues before the first death");
    await scene.bury("x");
    await scene.expect(["x"], "what the dead letter queue has", "graveyard");
  },

  "without a dead letter queue the job fails, and is counted": async (scene) => {
    await scene.queue({ dlq: false });
    const id = await scene.bury("x");
    const failed = { state: "failed", error: "boom" };
    matches(await scene.broker.job(id), failed, "the job");
    equal((await scene.broker.queue("q")).stats.failed, 1, "the failed jobs of the queue");
  },

  "a caller that waits for the end of a job hears that it is dead": onQueue(async (scene) => {
    const id = await scene.add("x", { attempts: 1 });
    const end = scene.broker.ended(id);
    await scene.nack(await scene.takeOne(), { error: "boom" });
    const { state, error } = await scene.atOnce(end, "the end of the job");
    equal([state, error], ["dead", "boom"], "how it ended, and why");
  }),

  "the end of a dead job is reported at once, with the time of its death": onQueue(
    async (scene) => {
      const id = await scene.add("x", { attempts: 1 });
      await scene.pass(3);
      await scene.nack(await scene.takeOne(), { error: "boom" });
      const diedAt = scene.now();
      await scene.pass(3);
      const end = await scene.atOnce(scene.broker.ended(id), "the end");
      matches(end, { id, queue: "q", state: "dead", error: "boom" }, "the end");
      scene.near(end.at, diedAt, "the time of the end");
    },
  ),

  "a dead job that was put back has not ended": onQueue(async (scene) => {
    const id = await scene.bury("x");
    await scene.broker.redrive("q.dlq");
    const end = scene.broker.ended(id);
    await scene.waits(end, "the end of a job that was put back");
    await scene.ack(await scene.takeOne());
    equal((await scene.atOnce(end, "the end")).state, "finished", "how it ended then");
  }),
});
