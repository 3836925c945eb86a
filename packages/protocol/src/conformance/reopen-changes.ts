import { durableCases, onQueue } from "./case.ts";
import { bytes, equal, matches, refused, rejects } from "./check.ts";
import { PROMPT } from "./scene.ts";

export const changesSurvive = durableCases("changes survive", {
  "what was said under an operation id": onQueue(async (scene) => {
    const once = { operationId: "once" };
    const first = await scene.broker.add("q", [{ payload: bytes("a") }], once);
    await scene.reopen();
    const other = scene.broker.add("q", [{ payload: bytes("b") }], once);
    await rejects(other, "CONFLICT", "another payload");
    const again = await scene.broker.add("q", [{ payload: bytes("a") }], once);
    equal(again, first, "the answer again");
    await scene.expect(["a"], "the jobs that there are");
  }),

  "a delayed job that fell due has kept its place": onQueue(async (scene) => {
    await scene.add("delayed", { delayMs: scene.steps(1) });
    await scene.pass(2);
    await scene.add("later");
    await scene.reopen();
    await scene.expect(["delayed", "later"], "the order");
  }),

  "a job that was given back is at the front, and its lease is lost": onQueue(async (scene) => {
    await scene.addAll(["a", "b"]);
    const { lease } = await scene.takeOne();
    await scene.broker.giveBack([lease]);
    await scene.reopen();
    const outcomes = await scene.broker.ack([{ lease }]);
    refused(outcomes[0], "LEASE_LOST", "an ack with the lease that was given back");
    const [a] = await scene.expect(["a", "b"], "the order");
    equal(a?.attempt, 0, "the attempt of the first");
  }),

  "a job that failed is at the back": async (scene) => {
    await scene.queue({ retry: PROMPT });
    await scene.addAll(["a", "b"]);
    await scene.nack(await scene.takeOne());
    await scene.reopen();
    await scene.expect(["b", "a"], "the order");
  },

  "a payload that was replaced is the new one, in the old place": onQueue(async (scene) => {
    const options = { dedupe: { key: "k", mode: "replace" } } as const;
    await scene.add("first", options);
    await scene.add("other");
    await scene.add("second", options);
    await scene.reopen();
    await scene.expect(["second", "other"], "the order");
  }),

  "a debounced job has its latest payload and its latest delay": onQueue(async (scene) => {
    const dedupe = { key: "k", mode: "debounce" } as const;
    await scene.add("first", { dedupe, delayMs: scene.steps(8) });
    await scene.pass(4);
    await scene.add("second", { dedupe, delayMs: scene.steps(8) });
    await scene.reopen();
    await scene.pass(5);
    await scene.expect([], "what there is before the latest delay is over");
    await scene.pass(4);
    await scene.expect(["second"], "what there is after it");
  }),

  "a job that runs again runs again": onQueue(async (scene) => {
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne(), bytes("42"));
    await scene.broker.retry([id]);
    await scene.reopen();
    matches(await scene.takeOne(), { id, attempt: 0 }, "the job");
  }),

  "dead jobs that were put back are back": onQueue(async (scene) => {
    const id = await scene.bury("x", { fairnessKey: "acme", priority: 1 });
    await scene.broker.redrive("q.dlq");
    await scene.reopen();
    await scene.expect([], "what the dead letter queue has", "q.dlq");
    const back = { id, attempt: 0, fairnessKey: "acme", tier: 1 };
    matches(await scene.takeOne(), back, "the job");
  }),

  "a promoted job is in its new tier": async (scene) => {
    await scene.queue({ tiers: 3, promoteAfter: scene.steps(20) });
    const id = await scene.add("x");
    await scene.pass(21);
    // Or it would be promoted again when it comes back.
    await scene.queue({ promoteAfter: null });
    await scene.reopen();
    equal((await scene.broker.job(id)).tier, 1, "the tier");
  },

  "a cooldown that was cleared is over": onQueue(async (scene) => {
    await scene.broker.cooldown("gate", scene.steps(50));
    await scene.broker.clearCooldown("gate");
    await scene.add("x", { gates: ["gate"] });
    await scene.reopen();
    await scene.expect(["x"], "what goes out");
  }),

  "the history of a job is what it was": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    await scene.nack(await scene.takeOne(), { error: "boom" });
    await scene.ack(await scene.takeOne());
    const before = await scene.broker.history(id);
    await scene.reopen();
    equal(await scene.broker.history(id), before, "the history");
  },

  "the run of a job is the same, also when it is reported again": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    await scene.ack(await scene.takeOne());
    await scene.broker.retry([id]);
    const before = await scene.broker.lives([id]);
    equal(before[0]?.ok?.generation, 1, "its generation");
    await scene.reopen();
    equal(await scene.broker.lives([id]), before, "its life");
  },

  "a broker that is opened again twice has lost nothing either": onQueue(async (scene) => {
    await scene.addAll(["a", "b", "c"]);
    const a = await scene.takeOne();
    await scene.reopen();
    await scene.ack(a);
    await scene.add("d");
    const b = await scene.takeOne();
    await scene.reopen();
    await scene.expect(["c", "d"], "what there is");
    await scene.ack(b);
    const [again] = await scene.broker.ack([{ lease: a.lease }]);
    refused(again, "ALREADY_FINISHED", "a second ack of the first");
  }),
});
