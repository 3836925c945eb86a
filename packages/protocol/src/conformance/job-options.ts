import { cases, onQueue } from "./case.ts";
import { accepted, check, equal, matches, names, refused } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

async function hasEnded(scene: Scene, id: string, state: string, what: string): Promise<void> {
  const end = await scene.atOnce(scene.broker.ended(id), `the end of ${what}`);
  equal(end.state, state, `how ${what} ended`);
}

export const placing = cases("job options: place", {
  "a fairness key of one level is delivered as it was, and never split": onQueue(async (scene) => {
    await scene.add("x", { fairnessKey: "acme/user 7:ü" });
    equal((await scene.takeOne()).fairnessKey, "acme/user 7:ü", "the key of the delivered job");
  }),

  "a fairness key of several levels is delivered as it was": onQueue(async (scene) => {
    const fairnessKey = ["eu", "acme", "user-7", "mail"];
    const id = await scene.add("x", { fairnessKey });
    equal((await scene.broker.job(id)).fairnessKey, fairnessKey, "the key of the waiting job");
    equal((await scene.takeOne()).fairnessKey, fairnessKey, "the key of the delivered job");
  }),

  "a weight is the weight of the job's lane, and the latest one rules": onQueue(async (scene) => {
    const id = await scene.add("x", { fairnessKey: "acme", weight: 3 });
    equal((await scene.broker.job(id)).weight, 3, "the weight of the job");
    await scene.add("y", { fairnessKey: "acme", weight: 5 });
    const { items } = await scene.broker.lanes("q");
    equal(
      items.map(({ key, weight }) => [key, weight]),
      [["acme", 5]],
      "the lanes",
    );
  }),

  "a priority is the index of a tier": onQueue(async (scene) => {
    const added = accepted(await scene.tryAdd("x", { priority: 1 }), "the add");
    equal(added.tier, 1, "the tier in the answer");
    equal((await scene.takeOne()).tier, 1, "the tier of the delivered job");
  }),

  "a priority may be the name of a tier": async (scene) => {
    await scene.queue({ tiers: ["urgent", "normal", "idle"] });
    equal(accepted(await scene.tryAdd("x", { priority: "normal" }), "the add").tier, 1, "the tier");
  },

  "a job without a priority goes to the last tier": async (scene) => {
    await scene.queue({ tiers: 3 });
    equal(accepted(await scene.tryAdd("x"), "the add").tier, 2, "the tier");
  },

  "a job tells its gates and its cost": onQueue(async (scene) => {
    const id = await scene.add("x", { gates: ["smtp", "tenant:acme"], cost: 3 });
    const info = await scene.broker.job(id);
    equal([...info.gates].sort(), ["smtp", "tenant:acme"], "the gates of the job");
    equal(info.cost, 3, "the cost of the job");
  }),

  "a cost that no limit of its gates lets through is refused": onQueue(async (scene) => {
    await scene.broker.setGate("smtp", { rate: 1, burst: 2 });
    const error = refused(
      await scene.tryAdd("x", { gates: ["smtp"], cost: 3 }),
      "INVALID",
      "cost 3",
    );
    names(error, "cost", "a cost of 3 at a burst of 2");
    accepted(await scene.tryAdd("x", { gates: ["smtp"], cost: 2 }), "a cost of 2");
  }),

  "a job's own attempts count for it, and not those of the queue": async (scene) => {
    await scene.queue({ retry: { attempts: 5, ...PROMPT } });
    await scene.add("x", { attempts: 2 });
    const first = await scene.takeOne();
    equal([first.attempt, first.attempts], [0, 2], "attempt and attempts of the first delivery");
    await scene.nack(first);
    await scene.nack(await scene.takeOne());
    await scene.expect([], "what there is after two failures");
    await scene.expect(["x"], "what is dead after two failures", "q.dlq");
  },

  "a job's own backoff counts for it, and not that of the queue": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.add("x", { backoff: { minMs: scene.steps(4), maxMs: scene.steps(4), jitter: 0 } });
    await scene.nack(await scene.takeOne());
    await scene.expectAfter(4, ["x"], "what there is when the backoff is over");
  },

  "a job's own lease time counts for it, and not that of the queue": async (scene) => {
    await scene.queue({ lease: scene.steps(50) });
    await scene.add("x", { leaseMs: scene.steps(7) });
    const { expiresAt } = await scene.takeOne();
    scene.near(expiresAt, scene.now() + scene.steps(7), "the end of the lease");
  },
});

