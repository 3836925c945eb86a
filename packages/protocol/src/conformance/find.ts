import type { FoundJob } from "../found.ts";
import type { FindOptions } from "../port.ts";
import { cases, durableCases, onQueue } from "./case.ts";
import { check, each, equal, matches, rejects } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** All pages of a search. */
async function found(scene: Scene, options: FindOptions = {}): Promise<FoundJob[]> {
  const items: FoundJob[] = [];
  let cursor: string | undefined;
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await scene.broker.findJobs({ ...options, ...from });
    items.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return items;
}

async function previews(scene: Scene, options: FindOptions = {}): Promise<string[]> {
  return each(await found(scene, options), "preview");
}

/** Two queues, a job a step: what waits in `q`, what died there, what waits in `r`. */
async function life(scene: Scene): Promise<{ dead: string }> {
  await scene.queue({ retry: { ...PROMPT, attempts: 1 } });
  await scene.queue({}, "r");
  await scene.add("old", { fairnessKey: "acme", headers: { trace: "t1" } }, "r");
  await scene.pass(1);
  await scene.add("grave 1", { fairnessKey: "acme" });
  const job = await scene.takeOne();
  await scene.nack(job, { error: "timeout after 12 ms", stack: "at grave" });
  await scene.pass(1);
  await scene.add("new", { fairnessKey: ["big", "small"] });
  return { dead: job.id };
}

export const finding = cases("find", {
  "jobs of all queues are found, sorted by time, by page": async (scene) => {
    await life(scene);
    equal(await previews(scene), ["new", "grave 1", "old"], "the newest first");
    equal(await previews(scene, { limit: 1 }), ["new", "grave 1", "old"], "page by page");
    const order = "oldest";
    equal(
      await previews(scene, { order, limit: 2 }),
      ["old", "grave 1", "new"],
      "the oldest first",
    );
  },

  "jobs are found by queue, state, key, time, error and id": async (scene) => {
    const { dead } = await life(scene);
    equal(await previews(scene, { queues: ["q"] }), ["new"], "of a queue");
    equal(await previews(scene, { queues: ["q*"] }), ["new", "grave 1"], "of queues by prefix");
    equal(await previews(scene, { states: ["dead"] }), ["grave 1"], "in a state");
    equal(await previews(scene, { lane: "acme" }), ["grave 1", "old"], "with a key");
    equal(await previews(scene, { lane: ["big", "small"] }), ["new"], "with a path");
    equal(await previews(scene, { error: "TIMEOUT" }), ["grave 1"], "with an error");
    equal(await previews(scene, { origin: "q" }), ["grave 1"], "that came from a queue");
    equal(await previews(scene, { ids: [dead, "nothing"] }), ["grave 1"], "by id");
    const [first] = await found(scene, { order: "oldest", limit: 1 });
    const since = first!.addedAt + 1;
    equal(await previews(scene, { since }), ["new", "grave 1"], "since a time");
    equal(await previews(scene, { until: since }), ["old"], "until a time");
  },

  "a found job tells what a list shows": async (scene) => {
    const { dead } = await life(scene);
    const [job] = await found(scene, { ids: [dead] });
    matches(job, { id: dead, queue: "q.dlq", state: "dead", payloadBytes: 7 }, "the job");
    matches(job!.dead, { origin: "q" }, "where it died");
    check(job!.changedAt >= job!.addedAt, "it died after it was added");
  },

  "a text in the payload is found by a scan that tells how far it is": async (scene) => {
    await life(scene);
    equal(await previews(scene, { text: "rave" }), ["grave 1"], "by text");
    equal(await previews(scene, { header: "trace=t1" }), ["old"], "by header");
    equal(await previews(scene, { header: "trace", text: "new" }), [], "by both");
    const page = await scene.broker.findJobs({ text: "rave" });
    check(page.scanned === page.total && page.total! >= 3, "all jobs were scanned");
  },

  "jobs are counted by state and queue": async (scene) => {
    await life(scene);
    const { count, states, queues } = await scene.broker.countJobs({ lane: "acme" });
    equal([count, states], [2, { waiting: 1, dead: 1 }], "the counts");
    equal(each(queues, "queue").toSorted(), ["q.dlq", "r"], "the queues");
    equal((await scene.broker.countJobs({ text: "e" })).count, 2, "those with a text");
  },

  "failures are grouped by error, with numbers folded": async (scene) => {
    await life(scene);
    await scene.add("grave 2");
    const [, job] = await scene.take(2);
    await scene.nack(job!, { error: "timeout after 99 ms" });
    const { items, total } = await scene.broker.failures();
    equal([items.length, total], [1, 1], "the groups");
    const [group] = items;
    matches(group, { error: "timeout after # ms", jobs: 2, retrying: 0 }, "the group");
    equal(group!.queues, [{ queue: "q", jobs: 2 }], "where its jobs failed");
    matches(group!.example, { id: job!.id, error: "timeout after 99 ms" }, "the example");
    const filter = { failure: group!.id, states: ["dead"] } as const;
    equal((await scene.broker.countJobs(filter)).count, 2, "its jobs");
    equal((await scene.broker.failures({ queues: ["r"] })).items, [], "those of another queue");
  },

  "a cursor that is none is refused": onQueue(async (scene) => {
    await rejects(scene.broker.findJobs({ cursor: "x" }), "INVALID", "of a search");
    await rejects(scene.broker.findJobs({ cursor: "x", text: "y" }), "INVALID", "of a scan");
  }),
});

export const findsSurvive = durableCases("find", {
  "the lines and attempts of a job": async (scene) => {
    await scene.queue({ retry: PROMPT });
    const id = await scene.add("x");
    const job = await scene.takeOne("q", { worker: "w1" });
    await scene.broker.log([{ lease: job.lease, lines: ["half way"] }]);
    await scene.nack(job, { error: "boom" });
    const attempts = await scene.broker.attempts(id);
    await scene.reopen();
    equal(each(await scene.broker.logLines(id), "text"), ["half way"], "the lines");
    equal(await scene.broker.attempts(id), attempts, "the attempts");
  },

  "what is found, and failures": async (scene) => {
    await life(scene);
    const before = await found(scene);
    const failures = await scene.broker.failures();
    await scene.reopen();
    equal(await found(scene), before, "what is found");
    equal(
      each((await scene.broker.failures()).items, "id"),
      each(failures.items, "id"),
      "failures",
    );
  },
});
