import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import type { Broker } from "@sluice/protocol";
import { TestCluster } from "../testing/cluster.ts";
import { addAll, job, take, textOf } from "../testing/jobs.ts";
import { newDir, runSluice, spawnServe } from "../testing/spawn-serve.ts";

const PARTITIONS = 3;

// A queue for each partition, with two jobs.
async function fill(broker: Broker): Promise<string[]> {
  const queues: string[] = [];
  for (let i = 0; queues.filter(Boolean).length < PARTITIONS; i++) {
    const queue = `q${i}`;
    await broker.setQueue(queue, {});
    const [added] = await addAll(broker, queue, [job("one"), job("two")]);
    queues[Number(added!.split("-")[0])] ??= queue;
  }
  return queues;
}

// Something that is no message of Sluice gets into the log of a partition.
async function damage(nats: NatsServers, stream: string): Promise<void> {
  const connection = await connectNats(nats.urls);
  connection.publish(`sluice.log.${stream}`, "not of Sluice");
  await connection.close();
}

async function sluice(...words: string[]): Promise<string> {
  const { code, out, err } = await runSluice(words);
  assert.equal(code, 0, err);
  return out;
}

const codeOf = (error: { code?: string }): string | undefined => error.code;

async function untilDamaged(broker: Broker, queue: string): Promise<Error> {
  for (;;) {
    try {
      await broker.add(queue, [job("lost")], { timeout: 2_000 });
    } catch (error) {
      if (codeOf(error as { code?: string }) === "LOG_DAMAGED") return error as Error;
    }
  }
}

