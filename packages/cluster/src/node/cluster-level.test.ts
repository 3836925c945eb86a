import assert from "node:assert/strict";
import { test } from "node:test";
import { FEATURE_LEVEL, releaseOf } from "@sluice/broker";
import { turningClock } from "@sluice/protocol/testing";
import { LEVEL_CHECK_MS, LEVEL_SETTLE_MS } from "../limits.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { NodeCluster } from "../testing/node-cluster.ts";
import { createCluster, joinCluster, levelOf } from "./cluster-entry.ts";
import { ClusterLevel } from "./cluster-level.ts";
import type { Member } from "./members.ts";

const OLD = { id: "a", version: "0.0.9", isAlive: true } as Member;
const NEW = { id: "b", version: "0.1.0", level: 2, isAlive: true } as Member;

/** A cluster of level 1 and a node that understands level 2. */
async function stage(...nodes: Member[]) {
  const clock = turningClock(5);
  const registry = new MemoryRegistry();
  const entry = { name: "sluice", partitions: 4, secret: "s", more: "of a later release" };
  await registry.create("cluster", JSON.stringify(entry));
  const raised: number[] = [];
  const level: ClusterLevel = new ClusterLevel({
    registry,
    clock,
    known: 2,
    level: 1,
    nodes: () => nodes,
    onRaised: () => raised.push(level.level),
    onError: (error) => assert.fail(error),
  });
  level.start();
  const stored = async (): Promise<Record<string, unknown>> =>
    JSON.parse((await registry.get("cluster"))!.value);
  return { clock, level, nodes, raised, stored };
}

test("the level rises when all nodes have understood it for a minute, and not before", async () => {
  const { clock, level, raised, stored } = await stage({ ...NEW, id: "a" }, NEW);
  await clock.advance(LEVEL_SETTLE_MS);
  assert.equal(level.level, 1);
  await clock.advance(2 * LEVEL_CHECK_MS);
  assert.equal(level.level, 2);
  assert.deepEqual(raised, [2]);
  const { level: at, needs, partitions, more } = await stored();
  assert.deepEqual({ at, needs, partitions }, { at: 2, needs: "0.1.0", partitions: 4 });
  assert.equal(more, "of a later release", "the rest of the entry stays");
});

test("one older node keeps the level down, and is named", async () => {
  const { clock, level, nodes } = await stage(OLD, NEW);
  await clock.advance(10 * LEVEL_SETTLE_MS);
  assert.equal(level.level, 1);
  assert.deepEqual(level.behind(), ["a (0.0.9)"]);
  nodes[0] = { ...NEW, id: "a" };
  await clock.advance(LEVEL_SETTLE_MS + 2 * LEVEL_CHECK_MS);
  assert.equal(level.level, 2);
});

test("a node that has died counts until it is forgotten", async () => {
  const { clock, level, nodes } = await stage({ ...OLD, isAlive: false }, NEW);
  await clock.advance(10 * LEVEL_SETTLE_MS);
  assert.equal(level.level, 1);
  nodes.shift();
  await clock.advance(LEVEL_SETTLE_MS + 2 * LEVEL_CHECK_MS);
  assert.equal(level.level, 2);
});

test("a node that hears nothing of the others does not raise the level", async () => {
  const { clock, level } = await stage();
  await clock.advance(10 * LEVEL_SETTLE_MS);
  assert.equal(level.level, 1);
});

test("a new cluster has the level of the node that makes it", async () => {
  const registry = new MemoryRegistry();
  await createCluster(registry, { name: "sluice" });
  assert.equal(levelOf((await registry.get("cluster"))!.value), FEATURE_LEVEL);
});

test("a node that does not understand the cluster's level names the release it needs", async () => {
  const registry = new MemoryRegistry();
  await createCluster(registry, { name: "sluice", level: 2 });
  await assert.rejects(joinCluster(registry, 1), {
    code: "LOG_VERSION",
    message: /the cluster sluice needs Sluice 0\.1\.0 or newer \(feature level 2\)/,
  });
  assert.equal((await joinCluster(registry, 3)).level, 2);
});

test("a cluster of the release before levels stays at level 1 at first", async (t) => {
  const cluster = new NodeCluster(t);
  const entry = { name: "sluice", partitions: 4, secret: "s" };
  await cluster.registry.create("cluster", JSON.stringify(entry));
  const [a] = await cluster.start("a");
  await a.broker.setQueue("mail", {});
  const logs = cluster.stores.map(({ batches }) => batches.map(({ facts }) => facts));
  const written = Buffer.concat(logs.flat());
  assert.ok(written.includes("mail"));
  assert.ok(!written.includes(releaseOf(2)), "an older node cannot read the fact of a level");
});
