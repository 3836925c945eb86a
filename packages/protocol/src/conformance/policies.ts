import type { JobFields, JobInfo } from "../job.ts";
import type { PolicyOptions } from "../options/policy-options.ts";
import { type ConformanceCase, cases, durableCases } from "./case.ts";
import { equal, matches, names, rejects } from "./check.ts";
import { PROMPT, type Scene } from "./scene.ts";

/** Adds one job to a queue with a policy, and answers what became of it. */
async function told(
  scene: Scene,
  policy: PolicyOptions | undefined,
  options: JobFields = {},
): Promise<JobInfo> {
  if (policy !== undefined) await scene.queue({ policy });
  return scene.broker.job(await scene.add("x", options));
}

const templates = cases("policies", {
  "headers make the fairness key, the gates and the weight of a job": async (scene) => {
    const policy = {
      fairnessKey: "{headers.tenant}",
      gates: ["provider:{headers.provider}", "queue:{queue}"],
      weight: { by: "{headers.plan}", values: { gold: 5, silver: 2 }, default: 1 },
      priority: "{headers.urgency}",
    };
    const headers = { tenant: "acme", provider: "aws", plan: "gold", urgency: "1" };
    const job = await told(scene, policy, { headers });
    const expected = { fairnessKey: "acme", weight: 5, tier: 1 };
    matches(job, { ...expected, gates: ["provider:aws", "queue:q"] }, "the job");
    const plain = await told(scene, undefined, { headers: { tenant: "tiny" } });
    matches(plain, { fairnessKey: "tiny", weight: 1, tier: 3, gates: ["queue:q"] }, "a plain job");
  },

  "a path has a level for each template, and an empty one where a header is missing": async (
    scene,
  ) => {
    const policy = { fairnessKey: ["{headers.tenant}", "{headers.user}"] };
    const job = await told(scene, policy, { headers: { tenant: "acme", user: "7" } });
    equal(job.fairnessKey, ["acme", "7"], "the key");
    const half = await told(scene, undefined, { headers: { tenant: "acme" } });
    equal(half.fairnessKey, ["acme", ""], "the key without a user");
    equal((await told(scene, undefined)).fairnessKey, "", "the key without any header");
  },

  "what a template has no value for falls away, or is what it says instead": async (scene) => {
    const policy = {
      fairnessKey: "{headers.region|eu}-{headers.tenant|none}",
      gates: ["a:{headers.a}", "b:{headers.b|x}"],
      weight: "{headers.weight}",
    };
    const job = await told(scene, policy, { headers: { region: "", weight: "many" } });
    matches(job, { fairnessKey: "eu-none", gates: ["b:x"], weight: 1 }, "the job");
    const named = await told(scene, undefined, { headers: { tenant: "acme", weight: "3" } });
    matches(named, { fairnessKey: "eu-acme", weight: 3 }, "a job with headers");
  },

  "what no gate may be called is made a name, and what is too long is cut": async (scene) => {
    const policy = { fairnessKey: "{headers.t}", gates: ["p:{headers.p}"] };
    const headers = { t: "é".repeat(600), p: `a/b c${"x".repeat(300)}` };
    const job = await told(scene, policy, { headers });
    equal(job.gates, [`p:a_b_c${"x".repeat(248)}`], "the gate");
    equal(job.fairnessKey, "é".repeat(512), "the key");
  },

  "a header that every object has is a header like any other": async (scene) => {
    const policy = {
      fairnessKey: "{headers.constructor}",
      weight: { by: "{headers.plan}", values: { gold: 2 }, default: 3 },
    };
    const job = await told(scene, policy, { headers: { plan: "toString" } });
    matches(job, { fairnessKey: "", weight: 3 }, "a job without the header");
    const named = await told(scene, undefined, { headers: { constructor: "acme" } });
    equal(named.fairnessKey, "acme", "the key");
  },

  "what the producer says stays": async (scene) => {
    const policy = { fairnessKey: "policy", weight: 9, gates: ["policy"], priority: 0, cost: 4 };
    const own = { fairnessKey: "own", weight: 2, gates: [], priority: 2, cost: 3 };
    const job = await told(scene, policy, own);
    matches(job, { fairnessKey: "own", weight: 2, gates: [], tier: 2, cost: 3 }, "the job");
  },

  "a policy can delay jobs, let them expire, and count their attempts": async (scene) => {
    const policy = { delay: scene.steps(3), attempts: "{headers.tries}" };
    await scene.queue({ policy, retry: PROMPT });
    const job = await scene.broker.job(await scene.add("late", { headers: { tries: "2" } }));
    matches(job, { state: "delayed", attempts: 2 }, "the job");
    scene.near(job.at, scene.now() + scene.steps(3), "when it is due");
    const now = await scene.broker.job(await scene.add("now", { runAt: scene.now() }));
    equal([now.state, now.attempts], ["waiting", 5], "one whose producer named the time");
  },

  "a tier that the queue does not have is not one": async (scene) => {
    await scene.queue({ tiers: ["fast", "slow"], policy: { priority: "{headers.speed}" } });
    const tierOf = async (speed: string): Promise<number> =>
      (await told(scene, undefined, { headers: { speed } })).tier;
    const tiers = [await tierOf("fast"), await tierOf("0"), await tierOf("7"), await tierOf("no")];
    equal(tiers, [0, 0, 1, 1], "the tiers");
  },

  "a policy is shown, replaced as a whole, kept by other changes and taken away": async (scene) => {
    const policy: PolicyOptions = { fairnessKey: "{headers.a}", weight: 2 };
    equal((await scene.queue({ policy })).config.policy, policy, "the policy");
    equal((await scene.queue({ lease: 500 })).config.policy, policy, "after another change");
    const next = { gates: ["g"] };
    equal((await scene.queue({ policy: next })).config.policy, next, "the next one");
    matches(await told(scene, undefined, { headers: { a: "x" } }), { weight: 1 }, "a job");
    equal((await scene.queue({ policy: null })).config.policy, null, "none");
    equal((await told(scene, undefined)).gates, [], "the gates of a job without a policy");
  },
});

