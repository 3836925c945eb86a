import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeCluster } from "../testing/node-cluster.ts";
import { holdPartition, releasePartition } from "./held-partition.ts";

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 1_000) throw new Error("it did not become so");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a held partition is served by no node, and by one of them when it is released", async (t) => {
  const cluster = new NodeCluster(t, 2);
  const [a, b] = await cluster.start("a", "b");
  const stateOf = (): string => a.node.status().partitions[0]!.state;
  await holdPartition(cluster.registry, 0, "reset");
  await until(() => stateOf() === "held" && b.node.status().partitions[0]!.state === "held");
  const opened = cluster.opened.length;
  // The other partition changes its owner meanwhile, and nothing opens this one.
  const ownerOf = (): string => a.node.status().partitions[1]!.owner!;
  const before = ownerOf();
  await a.node.drain(before);
  await until(() => ownerOf() !== before);
  assert.equal(stateOf(), "held");
  assert.equal(cluster.opened.length, opened);
  await releasePartition(cluster.registry, 0);
  await until(() => stateOf() === "serving");
});
