// The order inside a flow must be held to where the rules give one, and nowhere else.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease } from "@sluice/engine";
import { enlist, newJob } from "./add.ts";
import { judge } from "./judge.ts";
import { type Eyes, Model } from "./model.ts";
import { policyOf } from "./policy.ts";
import { tick } from "./tick.ts";

const blind: Eyes = {
  job: () => undefined,
  queueConfig: () => assert.fail("not asked for"),
  gateStats: () => assert.fail("not asked for"),
};

// Tier 1 is promoted after 100 ms.
function open(): Model {
  const model = new Model(blind, { isExact: false });
  model.makeQueue("q", policyOf("q", { tiers: 2, promoteAfterMs: 100 }));
  return model;
}

function wait(model: Model, id: number, spec: Parameters<typeof newJob>[2]): void {
  const queue = model.queues.get("q")!;
  enlist(model, queue, { ...newJob(model, queue, { priority: 0, ...spec }), id });
  model.wait(model.jobs.get(id)!);
}

function handOut(model: Model, id: number): void {
  const { tier, body, lease, attempt } = model.jobs.get(id)!;
  const expiresAt = model.now + 30_000;
  const answer = { id, queue: "q", worker: "", lease: lease + 1, attempt, tier, body, expiresAt };
  judge(model, answer as Lease, model.queues.get("q")!);
}

test("jobs that are promoted in one moment keep their order", () => {
  const model = open();
  wait(model, 2, { priority: 1 });
  wait(model, 1, { priority: 1 });
  model.moveTo(100);
  tick(model);
  assert.throws(() => handOut(model, 1), { rule: "c: FIFO inside a flow" });
  handOut(model, 2);
  handOut(model, 1);
});