const BAD: readonly (readonly [string, unknown, string])[] = [
  ["that is no object", "tenant", "policy"],
  ["with a field that there is not", { lane: "x" }, "lane"],
  ["with a brace that is not closed", { fairnessKey: "{headers.tenant" }, "fairnessKey"],
  ["with a place that there is not", { fairnessKey: "{payload.tenant}" }, "fairnessKey"],
  ["with five levels", { fairnessKey: ["a", "b", "c", "d", "e"] }, "fairnessKey"],
  ["with gates that are no list", { gates: "smtp" }, "gates"],
  ["with 17 gates", { gates: Array.from({ length: 17 }, (_, i) => `g${i}`) }, "gates"],
  ["with a weight of 0", { weight: 0 }, "weight"],
  ["with a choice of nothing", { weight: { by: "{headers.plan}" } }, "weight"],
  ["with a choice of what cannot be", { cost: { by: "{queue}", values: { q: 0 } } }, "cost"],
  ["with a template of 1,025 characters", { fairnessKey: "x".repeat(1025) }, "fairnessKey"],
];

const refusals = cases(
  "policies",
  Object.fromEntries(
    BAD.map(([what, policy, field]) => [
      `a policy ${what} is refused, and the refusal names the field`,
      async (scene) => {
        const call = scene.queue({ policy: policy as PolicyOptions });
        names(await rejects(call, "INVALID", what), field, what);
      },
    ]),
  ),
);

export const policies: readonly ConformanceCase[] = [...templates, ...refusals];

export const policiesSurvive = durableCases("policies", {
  "a policy is there again": async (scene) => {
    const policy = { fairnessKey: "{headers.tenant}", gates: ["p:{headers.p}"] };
    await scene.queue({ policy });
    await scene.reopen();
    equal((await scene.broker.queue("q")).config.policy, policy, "the policy");
    const job = await told(scene, undefined, { headers: { tenant: "acme", p: "aws" } });
    matches(job, { fairnessKey: "acme", gates: ["p:aws"] }, "the job");
  },
});
