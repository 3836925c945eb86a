import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryBroker, payload, start } from "../testing/start.ts";
import { readFlowGraph } from "./flow-graph.ts";

test("a flow is the same graph from each of its jobs", async (t) => {
  const broker = await memoryBroker(t, "a", "b");
  const { jobs } = await broker.addFlow("a", [
    { queue: "a", payload },
    { queue: "b", payload, after: [{ job: 0 }] },
    { queue: "b", payload, after: [{ job: 0, onDependencyFailure: "run" }] },
    { queue: "a", payload, after: [{ job: 1 }, { job: 2 }] },
  ]);
  const [first, one, two, last] = jobs.map(({ id }) => id);
  for (const { id } of jobs) {
    const graph = await readFlowGraph(broker, id, 10);
    assert.deepEqual(
      graph.nodes.map((node) => [node.id, node.queue, node.state]).sort(),
      [
        [first, "a", "waiting"],
        [one, "b", "blocked"],
        [two, "b", "blocked"],
        [last, "a", "blocked"],
      ].sort(),
    );
    assert.deepEqual(
      graph.edges.map(({ from, to, onDependencyFailure: rule }) => `${from} ${to} ${rule}`).sort(),
      [
        `${first} ${one} fail`,
        `${first} ${two} run`,
        `${one} ${last} fail`,
        `${two} ${last} fail`,
      ].sort(),
    );
    assert.equal(graph.isCut, false);
  }
});

test("a flow that is too large is cut near the job that was asked for", async (t) => {
  const broker = await memoryBroker(t, "a");
  const rest = Array.from({ length: 20 }, () => ({ queue: "a", payload, after: [{ job: 0 }] }));
  const { jobs } = await broker.addFlow("a", [{ queue: "a", payload }, ...rest]);
  const graph = await readFlowGraph(broker, jobs[0]!.id, 5);
  assert.deepEqual([graph.nodes.length, graph.isCut], [5, true]);
  assert.equal(graph.nodes[0]!.id, jobs[0]!.id);
  const known = new Set(graph.nodes.map(({ id }) => id));
  assert.ok(graph.edges.every(({ from, to }) => known.has(from) && known.has(to)));
});

test("a key sees of a flow what it may see", async (t) => {
  const { broker, call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  for (const queue of ["orders.a", "secret"]) await broker.setQueue(queue, {});
  const { jobs } = await broker.addFlow("secret", [
    { queue: "secret", payload },
    { queue: "secret", payload, after: [{ job: 0 }] },
    { queue: "orders.a", payload, after: [{ job: 1 }] },
  ]);
  const grants = [{ action: "consume", on: "orders.*" }];
  const made = await call("POST /v1/keys", { key, body: { name: "some", grants } });
  const asked = (id: string) => call(`GET /v1/jobs/${id}/flow`, { key: made.body.key });
  const { body } = await asked(jobs[2]!.id);
  const ids = body.nodes.map(({ id }: { id: string }) => id);
  assert.ok(!ids.includes(jobs[0]!.id), "nothing behind a job of another");
  assert.equal((await asked(jobs[0]!.id)).status, 404);
  const whole = await call(`GET /v1/jobs/${jobs[2]!.id}/flow`, { key });
  assert.equal(whole.body.nodes.length, 3);
});
