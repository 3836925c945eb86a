import type { GatePart } from "../job.ts";
import type { GateOptions } from "../options/gate-options.ts";
import type { Why } from "../why.ts";
import { type ConformanceCase, cases, onQueue } from "./case.ts";
import { check, equal, matches } from "./check.ts";
import type { Scene } from "./scene.ts";

async function why(scene: Scene, id: string): Promise<Why> {
  const answer = await scene.broker.why(id);
  check(answer.text !== "", "why must answer in words too");
  return answer;
}

const states = cases("why", {
  "a job that no worker takes says so, and its place": onQueue(async (scene) => {
    const [, id] = await scene.addAll(["a", "b"]);
    const answer = { state: "waiting", reason: "no-worker", place: 1, workers: 0 };
    matches(await why(scene, id!), answer, "the second of two jobs");
    await scene.takeOne();
    const busy = { reason: "no-worker", place: 0, workers: 1, running: 1 };
    matches(await why(scene, id!), busy, "the second while the first runs");
  }),

  "a job whose attempt failed says which one is next, and the error": async (scene) => {
    await scene.queue({ retry: { attempts: 3, min: scene.steps(50), jitter: 0 } });
    const id = await scene.add("x");
    const { lease } = await scene.takeOne();
    await scene.broker.nack([{ lease, error: "boom" }]);
    const answer = { state: "delayed", cause: "failed", attempt: 1, attempts: 3, error: "boom" };
    matches(await why(scene, id), answer, "the job");
  },

  "a dead letter says where it failed, and of what": onQueue(async (scene) => {
    const id = await scene.bury("x");
    const answer = await why(scene, id);
    matches(answer, { state: "dead", queue: "q.dlq" }, "the letter");
    const dead = "dead" in answer ? answer.dead : undefined;
    equal([dead?.origin, dead?.error], ["q", "boom"], "where it came from, and its error");
  }),

  "a job of a paused queue says so": async (scene) => {
    await scene.queue({ paused: true });
    const id = await scene.add("x");
    matches(await why(scene, id), { state: "waiting", reason: "paused" }, "the job");
  },

  "a delayed job says until when": onQueue(async (scene) => {
    const until = scene.now() + scene.steps(5);
    const answer = await why(scene, await scene.add("x", { delayMs: scene.steps(5) }));
    check(answer.state === "delayed", `the job is delayed, but why says ${answer.state}`);
    scene.near(answer.until, until, "until when");
  }),

  "a running job says who has it and until when": onQueue(async (scene) => {
    const id = await scene.add("x");
    const { expiresAt } = await scene.takeOne("q", { worker: "bob" });
    const answer = await why(scene, id);
    matches(answer, { state: "running", worker: "bob", until: expiresAt }, "the job");
  }),

  "an ended job says how it ended": async (scene) => {
    await scene.queue({ dlq: false });
    const finished = await scene.add("x");
    await scene.ack(await scene.takeOne());
    const failed = await scene.bury("y");
    const good = { state: "finished" };
    matches(await why(scene, finished), good, "the finished job");
    const bad = { state: "failed", error: "boom" };
    matches(await why(scene, failed), bad, "the failed job");
  },
});

/** A gate that one job has used up, and for how many steps; undefined: until that job ends. */
type UsedUp = readonly [GatePart, (scene: Scene) => GateOptions, number | undefined];

const USED_UP: readonly UsedUp[] = [
  ["rate", (scene) => ({ rate: scene.oneEvery(50), burst: 1 }), 50],
  ["window", (scene) => ({ windows: [{ limit: 1, per: scene.steps(50) }] }), 50],
  ["interval", (scene) => ({ interval: { every: scene.steps(50), from: "start" } }), 50],
  ["concurrency", () => ({ concurrency: 1 }), undefined],
];

const parts = cases(
  "why",
  Object.fromEntries(
    USED_UP.map(([part, config, steps]) => [
      `a job names the gate that keeps it, the part and until when: ${part}`,
      onQueue(async (scene) => {
        await scene.broker.setGate("gate", config(scene));
        const [, id] = await scene.addAll(["a", "b"], { gates: ["gate"] });
        await scene.takeOne();
        const opensAt = scene.now() + scene.steps(steps ?? 0);
        const answer = await why(scene, id!);
        matches(answer, { state: "waiting", reason: "gated", gate: "gate", part }, "the job");
        const until = "until" in answer ? answer.until : undefined;
        if (steps !== undefined) return scene.near(until, opensAt, "until when");
        equal(until, undefined, "until when");
      }),
    ]),
  ),
);

const cooled = cases("why", {
  "a job names the gate that keeps it, the part and until when: cooldown": onQueue(
    async (scene) => {
      await scene.broker.cooldown("gate", scene.steps(9), "429");
      const until = scene.now() + scene.steps(9);
      const answer = await why(scene, await scene.add("x", { gates: ["free", "gate"] }));
      check(answer.state === "waiting" && answer.reason === "gated", "the job is gated");
      equal([answer.gate, answer.part], ["gate", "cooldown"], "the gate and its part");
      equal(answer.cooldownReason, "429", "the reason of the cooldown");
      scene.near(answer.until, until, "until when");
    },
  ),

  "a job names the gate that its configuration shuts for good": onQueue(async (scene) => {
    await scene.broker.setGate("shut:*", { rate: 0 });
    const answer = await why(scene, await scene.add("x", { gates: ["free", "shut:1"] }));
    check(answer.state === "waiting" && answer.reason === "gated", "the job is gated");
    equal([answer.gate, answer.shutBy], ["shut:1", "shut:*"], "the gate and what shuts it");
    equal(answer.until, undefined, "until when");
  }),
});

export const explaining: readonly ConformanceCase[] = [...states, ...parts, ...cooled];
