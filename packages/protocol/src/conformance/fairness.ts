import type { JobFields, LeasedJob } from "../job.ts";
import { cases, onQueue } from "./case.ts";
import { check, each, equal, matches, paged, rejects, textOf } from "./check.ts";
import type { Scene } from "./scene.ts";

/** Takes jobs one by one. */
async function takeEach(scene: Scene, count: number): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  for (let i = 0; i < count; i++) jobs.push(await scene.takeOne());
  return jobs;
}

/** Adds `count` jobs that are called after the first of `name`. */
async function backlog(scene: Scene, name: string, count: number, options: JobFields) {
  await scene.addAll(
    Array.from({ length: count }, () => name),
    options,
  );
}

/**
 * Holds that, on every prefix of an order, what the names have received differs by their share
 * (their number over their weight) by `most` at most.
 */
function isFair(
  order: readonly string[],
  weights: Readonly<Record<string, number>>,
  most: number,
  what: string,
): void {
  const got = Object.fromEntries(Object.keys(weights).map((name) => [name, 0]));
  for (const [i, name] of order.entries()) {
    if (name in got) got[name]! += 1;
    const shares = Object.entries(weights).map(([of, weight]) => got[of]! / weight);
    const apart = Math.max(...shares) - Math.min(...shares);
    const counts = JSON.stringify(got);
    check(apart <= most + 1e-9, `${what}: unfair after ${i + 1} jobs, ${counts} went out`);
  }
}

export const sharing = cases("fairness", {
  "lanes with weights 1, 2 and 5 get their shares at every moment": onQueue(async (scene) => {
    const weights = { a: 1, b: 2, c: 5 };
    for (const [name, weight] of Object.entries(weights)) {
      await backlog(scene, name, weight * 12, { fairnessKey: name, weight });
    }
    const jobs = await takeEach(scene, 80);
    isFair(jobs.map(textOf), weights, 1, "one by one");
  }),

  "the shares hold inside one call too": onQueue(async (scene) => {
    const weights = { a: 1, b: 2, c: 5 };
    for (const [name, weight] of Object.entries(weights)) {
      await backlog(scene, name, weight * 12, { fairnessKey: name, weight });
    }
    isFair((await scene.take(80)).map(textOf), weights, 1, "80 in one call");
  }),

  "a lane with few jobs does not wait for one with many": onQueue(async (scene) => {
    await backlog(scene, "noisy", 200, { fairnessKey: "noisy" });
    await takeEach(scene, 10);
    await scene.add("quiet", { fairnessKey: "quiet" });
    const next = (await takeEach(scene, 2)).map(textOf);
    check(next.includes("quiet"), `the new lane must be served within 2 jobs, got ${next}`);
  }),

  "an ordered lane has one job out at a time, in the order of the adds": async (scene) => {
    await scene.queue({ ordered: true });
    await scene.addAll(["a1", "a2", "a3"], { fairnessKey: "a" });
    await scene.add("b1", { fairnessKey: "b" });
    const first = await scene.take(10);
    equal(first.map(textOf).sort(), ["a1", "b1"], "the first of each lane");
    const ahead = first.find((job) => textOf(job) === "a1")!;
    const waiting = (await scene.broker.jobs("q", { state: "waiting" })).items;
    const why = await scene.broker.why(waiting[0]!.id);
    check("ahead" in why && why.ahead === ahead.id, `why must name the job ahead: ${why.text}`);
    await scene.ack(ahead);
    equal((await scene.take(10)).map(textOf), ["a2"], "the next one");
  },

  "a path is fair between its first levels, and then below them": onQueue(async (scene) => {
    for (const user of ["1", "2", "3"]) {
      await backlog(scene, `acme ${user}`, 20, { fairnessKey: ["acme", user] });
    }
    await backlog(scene, "tiny 1", 40, { fairnessKey: ["tiny", "1"] });
    const order = (await takeEach(scene, 60)).map(textOf);
    const tenants = order.map((name) => name.split(" ")[0]!);
    isFair(tenants, { acme: 1, tiny: 1 }, 1, "between the tenants");
    const users = order.filter((name) => name.startsWith("acme"));
    isFair(users, { "acme 1": 1, "acme 2": 1, "acme 3": 1 }, 1, "between one tenant's users");
  }),

  "a job that costs more counts for more": onQueue(async (scene) => {
    await backlog(scene, "dear", 10, { fairnessKey: "dear", cost: 4 });
    await backlog(scene, "cheap", 60, { fairnessKey: "cheap" });
    const order = (await takeEach(scene, 40)).map(textOf);
    isFair(order, { dear: 0.25, cheap: 1 }, 4, "by cost");
  }),

  "without fairness jobs go out in the order in which they came": async (scene) => {
    await scene.queue({ fairness: false });
    const names = ["a", "a", "a", "b", "a", "c"];
    for (const name of names) await scene.add(name, { fairnessKey: name });
    await scene.expect(names, "the order");
  },

  "a queue may weigh lanes by their key, or by how it begins": async (scene) => {
    await scene.queue({ weights: { gold: 4, "vip-*": 2 } });
    await backlog(scene, "gold", 40, { fairnessKey: "gold" });
    await backlog(scene, "vip", 20, { fairnessKey: "vip-7" });
    await backlog(scene, "other", 10, { fairnessKey: "other" });
    isFair((await takeEach(scene, 60)).map(textOf), { gold: 4, vip: 2, other: 1 }, 1, "by rule");
  },

  "a job that its gate keeps does not hold back the others of its lane": onQueue(async (scene) => {
    await scene.broker.cooldown("shut", scene.steps(50));
    await scene.add("gated", { fairnessKey: "a", gates: ["shut"] });
    await scene.add("free", { fairnessKey: "a" });
    await scene.expect(["free"], "what goes out");
  }),
});

