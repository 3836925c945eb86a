import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broker, FlowJob, LeasedJob } from "@sluice/protocol";
import { homeOfQueue } from "../hash.ts";
import { NodeCluster } from "../testing/node-cluster.ts";
import { connectCluster } from "./connect-cluster.ts";

const encoder = new TextEncoder();
const QUEUES = ["mail", "images", "reports", "sync", "billing", "search"];

async function takeOne(broker: Broker, queue: string): Promise<LeasedJob> {
  const [taken] = await broker.lease(queue, { max: 1, wait: 20_000 });
  assert.ok(taken !== undefined, `no job in ${queue}`);
  return taken;
}

async function finish(broker: Broker, queue: string): Promise<string> {
  const { id, lease, payload } = await takeOne(broker, queue);
  const [outcome] = await broker.ack([{ lease, result: payload }]);
  assert.equal(outcome?.error, undefined);
  return id;
}

test("a client adds a flow over partitions, which continues when an owner is killed", async (t) => {
  const cluster = new NodeCluster(t);
  const [a, b] = await cluster.start("a", "b");
  const broker = await connectCluster([b.server.address, a.server.address]);
  t.after(() => broker.close());
  for (const queue of QUEUES) await broker.setQueue(queue, { lease: "60s" });
  const { partitionCount } = b.node.status();
  assert.ok(new Set(QUEUES.map((queue) => homeOfQueue(queue, partitionCount))).size > 1);
  const jobs = QUEUES.map(
    (queue, i): FlowJob => ({
      queue,
      payload: encoder.encode(queue),
      after: i === 0 ? [] : [{ job: i - 1 }],
    }),
  );
  const { jobs: added } = await broker.addFlow(QUEUES[0]!, jobs);
  for (const [i, queue] of QUEUES.slice(0, 3).entries()) {
    assert.equal(await finish(broker, queue), added[i]!.id);
  }
  const last = added.at(-1)!.id;
  const [before] = (await broker.dependencies(last)).items;
  assert.equal(before?.id, added.at(-2)!.id);
  assert.equal(before.queue, QUEUES.at(-2));
  await a.kill();
  for (const [i, queue] of QUEUES.slice(3).entries()) {
    assert.equal(await finish(broker, queue), added[i + 3]!.id);
  }
  assert.equal((await broker.job(last)).state, "finished");
});
