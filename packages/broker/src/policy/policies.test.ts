import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine } from "@sluice/engine";
import { letterQueueConfig } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { Policies } from "./policies.ts";

const LUA = "function on_enqueue() end";

function make(): Policies {
  return new Policies(new Engine({ letterQueue: letterQueueConfig }), turningClock(5), assert.fail);
}

test("threads are started for scripts alone, and end with the broker", async () => {
  const policies = make();
  await policies.check("q", { fairnessKey: "{headers.tenant}" });
  assert.equal(policies.threads, 0);
  await policies.check("q", { lua: LUA });
  assert.equal(policies.threads, 2, "one for trial runs, one for jobs");
  await policies.close();
  assert.equal(policies.threads, 0);
});

test("trial runs wait for their turn: one thread is enough for them", async () => {
  const policies = make();
  await Promise.all(Array.from({ length: 8 }, () => policies.check("q", { lua: LUA })));
  assert.equal(policies.threads, 2);
  await policies.close();
});

test("checks that wait for a thread fail with CLOSED when the broker closes", async () => {
  const policies = make();
  const checks = Array.from({ length: 4 }, () => policies.check("q", { lua: LUA }));
  const refused = Promise.allSettled(checks);
  await policies.close();
  for (const settled of await refused) {
    assert.equal(settled.status === "rejected" && settled.reason.code, "CLOSED");
  }
  await assert.rejects(policies.check("q", { lua: LUA }), { code: "CLOSED" });
});

test("a policy is copied, and bounded in all", async () => {
  const policies = make();
  const values = { a: 1 };
  const weight = { by: "{queue}", values };
  const checked = await policies.check("q", { weight });
  values.a = 2;
  assert.deepEqual(checked, { weight: { by: "{queue}", values: { a: 1 } } });
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`.padStart(995), 1]));
  await policies.check("q", { weight: { by: "{queue}", values: keys(200) } });
  const large = { weight: { by: "{queue}", values: keys(300) } };
  await assert.rejects(policies.check("q", large), { code: "INVALID" });
  const many = { weight: { by: "{queue}", values: Object.fromEntries(entries(1001)) } };
  await assert.rejects(policies.check("q", many), { code: "INVALID" });
  await policies.check("q", {
    weight: { by: "{queue}", values: Object.fromEntries(entries(1000)) },
  });
});

function entries(count: number): [string, number][] {
  return Array.from({ length: count }, (_, i) => [`k${i}`, 1]);
}
