import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "@sluice/server/testing/start";
import { addAll, job, take } from "../testing/jobs.ts";
import { spawnServe } from "../testing/spawn-serve.ts";

const POLICY = `
  function on_enqueue(msg)
    return {
      fairness_key = msg.headers.tenant .. ":" .. msg.queue,
      weight = msg.headers.tenant == "wrong" and "heavy" or 3,
      gates = { "size:" .. msg.payload_size },
      throttle_keys = { "tenant:" .. msg.headers.tenant },
      priority = tonumber(sluice.get("priority")),
    }
  end
  function on_failure(msg)
    if msg.error == "hopeless" then return { action = "dlq" } end
    return { action = "retry", delay_ms = msg.attempts }
  end`;

const ATTACKS = {
  loop: "while true do end",
  memory: 'local t = {} while true do t[#t + 1] = ("x"):rep(1e6) end',
  pattern: 'return { weight = #(("a"):rep(1e5):match(("a-"):rep(50) .. "b") or "") }',
  prototype: 'msg.headers.__proto__ = { polluted = "yes" } return msg.headers.__proto__.x.y',
};

test("a script sets each field of a job, and decides what failures become", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  assert.equal(
    (await call(server.address, "PUT /v1/config/priority", { body: { value: "1" } })).status,
    204,
  );
  await broker.setQueue("q", { policy: { lua: POLICY } });
  const tenants = ["acme", "wrong"];
  const ids = await addAll(
    broker,
    "q",
    tenants.map((tenant) => job("four", { headers: { tenant } })),
  );
  const [acme, wrong] = await Promise.all(ids.map((id) => broker.job(id)));
  assert.equal(acme!.fairnessKey, "acme:q");
  assert.deepEqual([...acme!.gates].sort(), ["size:4", "tenant:acme"]);
  assert.deepEqual([acme!.weight, acme!.tier], [3, 1]);
  assert.deepEqual([wrong!.weight, wrong!.tier, wrong!.fairnessKey], [1, 1, "wrong:q"]);

  const held = await take(broker, "q", 2);
  await broker.nack(held.map(({ lease }, i) => ({ lease, error: ["later", "hopeless"][i] })));
  const [again] = await take(broker, "q", 1);
  assert.deepEqual([again!.id, again!.attempt], [held[0]!.id, 1]);
  assert.equal((await broker.jobs("q.dlq")).items[0]!.error, "hopeless");

  const broken = { policy: { lua: "function on_enqueue(" } };
  const refused = await call(server.address, "PUT /v1/queues/broken", { body: broken });
  assert.equal(refused.body.error.code, "INVALID");
  await assert.rejects(broker.queue("broken"), { code: "QUEUE_NOT_FOUND" });
});

test("a hostile script does no harm: its jobs continue, and the server answers", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  const failures = new Set<string>();
  const failed = Promise.withResolvers<void>();
  const events = broker.events({ events: ["policy-failed"] });
  void (async () => {
    for await (const event of events) {
      if ("queue" in event) failures.add(event.queue);
      if (failures.size === Object.keys(ATTACKS).length) failed.resolve();
    }
  })();
  for (const [name, body] of Object.entries(ATTACKS)) {
    const lua = `function on_enqueue(msg) ${body} end`;
    await broker.setQueue(name, { policy: { lua, fairnessKey: "{headers.tenant}" } });
    // More than the breaker allows to fail.
    for (let i = 0; i < 5; i++) {
      const [id] = await addAll(broker, name, [job("x", { headers: { tenant: "acme" } })]);
      assert.equal((await broker.job(id!)).fairnessKey, "acme", `${name}: the default holds`);
    }
    assert.equal((await take(broker, name, 5)).length, 5);
  }
  await failed.promise;
  const health = await call(server.address, "GET /readyz");
  assert.equal(health.status, 200);
  assert.equal(health.body.polluted, undefined);
});
