import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { TestCluster } from "../testing/cluster.ts";
import { ClusterLoad, wait } from "../testing/cluster-load.ts";

const LEASE_MS = 3_000;
const NODES = ["a", "b", "c"];
const MINUTES = 60_000;

// One cluster has all its bad days one after the other, each under load and with a history of its
// own. `during` ends when the day is over; then the load continues until all jobs are done.
describe("bad days of a cluster", () => {
  let cluster: TestCluster;
  const ends: (() => unknown)[] = [];
  before(async () => {
    cluster = await TestCluster.start({ after: (end) => void ends.push(end as () => unknown) });
  });
  after(async () => {
    for (const end of ends) await end();
  });

  function day(name: string, during: (load: ClusterLoad) => Promise<void>): void {
    test(name, async (t) => {
      const load = await ClusterLoad.start(t, cluster);
      await load.more(50);
      await during(load);
      await cluster.settled();
      await load.more(50);
      await load.finish(t);
    });
  }

  day("a node is killed", async (load) => {
    await cluster.node("b").kill();
    await load.more(100);
    await cluster.node("b").start();
  });

  day("a node stands still for longer than its lease, and wakes", async (load) => {
    cluster.node("b").freeze();
    await wait(2 * LEASE_MS);
    cluster.node("b").thaw();
    await load.more(50);
  });

  day("a node is cut off from NATS", async (load) => {
    cluster.node("c").cutFromNats();
    await wait(2 * LEASE_MS);
    cluster.node("c").healNats();
    await load.more(50);
  });

  day("a node is cut off from its peers and from clients, not from NATS", async (load) => {
    cluster.node("c").cutFromPeers();
    await wait(2 * LEASE_MS);
    cluster.node("c").healPeers();
    await load.more(50);
  });

  day("a server of NATS is killed", async (load) => {
    await cluster.nats.kill(2);
    await load.more(100);
    await cluster.nats.restart(2);
    await cluster.nats.ready();
  });

  day("the leaders of streams are killed while they are written to", async (load) => {
    for (const partition of [0, 1]) {
      const leader = await leaderOf(cluster, partition);
      await cluster.nats.kill(leader);
      await load.more(50);
      await cluster.nats.restart(leader);
      await cluster.nats.ready();
    }
  });

  day(
    "two of three servers of NATS are gone: writes are refused, and go on after it",
    async (load) => {
      const before = load.errors.length;
      await cluster.nats.kill(0);
      await cluster.nats.kill(1);
      const endAt = Date.now() + 60_000;
      while (load.errors.length === before && Date.now() < endAt) await wait(100);
      const refusals = load.errors.slice(before);
      await cluster.nats.restart(0);
      await cluster.nats.restart(1);
      await cluster.nats.ready();
      assert.ok(refusals.length > 0, "nothing was refused");
      assert.match(refusals.join("\n"), /log|NATS|partition|no answer/);
    },
  );

  day("a node is slow", async (load) => {
    cluster.node("a").slow(150);
    await load.more(200);
    cluster.node("a").slow(0);
  });
});

test("clocks are apart by minutes, and owners change", async (t) => {
  const aheadMs = [0, 7 * MINUTES, -5 * MINUTES];
  const cluster = await TestCluster.start(t, { aheadMs });
  const started = (await cluster.status()).nodes.map(({ startedAt }) => startedAt);
  assert.ok(Math.max(...started) - Math.min(...started) > 11 * MINUTES, "the clocks are not apart");
  const load = await ClusterLoad.start(t, cluster);
  await load.more(50);
  for (const name of NODES) {
    await cluster.node(name).kill();
    await load.more(50);
    await cluster.node(name).start();
    await cluster.settled();
  }
  await load.more(50);
  await load.finish(t);
});

async function leaderOf(cluster: TestCluster, partition: number): Promise<number> {
  for (;;) {
    const leader = await cluster.nats.streamLeader(cluster.streamOf(partition));
    if (leader !== undefined) return leader;
    await wait(50);
  }
}
