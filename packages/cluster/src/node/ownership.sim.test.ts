import assert from "node:assert/strict";
import { test } from "node:test";
import { type Confirmation, SimCluster } from "../testing/sim-cluster.ts";

const PARTITIONS = 12;

async function cluster(seed: number, ids: readonly string[], more = {}): Promise<SimCluster> {
  const sim = new SimCluster({ partitions: PARTITIONS, seed, ...more });
  for (const id of ids) await sim.add(id);
  await sim.run(8_000);
  return sim;
}

// A confirmation under an old fence after one under a newer one: two owners that confirm.
function overlaps(confirmations: readonly Confirmation[]): Confirmation[] {
  const newest = new Map<number, number>();
  return confirmations.filter(({ partition, fence }) => {
    const isOld = fence < (newest.get(partition) ?? 0);
    if (!isOld) newest.set(partition, fence);
    return isOld;
  });
}

// The longest time without a confirmation of any partition, from `since` on.
function longestPause(sim: SimCluster, since: number): number {
  let longest = 0;
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const times = sim.confirmations
      .filter((one) => one.partition === partition && one.time >= since)
      .map(({ time }) => time);
    let before = since;
    for (const time of [...times, sim.now]) {
      longest = Math.max(longest, time - before);
      before = time;
    }
  }
  return longest;
}

function assertAllServed(sim: SimCluster): void {
  for (let partition = 0; partition < PARTITIONS; partition++) {
    assert.equal(sim.serving(partition).length, 1, `partition ${partition} at ${sim.now}`);
  }
}

function shares(sim: SimCluster): number[] {
  const ids = [...sim.nodes.keys()];
  return ids.map(
    (id) =>
      Array.from({ length: PARTITIONS }, (_, p) => sim.serving(p)).filter((n) => n.includes(id))
        .length,
  );
}

test("three nodes share the partitions evenly", async () => {
  const sim = await cluster(1, ["a", "b", "c"]);
  assertAllServed(sim);
  assert.deepEqual(shares(sim), [4, 4, 4]);
});

test("a node that comes gets its share, and no partition rests for half a second", async () => {
  const sim = await cluster(2, ["a", "b"]);
  const since = sim.now;
  await sim.add("c");
  await sim.run(20_000);
  assertAllServed(sim);
  assert.deepEqual(shares(sim), [4, 4, 4]);
  assert.ok(longestPause(sim, since) < 500, `${longestPause(sim, since)} ms`);
});

test("a drained node owns nothing any more, with a short pause for each partition", async () => {
  const sim = await cluster(3, ["a", "b", "c"]);
  const since = sim.now;
  let isDone = false;
  void sim.nodes
    .get("b")!
    .ownership.drain()
    .then(() => (isDone = true));
  await sim.run(20_000);
  assert.ok(isDone);
  assertAllServed(sim);
  assert.deepEqual(shares(sim), [6, 0, 6]);
  assert.ok(longestPause(sim, since) < 500, `${longestPause(sim, since)} ms`);
});

test("the partitions of a killed node are served within five seconds", async () => {
  for (let seed = 10; seed < 20; seed++) {
    const sim = await cluster(seed, ["a", "b", "c"]);
    const since = sim.now;
    sim.nodes.get("b")!.kill();
    await sim.run(5_000);
    assertAllServed(sim);
    assert.ok(longestPause(sim, since) < 4_500, `seed ${seed}: ${longestPause(sim, since)} ms`);
  }
});

test("large partitions of a killed node are served as soon as small ones", async () => {
  // Without a standby the log would have to be read for 20 s.
  const sim = await cluster(4, ["a", "b", "c"], { jobs: 10_000_000, readMs: 20_000 });
  await sim.run(60_000);
  for (const id of ["b", "c"]) {
    const since = sim.now;
    sim.nodes.get(id)!.kill();
    await sim.run(10_000);
    assertAllServed(sim);
    assert.ok(longestPause(sim, since) < 5_000, `${longestPause(sim, since)} ms`);
    // The next standby has to read first.
    await sim.run(60_000);
  }
  assert.deepEqual(overlaps(sim.confirmations), []);
});

test("the logs of a silent node are read while its lease runs out", async () => {
  const sim = await cluster(6, ["a", "b", "c"], { jobs: 1_000, readMs: 1_200 });
  await sim.run(60_000);
  const since = sim.now;
  sim.nodes.get("b")!.kill();
  await sim.run(10_000);
  assertAllServed(sim);
  assert.ok(longestPause(sim, since) < 4_000, `${longestPause(sim, since)} ms`);
  assert.deepEqual(overlaps(sim.confirmations), []);
});

test("small partitions have no standby", async () => {
  const sim = await cluster(4, ["a", "b", "c"], { jobs: 1_000, readMs: 20_000 });
  await sim.run(60_000);
  const states = [...sim.nodes.values()].flatMap(({ ownership }) =>
    Array.from({ length: PARTITIONS }, (_, partition) => ownership.life(partition)?.state),
  );
  assert.ok(!states.includes("standby"));
});

test("a node that is killed and started again under its name is back at once", async () => {
  const sim = await cluster(4, ["a", "b", "c"]);
  sim.nodes.get("b")!.kill();
  await sim.run(100);
  const since = sim.now;
  await sim.add("b");
  await sim.run(10_000);
  assert.deepEqual(shares(sim), [4, 4, 4]);
  assert.ok(longestPause(sim, since) < 1_000, `${longestPause(sim, since)} ms`);
});

