import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Broker } from "@sluice/protocol";
import { NodeCluster, type TestNode } from "../testing/node-cluster.ts";
import { connectCluster } from "./connect-cluster.ts";

const QUEUES = ["mail", "images", "reports", "sync", "billing", "search"];
const PAYLOAD = new Uint8Array([1, 2, 3]);

async function connected(t: TestContext, nodes: readonly TestNode[]): Promise<Broker> {
  const broker = await connectCluster(nodes.map(({ server }) => server.address));
  t.after(() => broker.close());
  return broker;
}

async function addAndWork(broker: Broker): Promise<number> {
  let done = 0;
  for (const queue of QUEUES) {
    const [added] = await broker.add(queue, [{ payload: PAYLOAD }]);
    assert.equal(added?.error, undefined);
    const jobs = await broker.lease(queue, { max: 10, wait: 5_000 });
    const outcomes = await broker.ack(jobs.map(({ lease }) => ({ lease })));
    done += outcomes.filter(({ ok }) => ok === true).length;
  }
  return done;
}

test("a client of several nodes keeps working when any of them is gone", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = await cluster.start("a", "b", "c");
  const broker = await connected(t, nodes);
  for (const queue of QUEUES) await broker.setQueue(queue, {});
  assert.equal(await addAndWork(broker), QUEUES.length);
  await nodes[0]!.kill();
  assert.equal(await addAndWork(broker), QUEUES.length);
  await nodes[1]!.close();
  assert.equal(await addAndWork(broker), QUEUES.length);
});

test("a client leaves a node that is cut off, and finds the new owners", async (t) => {
  const cluster = new NodeCluster(t);
  const [a, b] = await cluster.start("a", "b");
  const broker = await connected(t, [a, b]);
  for (const queue of QUEUES) await broker.setQueue(queue, {});
  await a.cutOff();
  assert.equal(await addAndWork(broker), QUEUES.length);
  assert.equal(a.node.status().isHearing, false);
  assert.equal(b.node.status().isHearing, true);
});

test("one address of a cluster is enough to learn of the others", async (t) => {
  const cluster = new NodeCluster(t);
  const [a] = await cluster.start("a", "b");
  const broker = await connected(t, [a]);
  for (const queue of QUEUES) await broker.setQueue(queue, {});
  assert.equal(await addAndWork(broker), QUEUES.length);
  await a.close();
  assert.equal(await addAndWork(broker), QUEUES.length);
});

test("a queue that is spread by another client is found where it is", async (t) => {
  const cluster = new NodeCluster(t);
  const [a] = await cluster.start("a");
  const [one, other] = [await connected(t, [a]), await connected(t, [a])];
  await one.setQueue("wide", { spread: 3 });
  const jobs = Array.from({ length: 12 }, (_, i) => ({
    payload: PAYLOAD,
    fairnessKey: `tenant ${i}`,
  }));
  // It hears of the change in its own time.
  while ((await other.queue("wide")).config.spread !== 3);
  const added = await other.add("wide", jobs);
  const partitions = new Set(added.map(({ ok }) => ok?.id.split("-")[0]));
  assert.equal(partitions.size, 3);
  const { stats } = await other.queue("wide");
  assert.equal(stats.waiting, 12);
});

test("reports an error when no node answers", async () => {
  const unreachable = await connectCluster(["http://127.0.0.1:9"]).catch((error) => error);
  assert.equal(unreachable.code, "DISCONNECTED");
});
