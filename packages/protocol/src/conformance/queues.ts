import type { QueueOptions } from "../options/queue-options.ts";
import { allQueues } from "../pages.ts";
import { type ConformanceCase, cases, onQueue } from "./case.ts";
import { accepted, check, each, equal, matches, names, paged, refused, rejects } from "./check.ts";
import { PROMPT } from "./scene.ts";

const setting = cases("setQueue", {
  "a new queue has the documented defaults": async (scene) => {
    const { name, config, stats } = await scene.queue();
    equal(name, "q", "the name");
    equal(config.tiers.length, 4, "the number of tiers");
    const defaults = {
      tierOrder: "strict",
      fairness: true,
      onFull: "reject",
      addTimeout: 5000,
      fullRetry: 10_000,
      lease: 30_000,
      dlq: "q.dlq",
      paused: false,
      weight: 1,
      retry: { attempts: 5, min: 1000, max: 300_000, factor: 2, jitter: 0.2, deliveries: 250 },
      results: { jobs: 100_000, ttl: 86_400_000 },
      capacity: {
        jobs: 1_000_000,
        bytes: 2 ** 30,
        perLane: null,
        delayed: 1_000_000,
        blocked: 1_000_000,
        running: 1_000_000,
      },
    };
    matches(config, defaults, "the configuration");
    matches(stats, { waiting: 0, running: 0, delayed: 0, kept: 0, added: 0 }, "the counts");
  },

  "a change in place keeps the jobs and the options it does not name": async (scene) => {
    await scene.queue({ lease: 7000, retry: { attempts: 9 }, addTimeout: 77 });
    await scene.addAll(["a", "b"]);
    const running = await scene.takeOne();
    const { config } = await scene.queue({ retry: { factor: 3 }, results: { jobs: 5 } });
    equal([config.lease, config.addTimeout], [7000, 77], "options that were not named");
    matches(config.retry, { attempts: 9, factor: 3 }, "the retries");
    matches(config.results, { jobs: 5, ttl: 86_400_000 }, "the results");
    equal((await scene.broker.queue("q")).config, config, "the configuration that is kept");
    await scene.ack(running);
    await scene.expect(["b"], "the jobs that wait");
  },

  "what a queue answers can be set again, for another queue too": async (scene) => {
    const { config } = await scene.queue({
      lease: "7s",
      promoteAfter: "1m",
      results: { ttl: "1h" },
      policy: { delay: "5s", weight: 2 },
    });
    const shown = { lease: 7000, promoteAfter: 60_000, retention: null, admission: null };
    matches(config, shown, "the configuration");
    matches(config.policy, { delay: 5000, weight: 2 }, "the policy");
    equal((await scene.broker.setQueue("q", config)).config, config, "the same queue");
    const other = await scene.queue({ retention: "1d", ttl: "1h" }, "other");
    equal(other.config.retention, 86_400_000, "the retention of the other queue");
    const { config: copied } = await scene.broker.setQueue("other", config);
    equal(copied, config, "the other queue");
  },

  "a tier that is added is there for the next jobs": async (scene) => {
    await scene.queue({ tiers: 2 });
    refused(await scene.tryAdd("x", { priority: 2 }), "INVALID", "a job for tier 2 of 2");
    await scene.queue({ tiers: 3 });
    accepted(await scene.tryAdd("x", { priority: 2 }), "a job for tier 2 of 3");
  },

  "queues are listed with their options and counts": async (scene) => {
    await scene.queue({}, "a");
    await scene.queue({ lease: 5 }, "b");
    await scene.add("x", {}, "b");
    const { items: queues } = await scene.broker.queues();
    equal(queues.map(({ name }) => name).sort(), ["a", "b"], "the names");
    const b = queues.find(({ name }) => name === "b");
    equal([b?.config.lease, b?.stats.waiting], [5, 1], "lease time and waiting jobs of b");
  },

  "queues are listed page by page, by name": async (scene) => {
    const names = ["a", "b", "c", "d", "e"];
    for (const name of ["d", "a", "e", "c", "b"]) await scene.queue({}, name);
    const pages: string[][] = [];
    await paged(2, async (from) => {
      const page = await scene.broker.queues({ limit: 2, ...from });
      pages.push(each(page.items, "name"));
      return page;
    });
    equal(pages, [["a", "b"], ["c", "d"], ["e"]], "the pages");
    const all = await allQueues(scene.broker);
    equal(each(all, "name"), names, "all of them");
    equal((await scene.broker.queues({ limit: 5 })).cursor, undefined, "a page that is the last");
    for (const limit of [0, 1001, 1.5]) {
      await rejects(scene.broker.queues({ limit }), "INVALID", `a page of ${limit}`);
    }
    await rejects(scene.broker.queues({ cursor: 7 as never }), "INVALID", "a cursor that is none");
  },

  "a queue that does not exist is not found": async (scene) => {
    await rejects(scene.broker.queue("nowhere"), "QUEUE_NOT_FOUND", "queue");
    await rejects(scene.broker.deleteQueue("nowhere"), "QUEUE_NOT_FOUND", "deleteQueue");
    await rejects(scene.broker.purge("nowhere"), "QUEUE_NOT_FOUND", "purge");
    await rejects(scene.broker.lanes("nowhere"), "QUEUE_NOT_FOUND", "lanes");
  },

  "a queue counts what happens to its jobs": async (scene) => {
    await scene.queue({ retry: { attempts: 2, ...PROMPT } });
    await scene.addAll(["finished", "dead", "cancelled", "waiting"]);
    await scene.ack(await scene.takeOne());
    const dead = await scene.takeOne();
    await scene.broker.cancel([(await scene.takeOne()).id]);
    await scene.nack(dead);
    const [, again] = await scene.take(2);
    await scene.nack(again!);
    await scene.add("delayed", { delayMs: scene.steps(50) });
    const { stats } = await scene.broker.queue("q");
    const now = { waiting: 0, running: 1, delayed: 1, kept: 2 };
    const ever = { added: 5, dispatched: 5, finished: 1, retried: 1, cancelled: 1, dead: 1 };
    matches(stats, { ...now, ...ever }, "the counts");
  },
});

