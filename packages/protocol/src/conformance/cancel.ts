import { cases, onQueue } from "./case.ts";
import { accepted, each, equal, refused } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** Cancels a job that has not ended, and holds that it then has. */
async function cancels(scene: Scene, id: string, what: string): Promise<void> {
  const end = scene.broker.ended(id);
  const [outcome] = await scene.broker.cancel([id]);
  equal(accepted(outcome, `the cancel of ${what}`), true, `the answer for ${what}`);
  const { state } = await scene.atOnce(end, `the end of ${what}`);
  equal(state, "cancelled", `how ${what} ended`);
}

export const cancelling = cases("cancel", {
  "a waiting job is not delivered any more": onQueue(async (scene) => {
    const [, b] = await scene.addAll(["a", "b", "c"]);
    await cancels(scene, b!, "a waiting job");
    await scene.expect(["a", "c"], "what is left");
  }),

  "a delayed job never falls due": onQueue(async (scene) => {
    const id = await scene.add("x", { delayMs: scene.steps(3) });
    await cancels(scene, id, "a delayed job");
    await scene.pass(5);
    await scene.expect([], "what there is at its time");
  }),

  "a job behind a gate leaves it": onQueue(async (scene) => {
    await scene.broker.cooldown("smtp", scene.steps(3));
    const [a] = await scene.addAll(["a", "b"], { gates: ["smtp"] });
    await cancels(scene, a!, "a gated job");
    await scene.pass(5);
    await scene.expect(["b"], "what there is when the gate opens");
  }),

  "a running job has ended for its worker too": onQueue(async (scene) => {
    const id = await scene.add("x");
    const { lease } = await scene.takeOne();
    await cancels(scene, id, "a running job");
    refused((await scene.broker.ack([{ lease }]))[0], "ALREADY_FINISHED", "the ack afterwards");
  }),

  "a running job makes room at its gate": onQueue(async (scene) => {
    await scene.broker.setGate("one", { concurrency: 1 });
    const [a] = await scene.addAll(["a", "b"], { gates: ["one"] });
    await scene.takeOne();
    await scene.expect([], "what there is while the place is taken");
    await cancels(scene, a!, "the running job");
    await scene.expect(["b"], "what there is when the place is free");
  }),

  "a job that waits for its retry does not come back": async (scene) => {
    await scene.queue({ retry: { min: scene.steps(3), jitter: 0 } });
    const id = await scene.add("x");
    await scene.nack(await scene.takeOne());
    await cancels(scene, id, "a job before its retry");
    await scene.pass(5);
    await scene.expect([], "what there is at the time of the retry");
  },

  "a dead job leaves the dead letter queue": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.bury("x");
    const [outcome] = await scene.broker.cancel([id]);
    equal(accepted(outcome, "the cancel"), true, "the answer");
    equal(await scene.broker.redrive("q.dlq"), 0, "what there is to redrive");
  },

  "a job that had ended is answered with false": onQueue(async (scene) => {
    const finished = await scene.add("x");
    await scene.ack(await scene.takeOne());
    const cancelled = await scene.add("y");
    await cancels(scene, cancelled, "a waiting job");
    const outcomes = await scene.broker.cancel([finished, cancelled]);
    equal(each(outcomes, "ok"), [false, false], "the answers");
    equal((await scene.broker.job(finished)).state, "finished", "how the first ended");
  }),

  "a job never issued is refused, and the others are cancelled": async (scene) => {
    const other = await scene.elsewhere();
    await other.queue();
    const unknown = (await other.addAll(Array.from({ length: 50 }, (_, i) => `${i}`)))[49]!;
    await scene.queue();
    const known = await scene.add("x");
    const outcomes = await scene.broker.cancel([unknown, known]);
    refused(outcomes[0], "JOB_NOT_FOUND", "the cancel of the unknown job");
    equal(accepted(outcomes[1], "the cancel of the known job"), true, "its answer");
  },
});
