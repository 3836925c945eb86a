import type { JobState } from "../job.ts";
import { cases, durableCases } from "./case.ts";
import { accepted, equal, matches, refused, rejects } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** A queue, its dead letter queue without a backoff, and letters there. */
async function letters(scene: Scene, ...payloads: string[]): Promise<string[]> {
  await scene.queue();
  await scene.queue({ lease: scene.steps(2), retry: { attempts: 1, ...PROMPT } }, "q.dlq");
  const ids: string[] = [];
  for (const payload of payloads) ids.push(await scene.bury(payload));
  return ids;
}

export const lettersLive = cases("dead letters", {
  "a letter survives nacks, expired leases and give backs, in its place": async (scene) => {
    const [id] = await letters(scene, "a", "b");
    for (let i = 0; i < 3; i++) {
      await scene.nack(await scene.takeOne("q.dlq"), { error: `look ${i}`, unrecoverable: true });
    }
    await scene.takeOne("q.dlq");
    await scene.pass(3);
    const job = await scene.takeOne("q.dlq");
    matches(job, { id }, "the oldest letter, again");
    accepted((await scene.broker.giveBack([job.lease]))[0], "the give back");
    equal(await scene.broker.redrive("q.dlq"), 2, "how many can be put back");
    const [first] = await scene.expect(["a", "b"], "what is back");
    matches(first, { attempt: 0, deliveries: 1 }, "a job that is back");
  },

  "a letter is dead while it lies there, and running while a reader has it": async (scene) => {
    const [id] = await letters(scene, "a");
    const own = await scene.add("own", {}, "q.dlq");
    const listed = async (state: JobState): Promise<string[]> =>
      (await scene.broker.jobs("q.dlq", { state })).items.map((job) => job.id);
    equal([await listed("dead"), await listed("waiting")], [[id], [own]], "dead and waiting jobs");
    equal((await scene.broker.job(id!)).state, "dead", "the state of the letter");
    equal((await scene.broker.queue("q.dlq")).stats.waiting, 2, "those that wait, letters too");
    const letter = await scene.takeOne("q.dlq");
    equal([await listed("dead"), await listed("running")], [[], [id]], "while it is held");
    await scene.ack(letter);
    equal((await scene.broker.job(id!)).state, "finished", "the state after the ack");
  },

  "a job added to a dead letter queue follows its policy": async (scene) => {
    await letters(scene);
    const id = await scene.add("own", {}, "q.dlq");
    await scene.nack(await scene.takeOne("q.dlq"));
    matches(await scene.broker.job(id), { queue: "q.dlq", state: "failed" }, "the job");
  },

  "a retry returns one letter to its origin, and no other": async (scene) => {
    const [, b] = await letters(scene, "a", "b", "c");
    accepted((await scene.broker.retry([b!]))[0], "the retry");
    await scene.expect(["b"], "what is back");
    const held = await scene.takeOne("q.dlq");
    refused((await scene.broker.retry([held.id]))[0], "CONFLICT", "a letter that runs");
  },

  "a redrive by id puts back those that are letters there": async (scene) => {
    const [a, , c] = await letters(scene, "a", "b", "c");
    const ids = [c!, a!, "nothing", await scene.add("own", {}, "q.dlq")];
    equal(await scene.broker.redrive("q.dlq", { ids }), 2, "how many were put back");
    await scene.expect(["c", "a"], "what is back");
    await rejects(scene.broker.redrive("q.dlq", { ids, count: 1 }), "INVALID", "ids and a count");
  },

  "a dlq that leads back to its queue is refused": async (scene) => {
    await scene.queue({ dlq: "b" }, "a");
    await scene.queue({ dlq: "c" }, "b");
    await rejects(scene.queue({ dlq: "a" }, "c"), "INVALID", "a circle of three");
    await rejects(scene.queue({ dlq: "a" }, "b"), "INVALID", "a circle of two");
  },

  "letters end when the retention of their queue is over": async (scene) => {
    const [id] = await letters(scene, "a");
    await scene.queue({ retention: scene.steps(3) }, "q.dlq");
    await scene.pass(4);
    matches(await scene.broker.job(id!), { state: "expired" }, "the letter");
  },

  "deleting a queue keeps its letters and says how many": async (scene) => {
    await letters(scene, "a", "b");
    const kept = { lettersKept: 2, lettersDeleted: 0 };
    equal(await scene.broker.deleteQueue("q"), kept, "the answer");
    const gone = { lettersKept: 0, lettersDeleted: 2 };
    equal(await scene.broker.deleteQueue("q.dlq"), gone, "that of the dead letter queue");
  },

  "deleting a queue with its letters leaves none": async (scene) => {
    await letters(scene, "a", "b");
    const answer = await scene.broker.deleteQueue("q", { deadLetters: "delete" });
    equal(answer, { lettersKept: 0, lettersDeleted: 2 }, "the answer");
    await scene.expect([], "what is left", "q.dlq");
  },
});

export const delivering = cases("deliveries", {
  "a job that asks for more time without end is dead after its deliveries": async (scene) => {
    await scene.queue({ retry: { attempts: 2, deliveries: 3, ...PROMPT } });
    const id = await scene.add("x");
    for (let deliveries = 1; deliveries <= 3; deliveries++) {
      const job = await scene.takeOne();
      matches(job, { deliveries, attempt: 0 }, "the job as it is handed out");
      await scene.nack(job, { cooldown: { gate: "g", ms: 0 }, error: "busy" });
    }
    const info = await scene.broker.job(id);
    matches(info, { queue: "q.dlq", error: "busy", deliveries: 3 }, "the letter");
    matches(info.dead, { origin: "q", reason: "deliveries used up" }, "its death");
  },
});

export const failuresSurvive = durableCases("failures survive", {
  "the stack of the last error and the progress are kept with the job": async (scene) => {
    await scene.queue({ retry: { attempts: 3, ...PROMPT } });
    const id = await scene.add("x");
    const job = await scene.takeOne();
    const progress = { done: 3, of: 4 };
    for (const told of [1, 2, progress]) {
      accepted(
        (await scene.broker.progress([{ lease: job.lease, progress: told }]))[0],
        "progress",
      );
    }
    await scene.nack(job, { error: "no", stack: "Error: no\n    at here" });
    await scene.reopen();
    const info = await scene.broker.job(id);
    matches(info, { error: "no", stack: "Error: no\n    at here", progress }, "the job");
    await scene.nack(await scene.takeOne(), { error: "other", stack: "x".repeat(9000) });
    const { stack } = await scene.broker.job(id);
    equal(stack?.length, 4096, "what is kept of a long stack");
    await scene.nack(await scene.takeOne(), { error: "last" });
    const last = await scene.broker.job(id);
    matches(last, { queue: "q.dlq", error: "last", stack: undefined }, "the letter");
  },
});