const BAD: readonly (readonly [string, QueueOptions, string])[] = [
  ["no tiers", { tiers: 0 }, "tiers"],
  ["17 tiers", { tiers: 17 }, "tiers"],
  ["two tiers of one name", { tiers: ["a", "a"] }, "tiers"],
  ["weights for another number of tiers", { tierOrder: [1, 2] }, "tierOrder"],
  ["a capacity of 0", { capacity: { jobs: 0 } }, "capacity"],
  ["a way to be full that there is not", { onFull: "explode" as never }, "onFull"],
  ["less than no time to wait for room", { addTimeout: -1 }, "addTimeout"],
  ["an admission above 1", { admission: { fill: 2, rate: 1 } }, "admission"],
  ["a lease of 0 ms", { lease: 0 }, "lease"],
  ["0 attempts", { retry: { attempts: 0 } }, "retry"],
  ["a jitter above 1", { retry: { jitter: 2 } }, "retry"],
  ["itself for its dead letters", { dlq: "q" }, "dlq"],
  ["results for less than none", { results: { jobs: -1 } }, "results"],
  ["a weight of 0", { weights: { acme: 0 } }, "weights"],
  ["a time to live of 0", { ttl: 0 }, "ttl"],
  ["something that is no yes and no no", { paused: "maybe" as never }, "paused"],
  ["an option that there is not", { colour: "red" } as never, "colour"],
];

const refusals = cases(
  "setQueue",
  Object.fromEntries(
    BAD.map(([what, options, field]) => [
      `a queue with ${what} is refused, and the refusal names the field and the value`,
      async (scene) => {
        const error = await rejects(scene.queue(options), "INVALID", what);
        names(error, field, what);
        check("value" in (error.details ?? {}), `${what}: the details must have the value`);
        equal(await scene.broker.queues(), { items: [] }, "the queues that there are");
      },
    ]),
  ),
);