// A client asks again now and then whether a damaged partition was repaired.
async function untilServed(broker: Broker, queue: string): Promise<void> {
  for (;;) {
    try {
      return void (await broker.queue(queue));
    } catch (error) {
      assert.equal(codeOf(error as { code?: string }), "LOG_DAMAGED");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

test("one damaged partition stops no other, and is reset with what was before", async (t) => {
  const cluster = await TestCluster.start(t, { nats: 1, nodes: 2, partitions: PARTITIONS });
  const { broker } = await cluster.connect();
  const queues = await fill(broker);
  const [broken, ...others] = [queues[1]!, queues[0]!, queues[2]!];
  await damage(cluster.nats, "sluice-1");
  const error = await untilDamaged(broker, broken);
  assert.match(error.message, /the stream sluice-1 is damaged at sequence \d+: /);
  for (const queue of others) {
    await addAll(broker, queue, [job("three")]);
    assert.deepEqual((await take(broker, queue, 3)).map(textOf), ["one", "two", "three"]);
  }
  const address = `${cluster.nats.urls[0]}/sluice-1`;
  const checked = await runSluice(["log", "check", address]);
  assert.equal(checked.code, 1);
  assert.match(checked.err, /sluice-1 is damaged at sequence \d+/);

  const aside = join(newDir(), "aside");
  const said = await sluice("log", "reset", address, "--aside", aside);
  assert.match(said, /sequence \d+: the message .*\npartition 1 begins again with \d+ batches/);
  assert.match(readFileSync(join(aside, "behind.jsonl"), "utf8"), /"sequence":\d+/);
  await cluster.settled();
  await untilServed(broker, broken);
  assert.deepEqual((await take(broker, broken, 2)).map(textOf), ["one", "two"]);
  const [added] = await addAll(broker, broken, [job("three")]);
  assert.ok(added);
  assert.match(await sluice("log", "check", address), /no damage/);
});

test("a cluster is backed up while it works, and restored whole or in part", async (t) => {
  const cluster = await TestCluster.start(t, { nats: 1, nodes: 2, partitions: PARTITIONS });
  const { broker } = await cluster.connect();
  const queues = await fill(broker);
  const at = ["--cluster", cluster.nats.urls[0]!];
  const dir = join(newDir(), "backup");
  assert.match(await sluice("cluster", "backup", dir, ...at), /backed up 3 partitions/);
  assert.match(await sluice("log", "check", join(dir, "partition-1")), /no damage/);

  const [held] = await take(broker, queues[1]!, 1);
  const [after] = await addAll(broker, queues[1]!, [job("after the backup")]);
  await damage(cluster.nats, "sluice-1");
  await untilDamaged(broker, queues[1]!);
  await sluice("cluster", "restore", dir, "--partition", "1", ...at);
  await cluster.settled();
  await untilServed(broker, queues[1]!);
  assert.deepEqual((await take(broker, queues[1]!, 2)).map(textOf), ["one", "two"]);
  // What was given after the backup is neither known nor given again.
  const [outcome] = await broker.ack([{ lease: held!.lease }]);
  assert.ok(outcome?.error !== undefined);
  const [next] = await addAll(broker, queues[1]!, [job("next")]);
  assert.notEqual(next, after);

  const refused = await runSluice(["cluster", "restore", dir, ...at]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /the cluster sluice exists already/);
  const other = await NatsServers.start();
  t.after(() => other.stop());
  await sluice("cluster", "restore", dir, "--cluster", other.urls[0]!);
  const node = await spawnServe(t, ["--cluster", other.urls[0]!]);
  const restored = (await node.connect()).broker;
  for (const queue of queues) {
    assert.deepEqual((await take(restored, queue, 2)).map(textOf), ["one", "two"]);
  }
});

test("a backup names the partition that it lacks, and a restore refuses it", async (t) => {
  const cluster = await TestCluster.start(t, { nats: 1, nodes: 1, partitions: PARTITIONS });
  const { broker } = await cluster.connect();
  const queues = await fill(broker);
  const at = ["--cluster", cluster.nats.urls[0]!];
  await damage(cluster.nats, "sluice-2");
  const dir = join(newDir(), "backup");
  const partial = await runSluice(["cluster", "backup", dir, ...at]);
  assert.equal(partial.code, 1);
  assert.match(partial.err, /partition 2: the stream sluice-2 is damaged at sequence/);
  assert.match(partial.out, /backed up 2 partitions .*; not in the backup: partition 2/);
  const names = [...at, "--cluster-name", "again"];
  const refused = await runSluice(["cluster", "restore", dir, ...names]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /partition 2 is not in the backup: .* --allow-missing/);
  await sluice("cluster", "restore", dir, ...names, "--allow-missing");
  const node = await spawnServe(t, names);
  const restored = (await node.connect()).broker;
  assert.deepEqual((await take(restored, queues[0]!, 2)).map(textOf), ["one", "two"]);
  await assert.rejects(restored.add(queues[2]!, [job("x")]), { code: "QUEUE_NOT_FOUND" });
});

test("partitions are added to a cluster that runs, and are in its backups", async (t) => {
  const cluster = await TestCluster.start(t, { nats: 1, nodes: 1, partitions: 1 });
  const { broker } = await cluster.connect();
  await broker.setQueue("old", {});
  await addAll(broker, "old", [job("one")]);
  const at = ["--cluster", cluster.nats.urls[0]!];
  const grow = ["cluster", "grow", "--partitions"];
  assert.match(await sluice(...grow, "4", ...at), /the cluster has 4 partitions; it had 1/);
  const places = new Set<string>();
  for (let i = 0; places.size < 4; i++) {
    await broker.setQueue(`q${i}`, {});
    const [id] = await addAll(broker, `q${i}`, [job("one")]);
    places.add(id!.split("-")[0]!);
  }
  const [next] = await addAll(broker, "old", [job("two")]);
  assert.match(next!, /^0-/);
  const move = ["cluster", "move", "old", "--to"];
  const moving = sluice(...move, "3", ...at);
  let moved = 2;
  for (let id = ""; !id.startsWith("3-"); moved++) {
    [id = ""] = await addAll(broker, "old", [job(`job ${moved}`)]);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  // The last of them waits in the new partition for all others to be worked off.
  const former = await take(broker, "old", moved - 1);
  const names = Array.from(former.slice(2), (_, i) => `job ${i + 2}`);
  assert.deepEqual(former.map(textOf), ["one", "two", ...names]);
  assert.deepEqual(await broker.lease("old", { max: 1, wait: 200 }), []);
  await broker.ack(former.map(({ lease }) => ({ lease })));
  assert.match(await moving, /^old is in partition 3/);
  const last = await take(broker, "old", 1);
  assert.match(last[0]!.id, /^3-/);
  await broker.giveBack(last.map(({ lease }) => lease));
  const nowhere = await runSluice([...move, "4", ...at]);
  assert.match(nowhere.err, /to must be a partition from 0 to 3, got 4/);
  const refused = await runSluice([...grow, "3", ...at]);
  assert.match(refused.err, /the cluster has 4 partitions, and partitions cannot be removed/);
  const dir = join(newDir(), "backup");
  await sluice("cluster", "backup", dir, ...at);
  const again = [...at, "--cluster-name", "again"];
  await sluice("cluster", "restore", dir, ...again);
  const restored = (await (await spawnServe(t, again)).connect()).broker;
  const [later] = await addAll(restored, "old", [job("later")]);
  assert.match(later!, /^3-/);
  const all = [...last.map(textOf), "later"];
  assert.deepEqual((await take(restored, "old", all.length)).map(textOf), all);
  assert.deepEqual((await take(restored, "q0", 1)).map(textOf), ["one"]);
});
