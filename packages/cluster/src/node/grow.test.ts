import assert from "node:assert/strict";
import { test } from "node:test";
import { homeOfQueue } from "../hash.ts";
import { FencedStore } from "../testing/fenced-log.ts";
import { NodeCluster } from "../testing/node-cluster.ts";
import { growCluster } from "./cluster-entry.ts";

const payload = new Uint8Array(1);

test("partitions that are added to a running cluster take new queues alone", async (t) => {
  const cluster = new NodeCluster(t, 2);
  const nodes = await cluster.start("a", "b");
  const [a, b] = nodes;
  const names = Array.from({ length: 12 }, (_, i) => `q${i}`);
  const old = names.slice(0, 4);
  for (const queue of old) {
    await a.broker.setQueue(queue, {});
    await a.broker.add(queue, [{ payload }]);
  }
  const before = await b.connect();
  cluster.stores.push(new FencedStore(), new FencedStore());
  assert.equal(await growCluster(cluster.registry, 4), 2);
  await cluster.settled(nodes);
  assert.equal(a.node.status().partitions.length, 4);

  for (const queue of old) {
    await a.broker.setQueue(queue, { lease: 1000 });
    assert.equal((await before.queue(queue)).stats.waiting, 1);
    const [added] = await before.add(queue, [{ payload }]);
    assert.equal(added!.ok!.id.split("-")[0], String(homeOfQueue(queue, 2)));
  }
  const places = new Set<string>();
  for (const queue of names.slice(4)) {
    await b.broker.setQueue(queue, {});
    // Through the other node, which learns of the place from the registry.
    const [added] = await a.broker.add(queue, [{ payload }]);
    const place = added!.ok!.id.split("-")[0]!;
    assert.equal(place, String(homeOfQueue(queue, 4)));
    places.add(place);
    assert.equal((await a.broker.lease(queue, { max: 1 })).length, 1);
  }
  assert.ok(places.has("2") && places.has("3"), [...places].join());
  // A node that starts later knows them too.
  const c = await cluster.add("c");
  await cluster.settled([...nodes, c]);
  assert.equal((await c.broker.queue(names[11]!)).name, names[11]);
  await assert.rejects(growCluster(cluster.registry, 3), { code: "INVALID" });
});
