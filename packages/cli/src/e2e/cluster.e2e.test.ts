import assert from "node:assert/strict";
import { test } from "node:test";
import { TestCluster } from "../testing/cluster.ts";
import { runSluice } from "../testing/spawn-serve.ts";

test("three nodes are one: jobs go in and out through any of them", async (t) => {
  const cluster = await TestCluster.start(t);
  assert.match(cluster.nodes[0]!.hello.durability ?? "", /of 3 servers/);
  const queues = ["mail", "images", "reports", "sync", "billing", "search"];
  const clients = await Promise.all(
    [...cluster.urls, cluster.urls].map((url) => cluster.connect(url)),
  );
  const done = new Set<string>();
  for (const [i, name] of queues.entries()) {
    const queue = await clients[i % clients.length]!.queue<string>(name);
    queue.work(async ({ payload }) => void done.add(payload), { concurrency: 4 });
  }
  const jobs = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const client = clients[(i + 1) % clients.length]!;
      const queue = await client.queue<string>(queues[i % queues.length]!);
      return queue.add(`job ${i}`);
    }),
  );
  await Promise.all(jobs.map((job) => job.finished()));
  assert.equal(done.size, 60);
});

test("a drain moves all partitions without a failed call, each within half a second", async (t) => {
  const cluster = await TestCluster.start(t);
  const sluice = await cluster.connect();
  const queues = await Promise.all(
    ["mail", "images", "reports", "sync", "billing", "search"].map((name) =>
      sluice.queue<number>(name),
    ),
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
  t.diagnostic(`opened in ${partitions.map(({ openMs }) => Math.round(openMs)).join(", ")} ms`);
  assert.equal(nodes.find(({ id }) => id === "b")?.owned, 0);
  assert.ok(moves.some(({ from, isHandedOver }) => from === "b" && isHandedOver));
  t.diagnostic(`${calls} adds, the slowest took ${Math.round(longest)} ms`);
  assert.ok(longest < 500, `${longest} ms`);
  await cluster.node("b").stop();
});