export const timing = cases("job options: time", {
  "a delayed job is not handed out before its time, and is at it": onQueue(async (scene) => {
    const until = scene.now() + scene.steps(4);
    const id = await scene.add("x", { delayMs: scene.steps(4) });
    const info = await scene.broker.job(id);
    equal(info.state, "delayed", "the state of the job");
    scene.near(info.at, until, "when the job falls due");
    await scene.expectAfter(4, ["x"], "what there is at its time");
  }),

  "a job with a time to run at is handed out from then on": onQueue(async (scene) => {
    await scene.add("x", { runAt: scene.now() + scene.steps(4) });
    await scene.expectAfter(4, ["x"], "what there is at its time");
  }),

  "a time to run at that has passed is now": onQueue(async (scene) => {
    await scene.add("x", { runAt: scene.now() - scene.steps(4) });
    await scene.expect(["x"], "what there is at once");
  }),

  "delayed jobs run in the order of their times": onQueue(async (scene) => {
    await scene.add("third", { delayMs: scene.steps(5) });
    await scene.add("first", { delayMs: scene.steps(1) });
    await scene.add("second", { delayMs: scene.steps(3) });
    const inbox = await scene.consume();
    await scene.pass(8);
    await inbox.holds(3, "the delayed jobs");
    equal(inbox.texts, ["first", "second", "third"], "the order of the deliveries");
  }),

  "a job that waits longer than its time to live expires": onQueue(async (scene) => {
    const id = await scene.add("x", { ttlMs: scene.steps(3) });
    await scene.pass(2);
    equal((await scene.broker.job(id)).state, "waiting", "its state before");
    await scene.pass(2);
    await scene.expect([], "what there is after its time to live");
    await hasEnded(scene, id, "expired", "the job");
  }),

  "a job that waits past its deadline expires": onQueue(async (scene) => {
    const deadline = scene.now() + scene.steps(3);
    const id = await scene.add("x", { deadline });
    scene.near((await scene.broker.job(id)).deadline, deadline, "the deadline of the job");
    await scene.pass(4);
    await scene.expect([], "what there is past the deadline");
    await hasEnded(scene, id, "expired", "the job");
  }),

  "the queue's time to live is for jobs that have none of their own": async (scene) => {
    await scene.queue({ ttl: scene.steps(3) });
    await scene.add("short");
    await scene.add("long", { ttlMs: scene.steps(50) });
    await scene.pass(4);
    await scene.expect(["long"], "what there is after the queue's time to live");
  },

  "a running job runs on past its deadline and can be acked": onQueue(async (scene) => {
    const id = await scene.add("x", { ttlMs: scene.steps(2) });
    const job = await scene.takeOne();
    await scene.pass(4);
    await scene.ack(job);
    await hasEnded(scene, id, "finished", "the job");
  }),

  "a job that fails past its deadline expires and is not retried": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x", { ttlMs: scene.steps(2) });
    const job = await scene.takeOne();
    await scene.pass(4);
    await scene.nack(job, { error: "too late" });
    await scene.expect([], "what there is after the failure");
    await hasEnded(scene, id, "expired", "the job");
  },
});

