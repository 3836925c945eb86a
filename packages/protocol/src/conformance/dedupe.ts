import type { Added, DedupeMode, JobFields } from "../job.ts";
import { cases, onQueue } from "./case.ts";
import { accepted, check, each, equal, rejects } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

async function add(
  scene: Scene,
  payload: string,
  mode: DedupeMode,
  options: JobFields = {},
  queue = "q",
): Promise<Added> {
  const windowMs = mode === "window" ? { windowMs: scene.steps(4) } : {};
  const delayMs = mode === "debounce" ? { delayMs: scene.steps(4) } : {};
  const dedupe = { key: "k", mode, ...windowMs };
  const outcome = await scene.tryAdd(payload, { ...delayMs, dedupe, ...options }, queue);
  return accepted(outcome, `the add of "${payload}"`);
}

function isDuplicateOf(first: Added, second: Added, what: string): void {
  equal([second.id, second.duplicate], [first.id, true], `id and duplicate of ${what}`);
}

function isNew(first: Added, second: Added, what: string): void {
  check(second.id !== first.id && second.duplicate === undefined, `${what} must be a new job`);
}

export const dedupe = cases("dedupe", {
  "pending: while a job waits an add changes nothing and answers its id": onQueue(async (scene) => {
    const first = await add(scene, "first", "pending");
    equal(first.duplicate, undefined, "whether the first is a duplicate");
    isDuplicateOf(first, await add(scene, "second", "pending"), "an add while it waits");
    await scene.expect(["first"], "the jobs that there are");
  }),

  "pending: while a job runs an add changes nothing and answers its id": onQueue(async (scene) => {
    const first = await add(scene, "first", "pending");
    await scene.takeOne();
    isDuplicateOf(first, await add(scene, "second", "pending"), "an add while it runs");
    await scene.expect([], "the jobs that there are besides");
  }),

  "pending: while a job is delayed for a retry its key stays taken": async (scene) => {
    await scene.queue({ retry: { min: scene.steps(4), jitter: 0 } });
    const first = await add(scene, "first", "pending");
    await scene.nack(await scene.takeOne());
    isDuplicateOf(first, await add(scene, "second", "pending"), "an add before the retry");
  },

  "pending: when the job has finished the key is free": onQueue(async (scene) => {
    const first = await add(scene, "first", "pending");
    await scene.ack(await scene.takeOne());
    isNew(first, await add(scene, "second", "pending"), "an add after the end");
    await scene.expect(["second"], "the jobs that there are");
  }),

  "window: an add within the window is a duplicate, finished or not": onQueue(async (scene) => {
    const first = await add(scene, "first", "window");
    isDuplicateOf(first, await add(scene, "second", "window"), "an add while it waits");
    await scene.ack(await scene.takeOne());
    await scene.pass(2);
    isDuplicateOf(first, await add(scene, "third", "window"), "an add after its end");
    await scene.pass(3);
    isNew(first, await add(scene, "fourth", "window"), "an add after the window");
    await scene.expect(["fourth"], "the jobs that there are");
  }),

  "debounce: each add replaces the payload and starts the delay again": onQueue(async (scene) => {
    const first = await add(scene, "first", "debounce");
    await scene.pass(3);
    isDuplicateOf(first, await add(scene, "second", "debounce"), "an add within the delay");
    await scene.expectAfter(4, ["second"], "what there is when the last delay is over");
  }),

  "replace: a waiting job takes the new payload and keeps its place": onQueue(async (scene) => {
    const first = await add(scene, "first", "replace");
    await scene.add("other");
    isDuplicateOf(first, await add(scene, "second", "replace"), "an add while it waits");
    await scene.expect(["second", "other"], "the jobs in their order");
  }),

  "replace: a running job is left alone, and the add is a job of its own": onQueue(
    async (scene) => {
      const first = await add(scene, "first", "replace");
      const running = await scene.takeOne();
      isNew(first, await add(scene, "second", "replace"), "an add while the first runs");
      await scene.ack(running);
      await scene.expect(["second"], "the jobs that there are");
    },
  ),

  "keepLast: a waiting job takes the latest payload": onQueue(async (scene) => {
    const first = await add(scene, "first", "keepLast");
    isDuplicateOf(first, await add(scene, "second", "keepLast"), "an add while it waits");
    await scene.expect(["second"], "the jobs that there are");
  }),

  "keepLast: exactly one follow-up with the latest payload runs after a lease": onQueue(
    async (scene) => {
      const first = await add(scene, "first", "keepLast");
      const running = await scene.takeOne();
      isDuplicateOf(first, await add(scene, "second", "keepLast"), "an add while it runs");
      isDuplicateOf(first, await add(scene, "third", "keepLast"), "another one");
      await scene.expect([], "what there is while the first runs");
      await scene.ack(running);
      const [followUp] = await scene.expect(["third"], "what there is after it");
      check(followUp?.id !== first.id, "the follow-up must be a job of its own");
    },
  ),

  "two adds with one key in the same call are one job": onQueue(async (scene) => {
    const [first, second] = await scene.addAll(["a", "b"], {
      dedupe: { key: "k", mode: "pending" },
    });
    equal(second, first, "the id of the second");
    await scene.expect(["a"], "the jobs that there are");
  }),

  "a key belongs to its queue": onQueue(async (scene) => {
    await scene.queue({}, "other");
    const first = await add(scene, "here", "pending");
    isNew(first, await add(scene, "there", "pending", {}, "other"), "an add to another queue");
  }),

  "a cancelled job frees its key": onQueue(async (scene) => {
    const first = await add(scene, "first", "pending");
    await scene.broker.cancel([first.id]);
    isNew(first, await add(scene, "second", "pending"), "an add after the cancel");
  }),

  "a job that died frees its key": async (scene) => {
    await scene.queue({ retry: { attempts: 1, ...PROMPT } });
    const first = await add(scene, "first", "pending");
    await scene.nack(await scene.takeOne());
    isNew(first, await add(scene, "second", "pending"), "an add after the death");
  },

  "a job tells the key that it holds": onQueue(async (scene) => {
    const { id } = await add(scene, "x", "pending");
    equal((await scene.broker.job(id)).dedupe, "k", "the dedupe key of the job");
  }),
});

export const cancelByKey = cases("cancelByKey", {
  "the job that holds a key is cancelled, and only that": onQueue(async (scene) => {
    const { id } = await add(scene, "first", "pending");
    await scene.add("other");
    const outcomes = await scene.broker.cancelByKey("q", ["k", "unknown"]);
    equal(each(outcomes, "ok"), [true, false], "the answers");
    equal((await scene.broker.job(id)).state, "cancelled", "how the job ended");
    await scene.expect(["other"], "the jobs that are left");
  }),

  "a key is free again when its job has been cancelled": onQueue(async (scene) => {
    const first = await add(scene, "first", "pending");
    await scene.broker.cancelByKey("q", ["k"]);
    const [again] = await scene.broker.cancelByKey("q", ["k"]);
    equal(again?.ok, false, "the answer to the second cancel");
    isNew(first, await add(scene, "second", "pending"), "an add after the cancel");
  }),

  "a queue that does not exist has no keys": async (scene) => {
    await rejects(scene.broker.cancelByKey("nowhere", ["k"]), "QUEUE_NOT_FOUND", "the call");
  },
});
