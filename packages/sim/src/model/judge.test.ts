// The order inside a strand must be held to where the rules give one, and nowhere else.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Lease } from "@sluice/engine";
import { queueConfig } from "@sluice/engine/testing";
import type { Broken } from "../demand.ts";
import { enlist, newJob } from "./add.ts";
import { judge } from "./judge.ts";
import { type Eyes, Model } from "./model.ts";
import { tick } from "./tick.ts";

const blind: Eyes = {
  job: () => undefined,
  queueConfig: () => assert.fail("not asked for"),
  gateStats: () => assert.fail("not asked for"),
};

// Tier 1 is promoted after 100 ms; the gate has 2 tokens and gets no more for long.
function open(): Model {
  const model = new Model(blind, { isExact: false });
  model.makeQueue("q", queueConfig("q", { tiers: 2, promoteAfterMs: 100 }));
  model.gates.set("gate", { rate: 0.001, burst: 2 }, 0);
  return model;
}

function wait(model: Model, id: number, spec: Parameters<typeof newJob>[2], age?: number): void {
  const queue = model.queues.get("q")!;
  enlist(model, queue, { ...newJob(model, queue, { priority: 0, ...spec }), id });
  model.wait(model.jobs.get(id)!, age);
}

function handOut(model: Model, id: number): void {
  const { tier, body, lease, attempt } = model.jobs.get(id)!;
  const expiresAt = model.now + 30_000;
  const answer = { id, queue: "q", worker: "w", lease: lease + 1, attempt, tier, body, expiresAt };
  model.queues.get("q")!.workers.set("w", 1);
  judge(model, answer as Lease);
}

test("jobs that are promoted in one moment keep their order", () => {
  const model = open();
  wait(model, 2, { priority: 1 });
  wait(model, 1, { priority: 1 });
  model.moveTo(100);
  tick(model);
  assert.throws(() => handOut(model, 1), { rule: "c: FIFO inside a strand" });
  handOut(model, 2);
  handOut(model, 1);
});

test("a strand whose head may be one that lacks tokens is passed by others of its lane", () => {
  for (const ids of [
    [1, 2],
    [2, 1],
  ]) {
    const model = open();
    wait(model, 3, { gates: ["gate"] });
    handOut(model, 3);
    const age = model.nextAge();
    for (const id of ids) wait(model, id, { gates: ["gate"], cost: id }, age);
    wait(model, 4, {});
    handOut(model, 4);
  }
});

test("a strand of which every job that may be its head passes goes before younger ones", () => {
  const model = open();
  const age = model.nextAge();
  for (const id of [1, 2]) wait(model, id, { gates: ["gate"], cost: id }, age);
  wait(model, 3, {});
  wait(model, 4, { priority: 1 });
  assert.throws(() => handOut(model, 3), { rule: "d: the oldest head of a lane goes first" });
  assert.throws(() => handOut(model, 4), { rule: "e: strict tiers" });
  handOut(model, 2);
});

test("a lower tier takes from a gate only where a more urgent head may be one that passes", () => {
  const model = open();
  wait(model, 1, { gates: ["gate"] });
  handOut(model, 1);
  const age = model.nextAge();
  for (const id of [2, 3]) wait(model, id, { gates: ["gate"], cost: 2 }, age);
  wait(model, 4, { gates: ["gate"], priority: 1 });
  const rule = "e: tiers are strict behind a gate";
  assert.throws(() => handOut(model, 4), { rule });
  wait(model, 5, { gates: ["gate"] }, age);
  handOut(model, 4);
});

test("beside a claim a lower tier takes only what would be back in time for it", () => {
  const accused = (gates: string[], cost: number): boolean => {
    const model = open();
    model.gates.set("window", { windows: [{ limit: 3, perMs: 100 }] }, 0);
    wait(model, 1, { gates: ["window"], cost: 2 });
    handOut(model, 1);
    model.moveTo(50);
    wait(model, 2, { gates, cost });
    wait(model, 3, { gates: ["window"], priority: 1 });
    try {
      handOut(model, 3);
      return false;
    } catch (error) {
      assert.equal((error as Broken).rule, "e: tiers are strict behind a gate");
      return true;
    }
  };
  assert.equal(accused(["window", "open"], 2), false);
  assert.equal(accused(["window", "open"], 3), true);
  assert.equal(accused(["window"], 2), true, "with one gate there is no claim");
});