export const bearing = cases("job options: maxWait", {
  "a gate that opens too late for a job refuses it at once, with the figures": onQueue(
    async (scene) => {
      await scene.broker.cooldown("smtp", scene.steps(10), "429");
      const job = { gates: ["smtp"], maxWaitMs: scene.steps(3) };
      const error = refused(await scene.tryAdd("x", job), "WAIT_TOO_LONG", "the impatient job");
      const { gate, wait, maxWait } = error.details ?? {};
      equal([gate, maxWait], ["smtp", scene.steps(3)], "the gate and the limit in the details");
      scene.near(wait as number, scene.steps(10), "the wait in the details");
      equal((await scene.broker.queue("q")).stats.waiting, 0, "the jobs that wait");
    },
  ),

  "a gate that opens in time lets the job wait": onQueue(async (scene) => {
    await scene.broker.cooldown("smtp", scene.steps(3));
    await scene.add("x", { gates: ["smtp"], maxWaitMs: scene.steps(5) });
    await scene.expect([], "what there is while the gate is shut");
    await scene.pass(4);
    await scene.expect(["x"], "what there is when it is open");
  }),

  "a job is failed at once when its gate is shut for too long later on": onQueue(async (scene) => {
    const id = await scene.add("x", { gates: ["smtp"], maxWaitMs: scene.steps(3) });
    const end = scene.broker.ended(id);
    await scene.waits(end, "the end of the job while its gate is open");
    await scene.broker.cooldown("smtp", scene.steps(10));
    const { state, waited } = await scene.atOnce(end, "the end of the job");
    equal(state, "failed", "how the job ended");
    matches(waited, { gate: "smtp", maxWait: scene.steps(3) }, "what it says of the wait");
    scene.near(waited?.wait, scene.steps(10), "the wait it would have been");
  }),

  "a delayed job is taken in though its gate is shut, and runs if the gate is open when it is due":
    onQueue(async (scene) => {
      await scene.broker.cooldown("smtp", scene.steps(4));
      await scene.add("x", { gates: ["smtp"], delayMs: scene.steps(6), maxWaitMs: 0 });
      await scene.expectAfter(6, ["x"], "what there is when it is due");
    }),

  "a delayed job fails when it is due if its gate opens too late then": onQueue(async (scene) => {
    await scene.broker.cooldown("smtp", scene.steps(20));
    const delayMs = scene.steps(2);
    const id = await scene.add("x", { gates: ["smtp"], delayMs, maxWaitMs: scene.steps(5) });
    const end = scene.broker.ended(id);
    await scene.waits(end, "the end of the job before it is due");
    await scene.pass(3);
    const { state, waited } = await scene.atOnce(end, "the end of the job");
    equal(state, "failed", "how the job ended");
    scene.near(waited?.wait, scene.steps(18), "the wait from its due time on");
  }),

  "waiting for another job to end is not waiting for a gate": onQueue(async (scene) => {
    await scene.broker.setGate("one", { concurrency: 1 });
    await scene.add("first", { gates: ["one"] });
    const first = await scene.takeOne();
    await scene.add("second", { gates: ["one"], maxWaitMs: 0 });
    await scene.pass(5);
    await scene.ack(first);
    await scene.expect(["second"], "what there is when the first has ended");
  }),

  "behind an interval from the end a wait is judged when no one runs": onQueue(async (scene) => {
    await scene.broker.setGate("one", { interval: { every: 0, from: "end" } });
    await scene.add("first", { gates: ["one"] });
    const first = await scene.takeOne();
    await scene.broker.cooldown("one", scene.steps(5));
    const id = await scene.add("second", { gates: ["one"], maxWaitMs: scene.steps(2) });
    const end = scene.broker.ended(id);
    await scene.waits(end, "the end of the second while the first runs");
    await scene.ack(first);
    const { state, waited } = await scene.atOnce(end, "its end");
    equal([state, waited?.gate], ["failed", "one"], "how the second ended");
    const { opensAtByTier } = await scene.broker.gate("one");
    equal(opensAtByTier.length, 1, "tiers that the gate tells apart");
    check((opensAtByTier[0] ?? 0) > scene.now(), "the gate opens later");
  }),

  "a refused job leaves its gate as it was": onQueue(async (scene) => {
    await scene.broker.setGate("slow", { rate: scene.oneEvery(100), burst: 1 });
    await scene.add("x", { gates: ["slow"] });
    await scene.takeOne();
    refused(await scene.tryAdd("y", { gates: ["slow"], maxWaitMs: 1 }), "WAIT_TOO_LONG", "the job");
    const { tokens, cooldown, inFlight } = await scene.broker.gate("slow");
    check((tokens ?? 1) < 0.5, `the refused job must not refill the gate, it has ${tokens} tokens`);
    equal([cooldown, inFlight], [undefined, 1], "cooldown and leases of the gate");
  }),
});
