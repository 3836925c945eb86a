import type { BulkAction, BulkInfo, JobFilter } from "../found.ts";
import type { BulkOptions } from "../port.ts";
import { cases, durableCases } from "./case.ts";
import { check, each, equal, matches, rejects, textOf, Unmet } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

const TURNS_MAX = 100;

/** Waits for the end of an action. */
async function over(scene: Scene, id: string): Promise<BulkInfo> {
  for (let turn = 0; turn < TURNS_MAX; turn++) {
    const info = await scene.broker.bulk(id);
    if (info.state !== "running") return info;
    await scene.settle();
  }
  throw new Unmet(`bulk action ${id} has not ended`);
}

async function act(
  scene: Scene,
  action: BulkAction,
  filter: JobFilter,
  options?: BulkOptions,
): Promise<BulkInfo> {
  const started = scene.broker.startBulk(action, filter, options).catch((error: Error) => {
    throw new Unmet(`the ${action} was refused: ${error.message}`);
  });
  return over(scene, (await started).id);
}

/** Letters of the queue "q". */
async function bury(scene: Scene, payloads: readonly string[]): Promise<string[]> {
  await scene.queue({ retry: { ...PROMPT, attempts: 1 } });
  const ids: string[] = [];
  for (const payload of payloads) ids.push(await scene.bury(payload));
  return ids;
}

async function states(scene: Scene, ids: readonly string[]): Promise<string[]> {
  const all = ids.map((id) =>
    scene.broker.job(id).then(
      ({ state }) => state,
      () => "gone",
    ),
  );
  return Promise.all(all);
}

