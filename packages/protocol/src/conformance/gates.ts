import type { LeasedJob } from "../job.ts";
import type { GateOptions } from "../options/gate-options.ts";
import { type ConformanceCase, cases, onQueue } from "./case.ts";
import { check, equal, names, rejects, textOf } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** A queue with jobs behind one gate. */
async function behind(scene: Scene, config: GateOptions, payloads: readonly string[]) {
  await scene.queue({ retry: PROMPT });
  await scene.broker.setGate("gate", config);
  return scene.addAll(payloads, { gates: ["gate"] });
}

export const parts = cases("gates: parts", {
  "a gate without limits is open": onQueue(async (scene) => {
    await scene.addAll(["a", "b"], { gates: ["nobody:knows"] });
    await scene.expect(["a", "b"], "what goes out");
  }),

  "rate: the burst goes out, and then one for each token": async (scene) => {
    await behind(scene, { rate: scene.oneEvery(4), burst: 2 }, ["a", "b", "c", "d"]);
    await scene.expect(["a", "b"], "the burst");
    await scene.expectAfter(4, ["c"], "what goes out with the next token");
  },

  "rate: a job takes as many tokens as it costs": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { rate: scene.oneEvery(100), burst: 5 });
    await scene.add("x", { gates: ["gate"], cost: 3 });
    await scene.takeOne();
    const { tokens } = await scene.broker.gate("gate");
    check(tokens !== undefined && tokens >= 2 && tokens < 2.5, `2 of 5 tokens left, not ${tokens}`);
  }),

  "rate: 0 shuts the gate until it is changed": async (scene) => {
    await behind(scene, { rate: 0 }, ["a"]);
    await scene.pass(20);
    await scene.expect([], "what goes out at a rate of 0");
    equal((await scene.broker.gate("gate")).opensAt, undefined, "when it opens");
    await scene.broker.setGate("gate", { rate: 1000 });
    await scene.pass(1);
    await scene.expect(["a"], "what goes out at another rate");
  },

  "interval from the start: jobs go out apart, whether they have ended or not": async (scene) => {
    await behind(scene, { interval: { every: scene.steps(4), from: "start" } }, ["a", "b"]);
    await scene.expect(["a"], "the first");
    await scene.expectAfter(4, ["b"], "what goes out after the interval");
  },

  "interval from the end: one at a time, and a pause after each": async (scene) => {
    await behind(scene, { interval: { every: scene.steps(4) } }, ["a", "b"]);
    const [a] = await scene.expect(["a"], "the first");
    await scene.pass(6);
    await scene.expect([], "what goes out while the first runs");
    await scene.ack(a!);
    await scene.expectAfter(4, ["b"], "what goes out after the pause");
  },

  "interval: each tier has its factor, and none goes below the floor": async (scene) => {
    await scene.queue({ tiers: 3 });
    const interval = { every: scene.steps(10), from: "start", floor: scene.steps(2) } as const;
    await scene.broker.setGate("gate", { interval: { ...interval, factors: [0, 0.5, 1] } });
    const gates = ["gate"];
    await scene.add("first", { gates });
    await scene.takeOne();
    await scene.add("normal", { gates, priority: 1 });
    await scene.add("urgent", { gates, priority: 0 });
    await scene.expectAfter(2, ["urgent"], "what goes out after the floor");
    await scene.expectAfter(5, ["normal"], "what goes out after half the interval");
  },

  "windows: no more than the limit in any window, each of them": async (scene) => {
    const windows = [
      { limit: 2, per: scene.steps(4) },
      { limit: 3, per: scene.steps(20) },
    ];
    await behind(scene, { windows }, ["a", "b", "c", "d"]);
    await scene.expect(["a", "b"], "what the short window lets out");
    await scene.expectAfter(4, ["c"], "what the long window lets out");
    await scene.pass(10);
    await scene.expect([], "what goes out before the long one has passed");
    const used = (await scene.broker.gate("gate")).windows.map((window) => window.used);
    equal(used, [0, 3], "what is used of the windows");
    await scene.pass(6);
    await scene.expect(["d"], "what goes out after it");
  },

  "concurrency: no more run at once": async (scene) => {
    await behind(scene, { concurrency: 2 }, ["a", "b", "c"]);
    await scene.expect(["a", "b"], "what goes out");
    const { inFlight, waitingLanes, line } = await scene.broker.gate("gate");
    equal([inFlight, waitingLanes], [2, 1], "leases and waiting lanes of the gate");
    equal(line, [{ queue: "q", tier: 3, lanes: 1 }], "who stands in line");
  },

  "several gates: a job goes out when all are open, and takes nothing before": onQueue(
    async (scene) => {
      await scene.broker.setGate("bucket", { rate: scene.oneEvery(100), burst: 2 });
      await scene.broker.cooldown("shut", scene.steps(4));
      await scene.add("x", { gates: ["bucket", "shut"] });
      await scene.pass(3);
      await scene.expect([], "what goes out while one is shut");
      equal((await scene.broker.gate("bucket")).tokens, 2, "the tokens of the open one");
      await scene.pass(2);
      await scene.expect(["x"], "what goes out when both are open");
      const { tokens = 2 } = await scene.broker.gate("bucket");
      check(tokens < 1.5, `the job must take a token, ${tokens} are left`);
    },
  ),

  "a gate is shared by all queues": async (scene) => {
    await behind(scene, { concurrency: 1 }, ["a"]);
    await scene.queue({}, "other");
    await scene.add("b", { gates: ["gate"] }, "other");
    const a = await scene.takeOne();
    await scene.expect([], "what the other queue may send", "other");
    await scene.ack(a);
    await scene.expect(["b"], "what it may send then", "other");
  },

  "lanes that wait for one gate take turns": onQueue(async (scene) => {
    await scene.broker.setGate("gate", { concurrency: 1 });
    const lanes = ["a", "b", "c"];
    for (const fairnessKey of lanes) {
      const payloads = Array.from({ length: 6 }, () => fairnessKey);
      await scene.addAll(payloads, { fairnessKey, gates: ["gate"] });
    }
    const got: string[] = [];
    for (let i = 0; i < 15; i++) {
      const job = await scene.takeOne();
      got.push(textOf(job));
      await scene.ack(job);
      const counts = lanes.map((lane) => got.filter((name) => name === lane).length);
      const apart = Math.max(...counts) - Math.min(...counts);
      check(apart <= 1, `lanes at one gate must be 1 apart at most, the order was ${got}`);
    }
  }),

  "being kept by a gate costs a job nothing": async (scene) => {
    await behind(scene, {}, ["a"]);
    await scene.broker.cooldown("gate", scene.steps(3));
    await scene.expect([], "what goes out during the cooldown");
    await scene.pass(4);
    equal((await scene.takeOne()).attempt, 0, "the attempt of the job");
  },
});

