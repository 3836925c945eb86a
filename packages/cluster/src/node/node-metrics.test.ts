import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeCluster, type TestNode } from "../testing/node-cluster.ts";

/** The values of a metric at a node, by their labels. */
async function read({ server }: TestNode, name: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${server.address}/metrics`)).text();
  const lines = text.split("\n").filter((line) => new RegExp(`^${name}[{ ]`).test(line));
  return new Map(
    lines.map((line) => {
      const [, labels = "", value] = /^[a-z_]+(?:\{(.*)\})? (.*)$/.exec(line) ?? [];
      return [labels, Number(value)];
    }),
  );
}

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);

test("figures of nodes can be summed: each partition is counted by its owner", async (t) => {
  const nodes = await new NodeCluster(t, 4).start("a", "b");
  const payload = new Uint8Array(1);
  for (let i = 0; i < 8; i++) {
    await nodes[0].broker.setQueue(`q${i}`, {});
    await nodes[0].broker.add(`q${i}`, [{ payload }, { payload }]);
  }
  const waiting = await Promise.all(nodes.map((node) => read(node, "sluice_queue_waiting")));
  assert.equal(sum(waiting.flatMap((values) => [...values.values()])), 16);
  const [ofA, ofB] = waiting.map((values) => [...values.keys()]);
  assert.ok(ofA!.length > 0 && ofB!.length > 0);
  assert.ok(ofA!.every((queue) => !ofB!.includes(queue)));
  const owned = await Promise.all(nodes.map((node) => read(node, "sluice_partitions_owned")));
  assert.equal(sum(owned.flatMap((values) => [...values.values()])), 4);
  const served = await Promise.all(nodes.map((node) => read(node, "sluice_partition_served")));
  assert.deepEqual(
    served.flatMap((values) => [...values.keys()]).toSorted(),
    [0, 1, 2, 3].map((partition) => `partition="${partition}"`),
  );
  const [missing] = (await read(nodes[0], "sluice_cluster_partitions_missing")).values();
  assert.equal(missing, 0);
});

test("a node counts the partitions that it got, by the way in which they came", async (t) => {
  const cluster = new NodeCluster(t, 4);
  const [a, b] = await cluster.start("a", "b");
  const gained = (node: TestNode) => read(node, "sluice_partitions_gained_total");
  const figures = (takeover: number, handover: number) =>
    new Map([
      [`how="takeover"`, takeover],
      [`how="handover"`, handover],
      [`how="given-up"`, 0],
    ]);
  // The first node has had them all; nothing was taken from another one.
  assert.deepEqual(await gained(a), figures(0, 0));
  assert.deepEqual(await gained(b), figures(0, 2));
  await b.kill();
  await cluster.settled([a]);
  assert.deepEqual(await gained(a), figures(2, 0));
  const c = await cluster.add("c");
  await cluster.settled([a, c]);
  assert.deepEqual(await gained(c), figures(0, 2));
  assert.deepEqual(await gained(a), figures(2, 0));
});
