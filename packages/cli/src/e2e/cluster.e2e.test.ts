import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connectBroker } from "@sluice/client/remote";
import type { Broker, LeasedJob } from "@sluice/protocol";
import { TestCluster } from "../testing/cluster.ts";
import { runSluice } from "../testing/spawn-serve.ts";
import { TcpProxy } from "../testing/tcp-proxy.ts";

const QUEUES = ["mail", "images", "reports", "sync", "billing", "search"];

test("three nodes are one: jobs go in and out through any of them", async (t) => {
  const cluster = await TestCluster.start(t);
  assert.match(cluster.nodes[0]!.hello.durability ?? "", /of 3 servers/);
  const clients = await Promise.all(
    [...cluster.urls, cluster.urls].map((url) => cluster.connect(url)),
  );
  const done = new Set<string>();
  for (const [i, name] of QUEUES.entries()) {
    const queue = await clients[i % clients.length]!.queue<string>(name);
    queue.work(async ({ payload }) => void done.add(payload), { concurrency: 4 });
  }
  const jobs = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const client = clients[(i + 1) % clients.length]!;
      const queue = await client.queue<string>(QUEUES[i % QUEUES.length]!);
      return queue.add(`job ${i}`);
    }),
  );
  await Promise.all(jobs.map((job) => job.finished()));
  assert.equal(done.size, 60);
});

test("a drain moves all partitions without a failed call, each within half a second", async (t) => {
  const cluster = await TestCluster.start(t);
  // One that knows all nodes, and one that knows only the node that is drained.
  const clients = [await cluster.connect(), await cluster.connect(cluster.node("b").address)];
  const queues = await Promise.all(
    clients.flatMap((client) => QUEUES.map((name) => client.queue<number>(name))),
  );
  let isOver = false;
  let longest = 0;
  let calls = 0;
  const adding = queues.map(async (queue) => {
    while (!isOver) {
      const since = performance.now();
      await queue.add(calls++);
      longest = Math.max(longest, performance.now() - since);
    }
  });
  const drained = await runSluice(["cluster", "drain", "b"], { SLUICE_URL: cluster.urls[0]! });
  assert.equal(drained.code, 0, drained.err);
  assert.match(drained.out, /b is drained/);
  isOver = true;
  await Promise.all(adding);
  const { nodes, moves, partitions } = await cluster.status();
  t.diagnostic(`opened in ${partitions.map(({ openedIn }) => Math.round(openedIn)).join(", ")} ms`);
  assert.equal(nodes.find(({ id }) => id === "b")?.owned, 0);
  assert.ok(moves.some(({ from, isHandedOver }) => from === "b" && isHandedOver));
  t.diagnostic(`${calls} adds, the slowest took ${Math.round(longest)} ms`);
  assert.ok(longest < 500, `${longest} ms`);
  await cluster.node("b").stop();
});

test("workers keep their jobs when the node they came through is drained and ends", async (t) => {
  const cluster = await TestCluster.start(t);
  const worker = await behindOneAddress(t, cluster, "b");
  const held = new Map<string, LeasedJob>();
  for (const queue of QUEUES) {
    await worker.broker.setQueue(queue, {});
    await worker.broker.add(queue, [{ payload: new Uint8Array(1) }]);
    await worker.broker.consume(queue, { worker: "holder", credits: 1 }, (jobs) => {
      for (const job of jobs) held.set(job.id, job);
    });
  }
  while (held.size < QUEUES.length) await new Promise((resolve) => setTimeout(resolve, 10));
  const others: string[] = [];
  const sluice = await cluster.connect([cluster.node("a").address, cluster.node("c").address]);
  for (const name of QUEUES) {
    (await sluice.queue(name)).work(async ({ id }) => void others.push(id));
  }
  const drained = await runSluice(["cluster", "drain", "b"], { SLUICE_URL: cluster.urls[0]! });
  assert.equal(drained.code, 0, drained.err);
  worker.to("a");
  await cluster.node("b").stop();
  // Longer than the leases of a worker wait that was lost.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const leases = [...held.values()].map(({ lease }) => ({ lease }));
  const outcomes = await worker.broker.ack(leases);
  assert.deepEqual(
    outcomes,
    leases.map(() => ({ ok: true })),
  );
  assert.deepEqual(others, []);
});

// A client that knows one address, which leads to whichever node is named.
async function behindOneAddress(
  t: TestContext,
  cluster: TestCluster,
  first: string,
): Promise<{ broker: Broker; to: (node: string) => void }> {
  let node = first;
  const door = await TcpProxy.start(() => Number(new URL(cluster.node(node).address).port));
  const broker = await connectBroker(`http://127.0.0.1:${door.port}`);
  t.after(async () => {
    await broker.close();
    door.close();
  });
  const to = (next: string): void => {
    node = next;
  };
  return { broker, to };
}
