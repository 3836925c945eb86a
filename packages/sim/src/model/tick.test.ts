// What enters a strand in one tick has an order only where the rules give one.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobView } from "@sluice/engine";
import { queueConfig } from "@sluice/engine/testing";
import { enlist, newJob } from "./add.ts";
import { adoptFollowUps } from "./follow-up.ts";
import { Model } from "./model.ts";
import { tick } from "./tick.ts";

const FOLLOWER = 3;

test("a follow-up made in one tick with other things that enter has no order beside them", () => {
  const view = (id: number) => ({ body: id === FOLLOWER ? "next" : undefined }) as JobView;
  const unasked = () => assert.fail("not asked for");
  const model = new Model(
    { job: view, queueConfig: unasked, gateStats: unasked },
    { isExact: false },
  );
  const queue = model.makeQueue("q", queueConfig("q", { dlq: false, retry: { attempts: 1 } }));
  for (const id of [1, 2]) enlist(model, queue, { ...newJob(model, queue, { priority: 0 }), id });
  const [leased, delayed] = [model.jobs.get(1)!, model.jobs.get(2)!];
  model.wait(leased);
  model.lease(leased, "w", 100);
  leased.followUp = { spec: { body: "next", priority: 0 } };
  model.delay(delayed, 200);
  model.moveTo(300);
  tick(model);
  const [follower] = adoptFollowUps(model);
  assert.equal(follower?.id, FOLLOWER);
  assert.equal(follower?.age, delayed.age);
});