const deleting = cases("deleteQueue, purge", {
  "a deleted queue is gone, with its jobs and leases": onQueue(async (scene) => {
    await scene.addAll(["a", "b"]);
    const { lease } = await scene.takeOne();
    await scene.broker.deleteQueue("q");
    await rejects(scene.broker.queue("q"), "QUEUE_NOT_FOUND", "the queue");
    refused((await scene.broker.ack([{ lease }]))[0], "ALREADY_FINISHED", "an ack afterwards");
    await scene.queue();
    await scene.expect([], "what a queue of that name has then");
    equal((await scene.broker.queue("q")).stats.added, 0, "the jobs it has ever had");
  }),

  "a deleted queue takes its dedupe keys with it": onQueue(async (scene) => {
    const options = { dedupe: { key: "k", mode: "window", windowMs: scene.steps(50) } } as const;
    const first = await scene.add("x", options);
    await scene.broker.deleteQueue("q");
    await scene.queue();
    const second = accepted(await scene.tryAdd("y", options), "an add with the same key");
    equal(second.duplicate, undefined, "whether it is a duplicate");
    check(second.id !== first, "ids must not come back");
  }),

  "a deleted queue gives back its places at gates": onQueue(async (scene) => {
    await scene.queue({}, "other");
    await scene.broker.setGate("one", { concurrency: 1 });
    await scene.add("x", { gates: ["one"] });
    await scene.takeOne();
    await scene.add("y", { gates: ["one"] }, "other");
    await scene.broker.deleteQueue("q");
    await scene.settle();
    await scene.expect(["y"], "what the other queue has then", "other");
  }),

  "a purge removes what waits and what is delayed, and leaves leases alone": onQueue(
    async (scene) => {
      const [, gone] = await scene.addAll(["running", "waiting"]);
      await scene.add("delayed", { delayMs: scene.steps(2) });
      const running = await scene.takeOne();
      await scene.broker.purge("q");
      await scene.settle();
      const { state } = await scene.atOnce(scene.broker.ended(gone!), "the end of a purged job");
      equal(state, "cancelled", "how a purged job ended");
      await scene.pass(3);
      await scene.expect([], "what there is after the purge");
      await scene.ack(running);
      await scene.add("later");
      await scene.expect(["later"], "what was added after the purge");
    },
  ),

  "what was purged is not handed out any more, however much it was": onQueue(async (scene) => {
    await scene.addAll(Array.from({ length: 3000 }, (_, i) => `${i}`));
    await scene.broker.purge("q");
    await scene.expect([], "what there is when the purge has been answered");
    await scene.add("later");
    await scene.expect(["later"], "what was added after it");
    const isEmpty = async () => (await scene.broker.queue("q")).stats.waiting === 0;
    for (let i = 0; i < 20 && !(await isEmpty()); i++) await scene.settle();
    check(await isEmpty(), "the counts must follow");
  }),

  "a queue with many jobs is gone at once, and its name is free": onQueue(async (scene) => {
    await scene.addAll(Array.from({ length: 3000 }, (_, i) => `${i}`));
    await scene.broker.deleteQueue("q");
    await scene.queue();
    await scene.add("new");
    await scene.expect(["new"], "what the new queue has");
    await scene.settle();
    equal((await scene.broker.queue("q")).stats.running, 1, "the leases of the new queue");
  }),
});

const pausing = cases("pause", {
  "a paused queue takes jobs and hands none out, until it continues": onQueue(async (scene) => {
    await scene.add("before");
    const running = await scene.takeOne();
    const { stats } = await scene.queue({ paused: true });
    equal(stats.paused, true, "what the counts say");
    await scene.add("x");
    await scene.expect([], "what a paused queue hands out");
    await scene.ack(running);
    const poll = scene.broker.lease("q", { max: 1, wait: scene.steps(50) });
    await scene.waits(poll, "a poll of a paused queue");
    await scene.queue({ paused: false });
    equal((await scene.atOnce(poll, "the poll")).length, 1, "what the poll got then");
  }),
});

export const queues: readonly ConformanceCase[] = [
  ...setting,
  ...refusals,
  ...deleting,
  ...pausing,
];