test("a node cut off from the registry serves by its log until another node has it", async () => {
  const sim = await cluster(5, ["a", "b", "c"]);
  const cut = sim.nodes.get("a")!;
  cut.cutOff();
  await sim.run(6_000);
  assertAllServed(sim);
  assert.deepEqual(shares(sim), [0, 6, 6]);
  cut.heal();
  await sim.run(15_000);
  assert.deepEqual(shares(sim), [4, 4, 4]);
  assert.deepEqual(overlaps(sim.confirmations), []);
});

test("when no node reaches the registry every node keeps its partitions", async () => {
  const sim = await cluster(6, ["a", "b", "c"]);
  const since = sim.now;
  for (const node of sim.nodes.values()) node.cutOff();
  await sim.run(15_000);
  assertAllServed(sim);
  for (const node of sim.nodes.values()) node.heal();
  await sim.run(10_000);
  assertAllServed(sim);
  assert.ok(longestPause(sim, since) < 500, `${longestPause(sim, since)} ms`);
});

test("a node that was frozen does not take over the world when it wakes", async () => {
  const sim = await cluster(7, ["a", "b", "c"]);
  const node = sim.nodes.get("a")!;
  node.freeze();
  await sim.run(10_000);
  const since = sim.now;
  node.thaw();
  await sim.run(15_000);
  assertAllServed(sim);
  assert.deepEqual(shares(sim), [4, 4, 4]);
  assert.deepEqual(overlaps(sim.confirmations), []);
  assert.ok(longestPause(sim, since) < 500, `${longestPause(sim, since)} ms`);
});

test("a node whose watch has died opens another one, and takes over as any other", async () => {
  for (let seed = 30; seed < 35; seed++) {
    const sim = await cluster(seed, ["a", "b", "c"]);
    const since = sim.now;
    for (const node of sim.nodes.values()) node.deafen();
    sim.nodes.get("b")!.kill();
    await sim.run(10_000);
    assertAllServed(sim);
    assert.deepEqual(shares(sim), [6, 0, 6]);
    assert.ok(longestPause(sim, since) < 7_000, `seed ${seed}: ${longestPause(sim, since)} ms`);
    assert.deepEqual(overlaps(sim.confirmations), []);
  }
});

test("when all that live are drained they serve what the others leave", async () => {
  const sim = await cluster(8, ["a", "b", "c"]);
  for (const id of ["a", "b"]) void sim.nodes.get(id)!.ownership.drain();
  await sim.run(20_000);
  assert.deepEqual(shares(sim), [0, 0, 12]);
  sim.nodes.get("c")!.kill();
  await sim.run(5_000);
  assertAllServed(sim);
  await sim.add("d");
  await sim.run(20_000);
  assert.deepEqual(shares(sim), [0, 0, 0, 12]);
});

test("nodes that all end at the same time do not wait for each other", async () => {
  const sim = await cluster(9, ["a", "b", "c"]);
  let ended = 0;
  for (const { ownership } of sim.nodes.values()) void ownership.close().then(() => ended++);
  await sim.run(3_000);
  assert.equal(ended, 3);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    assert.equal(JSON.parse(sim.get(`owner.${partition}`)!.value).node, "", "left free");
  }
});

async function badDays(sim: SimCluster): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const living = [...sim.nodes.values()].filter(({ isDead }) => !isDead);
    const node = living[Math.floor(sim.random() * living.length)]!;
    const kind = Math.floor(sim.random() * 6);
    if (kind === 0 && living.length > 2) node.kill();
    else if (kind === 1) await sim.add(living.length < 5 ? `n${round}` : node.id);
    else if (kind === 2) node.freeze();
    else if (kind === 5) node.deafen();
    else if (kind === 3) node.cutOff();
    else for (const one of living) one.cutOff();
    await sim.run(sim.random() * 8_000);
    for (const one of sim.nodes.values()) {
      if (one.isFrozen && !one.isDead) one.thaw();
      if (one.isCutOff && sim.random() < 0.7) one.heal();
    }
    await sim.run(sim.random() * 3_000);
  }
  for (const one of sim.nodes.values()) one.heal();
}

test("through bad days no two nodes confirm at the same time, and all ends well", async () => {
  let refused = 0;
  for (let seed = 100; seed < 120; seed++) {
    // Every other time the partitions are large, so that they have a standby.
    const large = seed % 2 === 0 ? {} : { jobs: 1_000_000, readMs: 1_000 };
    const sim = await cluster(seed, ["a", "b", "c"], large);
    await badDays(sim);
    await sim.run(15_000);
    assertAllServed(sim);
    assert.deepEqual(overlaps(sim.confirmations), [], `seed ${seed}`);
    refused += sim.refused;
  }
  assert.ok(refused > 0, "no one ever ran into a fence");
});

test("without the log's fence the same days show two that confirm", async () => {
  let found = 0;
  for (let seed = 100; seed < 120; seed++) {
    const sim = await cluster(seed, ["a", "b", "c"], { isUnfenced: true });
    await badDays(sim);
    found += overlaps(sim.confirmations).length;
    if (found > 0) return;
  }
  assert.fail("the check is blind");
});
