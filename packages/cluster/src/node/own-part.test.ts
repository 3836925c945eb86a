import assert from "node:assert/strict";
import { test } from "node:test";
import { SluiceError } from "@sluice/protocol";
import { homeOfQueue } from "../hash.ts";
import { NodeCluster, type TestNode } from "../testing/node-cluster.ts";

const DAMAGED = 1;

async function read(node: TestNode, path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(new URL(path, node.server.address));
  return { status: answer.status, text: await answer.text() };
}

/** Resolves when all partitions are served but the one that cannot be. */
async function served(node: TestNode): Promise<void> {
  for (;;) {
    const { partitions } = node.node.status();
    const others = partitions.filter(({ partition }) => partition !== DAMAGED);
    if (others.every(({ state }) => state === "serving")) return;
    await new Promise<void>((resolve) => {
      const stop = node.node.onChange(() => {
        stop();
        resolve();
      });
    });
  }
}

test("a partition that no node can open affects no other, and is named as missing", async (t) => {
  const cluster = new NodeCluster(t);
  const store = cluster.stores[DAMAGED]!;
  store.open = () => {
    throw new SluiceError("LOG_DAMAGED", "a hole in the log");
  };
  const [a, b] = [await cluster.add("a"), await cluster.add("b")];
  await served(a);
  const names = Array.from({ length: 20 }, (_, i) => `q${i}`);
  const queues = names.filter((name) => homeOfQueue(name, 4) !== DAMAGED).slice(0, 3);
  for (const queue of queues) await a.broker.setQueue(queue, {});
  let counted = 0;
  for (const node of [a, b]) {
    const ready = await read(node, "/readyz");
    assert.deepEqual([ready.status, ready.text], [200, '{"ok":true,"text":"ready"}']);
    const began = performance.now();
    const list = JSON.parse((await read(node, "/v1/queues")).text);
    assert.ok(performance.now() - began < 5_000, "it is not waited for");
    assert.deepEqual(list.missing, [DAMAGED]);
    assert.deepEqual(
      list.items.map(({ name }: { name: string }) => name),
      [...queues].sort(),
    );
    const overview = JSON.parse((await read(node, "/v1/overview")).text);
    assert.deepEqual([overview.missing, overview.total], [[DAMAGED], queues.length]);
    assert.deepEqual(JSON.parse((await read(node, "/v1/gates")).text).missing, [DAMAGED]);
    const metrics = await read(node, "/metrics");
    assert.equal(metrics.status, 200);
    assert.match(metrics.text, /^sluice_cluster_partitions_missing 1$/m);
    counted += Number(/^sluice_queues (\d+)$/m.exec(metrics.text)?.[1]);
  }
  assert.equal(counted, queues.length);
  const { error } = a.node.status().partitions[DAMAGED]!;
  assert.equal(error, "a hole in the log");
});

test("a node that does not hear its cluster is not ready", async (t) => {
  const cluster = new NodeCluster(t);
  const [a] = await cluster.start("a");
  assert.equal((await read(a, "/readyz")).status, 200);
  await a.registry.close();
  for (let tries = 0; ; tries++) {
    const { status } = await read(a, "/readyz");
    if (status === 503) break;
    assert.ok(tries < 1_000);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});
