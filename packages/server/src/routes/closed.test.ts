import assert from "node:assert/strict";
import { test } from "node:test";
import { payload, start } from "../testing/start.ts";

const body = { foo: 1 };

test("a route without fields refuses a body that has some, and changes nothing", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  await broker.setGate("g", { concurrency: 1 });
  const [added] = await broker.add("q", [{ payload }]);
  const routes = [
    ...["POST /v1/queues/q/purge", "POST /v1/queues/q/pause", "POST /v1/queues/q/resume"],
    ...[
      `POST /v1/jobs/${added!.ok!.id}/retry`,
      "DELETE /v1/gates/g/cooldown",
      "DELETE /v1/queues/q",
    ],
  ] as const;
  for (const route of routes) {
    const { status, body: answer } = await call(route, { body });
    assert.deepEqual([status, answer.error.details.field], [400, "body.foo"], route);
  }
  assert.equal((await broker.queue("q")).stats.waiting, 1);
  for (const route of ["POST /v1/queues/q/pause", "POST /v1/queues/q/purge"]) {
    assert.equal((await call(route)).status, 204, `${route} without a body`);
    assert.equal((await call(route, { body: {} })).status, 204, `${route} with an empty one`);
  }
});

test("a query that a route does not have is refused", async (t) => {
  const { broker, call } = await start(t, { queues: ["q"] });
  const routes = [
    ...["PUT /v1/queues/new?foo=1", "POST /v1/queues/q/lease?foo=1", "GET /v1/queues/q?foo=1"],
    ...["POST /v1/queues/q/purge?foo=1", "GET /v1/session?foo=1"],
  ];
  for (const route of routes) {
    const given = /^(PUT|POST.*lease)/.test(route) ? { body: {} } : {};
    const { status, body: answer } = await call(route, given);
    assert.deepEqual([status, answer.error.details.field], [400, "querystring.foo"], route);
  }
  await assert.rejects(broker.queue("new"), { code: "QUEUE_NOT_FOUND" });
  for (const probe of ["GET /healthz?at=1", "GET /metrics?at=1"]) {
    assert.equal((await call(probe)).status, 200, probe);
  }
});