export const laning = cases("lanes", {
  "lanes are listed with what waits and what they have": onQueue(async (scene) => {
    await scene.addAll(["1", "2", "3"], { fairnessKey: "acme", weight: 2, priority: 1 });
    await scene.takeOne();
    const { items } = await scene.broker.lanes("q");
    equal(items.length, 1, "the number of lanes");
    const lane = { key: "acme", tier: 1, weight: 2, waiting: 2, running: 1, received: 1 };
    matches(items[0], lane, "the lane");
  }),

  "lanes can be searched, and come in pages": onQueue(async (scene) => {
    const keys = Array.from({ length: 25 }, (_, i) => `tenant-${i}`);
    for (const fairnessKey of [...keys, "other"]) await scene.add("x", { fairnessKey });
    const lanes = await paged(10, (from) =>
      scene.broker.lanes("q", { search: "tenant-", limit: 10, ...from }),
    );
    equal(each(lanes, "key").sort(), keys.sort(), "the lanes of all pages");
  }),

  "lanes tell the share they are owed and the share they received": onQueue(async (scene) => {
    await backlog(scene, "a", 9, { fairnessKey: "a", weight: 3 });
    await backlog(scene, "b", 9, { fairnessKey: ["b", "c"] });
    await backlog(scene, "b", 9, { fairnessKey: ["b", "d"] });
    await backlog(scene, "idle", 1, { fairnessKey: "idle", priority: 0 });
    await takeEach(scene, 9);
    const { items } = await scene.broker.lanes("q");
    const owed = new Map(items.map(({ key, shareOwed }) => [String(key), shareOwed]));
    equal(owed.get("a"), 0.75, "the share owed to a weight of 3 beside 1");
    equal(owed.get("b,c"), 0.125, "half of the share of its first level");
    equal(owed.get("idle") ?? 0, 0, "the share owed to a lane where nothing waits");
    const received = items.find(({ key }) => key === "a")?.shareReceived ?? 0;
    check(received >= 0.6 && received <= 0.9, `a must have received about 3 of 4, got ${received}`);
  }),

  "lanes can be sorted, the largest first, page by page": onQueue(async (scene) => {
    for (let i = 0; i < 25; i++) await backlog(scene, "x", 1 + (i % 5), { fairnessKey: `t${i}` });
    const lanes = await paged(10, (from) =>
      scene.broker.lanes("q", { sort: "waiting", limit: 10, ...from }),
    );
    const waiting = each(lanes, "waiting");
    const sorted = [...waiting].sort((a, b) => b - a);
    equal(waiting, sorted, "the order over all pages");
    equal([waiting.length, new Set(each(lanes, "key")).size], [25, 25], "each lane once");
    const bad = scene.broker.lanes("q", { sort: "color" as "waiting" });
    await rejects(bad, "INVALID", "an order that there is not");
  }),

  "the weight of a lane can be changed, for what waits and what comes": onQueue(async (scene) => {
    await backlog(scene, "a", 30, { fairnessKey: "a" });
    await backlog(scene, "b", 30, { fairnessKey: "b" });
    await scene.broker.setLaneWeight("q", "a", 3);
    const { items } = await scene.broker.lanes("q", { search: "a" });
    equal(each(items, "weight"), [3], "the weight that is listed");
    isFair((await takeEach(scene, 36)).map(textOf), { a: 3, b: 1 }, 1, "after the change");
  }),

  "a weight that cannot be is refused": onQueue(async (scene) => {
    await rejects(scene.broker.setLaneWeight("q", "a", 0), "INVALID", "a weight of 0");
    const nowhere = scene.broker.setLaneWeight("nowhere", "a", 1);
    await rejects(nowhere, "QUEUE_NOT_FOUND", "a queue that there is not");
  }),
});

export const tiers = cases("tiers", {
  "strict: a more urgent job always goes first": onQueue(async (scene) => {
    await scene.add("idle", { priority: 3 });
    await scene.add("normal", { priority: 1 });
    await scene.add("urgent", { priority: 0 });
    await scene.add("normal too", { priority: 1 });
    await scene.expect(["urgent", "normal", "normal too", "idle"], "the order");
  }),

  "strict: an urgent job that its gate keeps lets the others pass": onQueue(async (scene) => {
    await scene.broker.cooldown("shut", scene.steps(50));
    await scene.add("urgent", { priority: 0, gates: ["shut"] });
    await scene.add("idle", { priority: 3 });
    await scene.expect(["idle"], "what goes out");
  }),

  "weighted: tiers get their shares at every moment": async (scene) => {
    await scene.queue({ tiers: 3, tierOrder: [5, 2, 1] });
    const weights = { "0": 5, "1": 2, "2": 1 };
    for (const [name, weight] of Object.entries(weights)) {
      await backlog(scene, name, weight * 12, { priority: Number(name) });
    }
    isFair((await takeEach(scene, 80)).map(textOf), weights, 1, "by tier");
  },

  "a job that has waited long moves up one tier": async (scene) => {
    await scene.queue({ tiers: 2, promoteAfter: scene.steps(3) });
    const old = await scene.add("old", { priority: 1 });
    await scene.pass(2);
    await scene.add("young", { priority: 1 });
    equal((await scene.broker.job(old)).tier, 1, "its tier before");
    await scene.pass(2);
    equal((await scene.broker.job(old)).tier, 0, "its tier then");
    await scene.add("urgent", { priority: 0 });
    await scene.expect(["old", "urgent", "young"], "the order");
  },
});
