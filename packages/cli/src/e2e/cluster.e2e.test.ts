import assert from "node:assert/strict";
import { test } from "node:test";
import { TestCluster } from "../testing/cluster.ts";

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