/** Every way in which a lease ends. */
const ENDS: Readonly<Record<string, (scene: Scene, job: LeasedJob) => Promise<unknown>>> = {
  "an ack": (scene, job) => scene.ack(job),
  "a nack": (scene, job) => scene.nack(job, { delayMs: scene.steps(50) }),
  "a give back": (scene, job) => scene.broker.giveBack([job.lease]),
  "a cancel": (scene, job) => scene.broker.cancel([job.id]),
  "the end of the lease": (scene) => scene.pass(4),
};

export const releases: readonly ConformanceCase[] = cases(
  "gates: concurrency",
  Object.fromEntries(
    Object.entries(ENDS).map(([what, end]) => [
      `a place is released by ${what}`,
      async (scene) => {
        await scene.queue({ lease: scene.steps(3), retry: PROMPT });
        await scene.broker.setGate("gate", { concurrency: 1 });
        await scene.addAll(["a", "b"], { gates: ["gate"] });
        const job = await scene.takeOne();
        await scene.expect([], "what goes out while the place is taken");
        await end(scene, job);
        equal((await scene.broker.gate("gate")).inFlight, 0, "the leases of the gate");
        await scene.takeOne();
        equal((await scene.broker.gate("gate")).inFlight, 1, "its leases after the next");
      },
    ]),
  ),
);

const BAD: readonly (readonly [string, GateOptions, string])[] = [
  ["a rate below 0", { rate: -1 }, "rate"],
  ["a burst below 1", { rate: 1, burst: 0 }, "burst"],
  ["a burst without a rate", { burst: 2 }, "burst"],
  ["an interval without a unit", { interval: { every: "5" as "5s" } }, "interval"],
  ["a window that lets nothing pass", { windows: [{ limit: 0, per: 1 }] }, "windows"],
  ["a concurrency of 0", { concurrency: 0 }, "concurrency"],
  ["a rung of 0 ms", { ladder: [0] }, "ladder"],
  ["a part that there is not", { colour: "red" } as never, "colour"],
];

export const refusals: readonly ConformanceCase[] = cases(
  "gates: limits",
  Object.fromEntries(
    BAD.map(([what, config, field]) => [
      `a gate with ${what} is refused, and the refusal names the field`,
      async (scene) => {
        const error = await rejects(scene.broker.setGate("gate", config), "INVALID", what);
        names(error, field, what);
        equal((await scene.broker.gate("gate")).config, undefined, "the limits of the gate");
      },
    ]),
  ),
);
