import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { Broker, LeasedJob } from "@sluice/protocol";
import { connectCluster } from "../client/connect-cluster.ts";
import { homeOfQueue } from "../hash.ts";
import { NodeCluster, type TestNode } from "../testing/node-cluster.ts";

const PARTITIONS = 4;
const PAYLOAD = new Uint8Array([1]);
const QUEUE = { retry: { attempts: 3, min: 0, max: 0 } } as const;

interface Scene {
  readonly a: TestNode;
  readonly b: TestNode;
  /** A queue that is b's. */
  readonly queue: string;
}

async function scene(t: TestContext): Promise<Scene> {
  const cluster = new NodeCluster(t, PARTITIONS);
  const [a, b] = await cluster.start("a", "b");
  const { partitions } = a.node.status();
  const names = Array.from({ length: 100 }, (_, i) => `q${i}`);
  const queue = names.find((name) => partitions[homeOfQueue(name, PARTITIONS)]?.owner === "b")!;
  await b.broker.setQueue(queue, QUEUE);
  return { a, b, queue };
}

/** A worker that takes a job and holds it. */
async function holdOne(client: Broker, queue: string): Promise<LeasedJob> {
  const { promise, resolve } = Promise.withResolvers<LeasedJob>();
  await client.consume(queue, { worker: "w", credits: 1 }, ([job]) => resolve(job!));
  await client.add(queue, [{ payload: PAYLOAD }]);
  return promise;
}

test("a worker keeps its job when the node that it came through ends", async (t) => {
  const { a, b, queue } = await scene(t);
  const { lease } = await holdOne(await a.connect(), queue);
  await a.close();
  assert.deepEqual(await b.broker.lease(queue, { max: 1 }), []);
  assert.deepEqual(await b.broker.ack([{ lease }]), [{ ok: true }]);
});

test("a node gives back the jobs of a worker that leaves it", async (t) => {
  const { a, b, queue } = await scene(t);
  const client = await connectBroker(a.server.address);
  const { id } = await holdOne(client, queue);
  await client.close();
  const [again] = await b.broker.lease(queue, { max: 1, wait: 5_000 });
  assert.deepEqual([again?.id, again?.attempt], [id, 0]);
});

test("what a client of partitions destroys is in the audit log", async (t) => {
  const { a, b, queue } = await scene(t);
  const client = await connectCluster([a.server.address]);
  await client.add(queue, [{ payload: PAYLOAD }]);
  await client.purge(queue);
  await client.close();
  for (const { server } of [a, b]) {
    const { items } = await (await fetch(`${server.address}/v1/audit`)).json();
    const told = items.map(({ action, on, via }: Record<string, string>) => [action, on, via]);
    assert.deepEqual(told, [["purge", queue, "stream"]]);
  }
});

test("a client of partitions gives its jobs back when it leaves", async (t) => {
  const { a, b, queue } = await scene(t);
  const client = await connectCluster([a.server.address]);
  const { id } = await holdOne(client, queue);
  await client.close();
  const [again] = await b.broker.lease(queue, { max: 1, wait: 5_000 });
  assert.deepEqual([again?.id, again?.attempt], [id, 0]);
});

test("the limit on adds holds for those who talk to partitions directly", async (t) => {
  const cluster = new NodeCluster(t, PARTITIONS, { limits: { addsPerSecond: 1 } });
  const [a] = await cluster.start("a");
  const client = await connectCluster([a.server.address]);
  t.after(() => client.close());
  await client.setQueue("q", {});
  const add = (): Promise<unknown> => client.add("q", [{ payload: PAYLOAD }]);
  await add();
  await assert.rejects(add(), { code: "RATE_LIMITED" });
});