export const bulk = cases("bulk", {
  "dead letters are retried by a filter, and those alone": async (scene) => {
    const ids = await bury(scene, ["a", "b"]);
    const other = await scene.add("c", { fairnessKey: "other", delayMs: scene.steps(9) });
    const counted = await scene.broker.startBulk("retry", { queues: ["q*"] }, { dryRun: true });
    matches(counted, { state: "counted", matched: 2, done: 0 }, "what would be retried");
    const info = await act(scene, "retry", { queues: ["q*"] });
    matches(info, { action: "retry", state: "done", matched: 2, done: 2, refused: 0 }, "the end");
    equal(info.filter.states, ["dead", "failed"], "what was meant");
    equal(await states(scene, [...ids, other]), ["waiting", "waiting", "delayed"], "the jobs");
    equal(each(await scene.broker.bulks(), "id"), [info.id], "the actions");
  },

  "a letter is retried in another queue, with another payload": async (scene) => {
    const [id] = await bury(scene, ["a"]);
    await scene.queue({}, "r");
    const info = await act(scene, "retry", { ids: [id!] }, { to: "r", payload: { n: 2 } });
    matches(info, { done: 1, edited: true, to: "r" }, "the action");
    const job = await scene.takeOne("r");
    equal([job.id, textOf(job)], [id, '{"n":2}'], "the job");
  },

  "jobs are cancelled, deleted and run at once": async (scene) => {
    await scene.queue();
    const [a, b, c] = await scene.addAll(["a", "b", "c"], { delayMs: scene.steps(50) });
    await act(scene, "cancel", { ids: [a!] });
    await act(scene, "delete", { ids: [b!] });
    await act(scene, "run", { ids: [c!] });
    equal(await states(scene, [a!, b!, c!]), ["cancelled", "gone", "waiting"], "the jobs");
  },

  "jobs are moved to another queue, and keep their delay": async (scene) => {
    await scene.queue();
    await scene.queue({}, "r");
    const id = await scene.add("a", { delayMs: scene.steps(50) });
    await act(scene, "move", { ids: [id] }, { to: "r" });
    matches(await scene.broker.job(id), { queue: "r", state: "delayed" }, "the job");
  },

  "a job that refuses a move is counted, and the others go on": async (scene) => {
    await scene.queue();
    const [held, free] = await scene.addAll(["a", "b"]);
    await scene.queue({}, "r");
    await scene.takeOne();
    const info = await act(scene, "move", { ids: [held!, free!] }, { to: "r" });
    matches(info, { done: 1, refused: 1 }, "the action");
    check(info.refusal?.includes("running") === true, "why it was refused");
  },

  "payloads and headers choose jobs too": async (scene) => {
    await scene.queue();
    const ids = await scene.addAll(["apple", "pear", "apricot"]);
    const info = await act(scene, "cancel", { queues: ["q"], text: "ap" });
    matches(info, { done: 2, matched: 2 }, "the action");
    equal(await states(scene, ids), ["cancelled", "waiting", "cancelled"], "the jobs");
  },

  "what makes no sense is refused, and starts nothing": async (scene) => {
    await scene.queue();
    const { broker } = scene;
    await rejects(broker.startBulk("move", {}), "INVALID", "a move without a queue");
    await rejects(broker.startBulk("cancel", {}, { to: "q" }), "INVALID", "a cancel with one");
    await rejects(broker.startBulk("run", {}, { payload: 1 }), "INVALID", "a run with a payload");
    const to = "nowhere";
    await rejects(broker.startBulk("move", {}, { to }), "QUEUE_NOT_FOUND", "an unknown queue");
    const odd = { color: 1 } as JobFilter;
    await rejects(broker.startBulk("cancel", odd), "INVALID", "an unknown field");
    await rejects(broker.bulk("b9"), "NOT_FOUND", "an unknown action");
    equal(await broker.bulks(), [], "the actions");
  },

  "the same call made again starts nothing new": async (scene) => {
    const [id] = await bury(scene, ["a"]);
    const options = { operationId: "once" };
    const first = await scene.broker.startBulk("retry", { ids: [id!] }, options);
    await over(scene, first.id);
    const again = await scene.broker.startBulk("retry", { ids: [id!] }, options);
    equal(again.id, first.id, "the action");
    equal((await scene.broker.bulks()).length, 1, "how many there are");
  },

  "an action that is over stays as it ended when it is stopped": async (scene) => {
    await scene.queue();
    const { id } = await act(scene, "cancel", {});
    equal((await scene.broker.stopBulk(id)).state, "done", "its state");
    await rejects(scene.broker.stopBulk("b9"), "NOT_FOUND", "an unknown one");
  },

  "events tell of it": async (scene) => {
    await scene.queue();
    const told = await scene.listen({ events: ["bulk"] });
    await scene.broker.startBulk("cancel", {});
    const first = await told.hears("bulk", "the start");
    matches(first, { event: "bulk", action: "cancel" }, "the event");
  },
});

export const bulkSurvives = durableCases("bulk", {
  "an action that was under way continues, and is remembered": async (scene) => {
    const ids = await bury(scene, ["a", "b"]);
    const { id } = await scene.broker.startBulk("retry", { states: ["dead"] });
    await scene.reopen();
    matches(await over(scene, id), { state: "done", done: 2, refused: 0 }, "the action");
    equal(await states(scene, ids), ["waiting", "waiting"], "the jobs");
  },

  "deleted jobs and edited payloads": async (scene) => {
    const [a, b] = await bury(scene, ["a", "b"]);
    await act(scene, "delete", { ids: [a!] });
    await act(scene, "retry", { ids: [b!] }, { payload: "new" });
    await scene.reopen();
    equal(await states(scene, [a!, b!]), ["gone", "waiting"], "the jobs");
    const job = await scene.takeOne();
    equal([job.id, textOf(job)], [b, '"new"'], "the job that was edited");
  },

  "a job that was moved": async (scene) => {
    await scene.queue();
    await scene.queue({}, "r");
    const id = await scene.add("a");
    await act(scene, "move", { queues: ["q"] }, { to: "r" });
    await scene.reopen();
    equal((await scene.takeOne("r")).id, id, "the job");
  },
});
