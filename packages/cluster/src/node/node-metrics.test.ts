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
