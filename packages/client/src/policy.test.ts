import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPolicy, parsePolicy } from "./policy.ts";

interface Mail {
  tenant: string;
}

const { functions: policy = {} } = parsePolicy({
  fairnessKey: (payload: Mail) => payload.tenant,
  gates: (_: Mail, headers: Record<string, string>) => [`provider:${headers.provider ?? "none"}`],
  delay: () => "5s",
  ttl: () => 1_000,
  weight: () => undefined,
});

test("a policy fills in what the producer does not say", () => {
  assert.deepEqual(applyPolicy(policy, { tenant: "acme" }, { headers: { provider: "aws" } }), {
    headers: { provider: "aws" },
    fairnessKey: "acme",
    gates: ["provider:aws"],
    delay: "5s",
    ttl: 1_000,
    weight: undefined,
  });
});

test("what the producer says stays", () => {
  const options = applyPolicy(policy, { tenant: "acme" }, { fairnessKey: "own", gates: [] });
  assert.equal(options.fairnessKey, "own");
  assert.deepEqual(options.gates, []);
});

test("a producer's point in time replaces the policy's duration", () => {
  const options = applyPolicy(policy, { tenant: "acme" }, { runAt: 5, deadline: 9 });
  assert.equal(options.delay, undefined);
  assert.equal(options.ttl, undefined);
});

test("the headers are there even if the job has none", () => {
  assert.deepEqual(applyPolicy(policy, { tenant: "acme" }, {}).gates, ["provider:none"]);
});

test("a policy that throws refuses the job by the name of the rule", () => {
  assert.throws(() => applyPolicy(policy, undefined, {}), {
    code: "INVALID",
    message: /^queue\.policy\.fairnessKey failed: /,
  });
});
