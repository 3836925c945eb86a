import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Broker, LeasedJob, NewJob } from "@sluice/protocol";
import { homeOfQueue } from "../hash.ts";
import { NodeCluster, type TestNode } from "../testing/node-cluster.ts";
import { askToMove } from "./ask-to-move.ts";
import type { Placement } from "./placement.ts";
import { keyOf, RegistryDirectory } from "./registry-directory.ts";

const PARTITIONS = 2;
const QUEUE = "mail";
const HOME = homeOfQueue(QUEUE, PARTITIONS);
const TO = 1 - HOME;
const LANES = ["a", "b", "c"];

interface Scene {
  readonly cluster: NodeCluster;
  readonly nodes: readonly TestNode[];
  readonly broker: Broker;
  ask(): Promise<Placement>;
  until(what: string, holds: (placement: Placement | undefined) => boolean): Promise<void>;
}

async function open(t: TestContext): Promise<Scene> {
  const cluster = new NodeCluster(t, PARTITIONS);
  const nodes = await cluster.start("a", "b");
  const broker = await nodes[0].connect();
  const directory = new RegistryDirectory(cluster.registry, { partitions: PARTITIONS });
  const until: Scene["until"] = async (what, holds) => {
    for (const endAt = Date.now() + 20_000; ; ) {
      const found = await cluster.registry.get(keyOf(QUEUE));
      if (holds(found && JSON.parse(found.value))) return;
      if (Date.now() > endAt) throw new Error(`${what}: ${found?.value}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  return { cluster, nodes, broker, until, ask: () => askToMove(directory, QUEUE, TO) };
}

let last = 0;
async function add(broker: Broker, count: number): Promise<string[]> {
  const jobs: NewJob[] = Array.from({ length: count }, () => ({
    payload: Buffer.from(String(++last)),
    fairnessKey: LANES[last % LANES.length]!,
  }));
  const outcomes = await broker.add(QUEUE, jobs);
  return outcomes.map(({ ok }) => ok!.id);
}

const partitionOf = ({ id }: { id: string }): number => Number(id.split("-")[0]);

function checkLanes(jobs: readonly LeasedJob[]): void {
  for (const lane of LANES) {
    const own = jobs.filter(({ fairnessKey }) => String(fairnessKey) === lane);
    const order = own.map(({ payload }) => Number(Buffer.from(payload).toString()));
    assert.deepEqual(
      order,
      order.toSorted((one, other) => one - other),
      `lane ${lane}`,
    );
  }
}

/** Takes and acks until so many were taken. */
async function workOff(broker: Broker, count: number): Promise<LeasedJob[]> {
  const jobs: LeasedJob[] = [];
  while (jobs.length < count) {
    const taken = await broker.lease(QUEUE, { max: 3, wait: 5_000 });
    assert.ok(taken.length > 0, `${jobs.length} of ${count} came`);
    await broker.ack(taken.map(({ lease }) => ({ lease })));
    jobs.push(...taken);
  }
  return jobs;
}

test("a queue moves while it is used, and no lane is overtaken", async (t) => {
  const { broker, nodes, ask, until } = await open(t);
  await broker.setQueue(QUEUE, { lease: 60_000 });
  await add(broker, 20);
  const running = await broker.lease(QUEUE, { max: 2 });
  await ask();
  await until("begun", (placement) => placement?.adds?.[0] === TO);
  const direct = await nodes[1]!.connect();
  // A node hears of it in its own time; from then on new jobs are in the new partition.
  let added = 20;
  for (let isThere = false; !isThere; added++) {
    isThere = partitionOf({ id: (await add(direct, 1))[0]! }) === TO;
  }
  await add(direct, 14);
  added += 14;
  const first = await workOff(broker, 18);
  assert.ok(first.every((job) => partitionOf(job) === HOME));
  // Two of the former partition still run: nothing of the new one goes out.
  const early = await direct.lease(QUEUE, { max: 50, wait: 300 });
  assert.ok(early.every((job) => partitionOf(job) === HOME));
  await direct.ack([...running, ...early].map(({ lease }) => ({ lease })));
  const rest = await workOff(direct, added - 20 - early.length);
  checkLanes([...running, ...first, ...early, ...rest]);
  await until("moved", (placement) => placement?.to === undefined);
  assert.equal(partitionOf({ id: (await add(broker, 1))[0]! }), TO);
  // What has ended is found as before, and the queue is not spread.
  assert.equal((await broker.job(first[0]!.id)).state, "finished");
  assert.equal((await broker.queue(QUEUE)).config.spread, undefined);
});

test("a call that is repeated while its queue moves, and after, has effect once", async (t) => {
  const { broker, nodes, ask, until } = await open(t);
  await broker.setQueue(QUEUE, { lease: 60_000 });
  const jobs: NewJob[] = [{ payload: Buffer.from("once") }];
  const calls = ["mine", "numbered:relay:7"].map((operationId) => ({ operationId }));
  const first = [];
  for (const call of calls) first.push(await broker.add(QUEUE, jobs, call));
  await ask();
  await until("begun", (placement) => placement?.adds?.[0] === TO);
  const direct = await nodes[1]!.connect();
  while (partitionOf({ id: (await add(direct, 1))[0]! }) !== TO);
  for (const [i, call] of calls.entries()) {
    assert.deepEqual(await direct.add(QUEUE, jobs, call), first[i]);
  }
  const { waiting } = (await direct.queue(QUEUE)).stats;
  await workOff(direct, waiting);
  await until("moved", (placement) => placement?.to === undefined);
  for (const [i, call] of calls.entries()) {
    assert.deepEqual(await direct.add(QUEUE, jobs, call), first[i]);
  }
  const [other] = await direct.add(QUEUE, jobs, { operationId: "another" });
  assert.equal(partitionOf(other!.ok!), TO);
});

test("a queue that is paused or changed while it moves does not start early", async (t) => {
  const { broker, ask, until } = await open(t);
  await broker.setQueue(QUEUE, { paused: true });
  await add(broker, 3);
  await ask();
  await until("begun", (placement) => placement?.adds?.[0] === TO);
  await broker.setQueue(QUEUE, { lease: 7_000, paused: true });
  await broker.setQueue(QUEUE, { paused: false });
  let added = 3;
  for (let isThere = false; !isThere; added++) {
    isThere = partitionOf({ id: (await add(broker, 1))[0]! }) === TO;
  }
  const running = await broker.lease(QUEUE, { max: 1, wait: 5_000 });
  const early = await broker.lease(QUEUE, { max: 50, wait: 300 });
  assert.ok([...running, ...early].every((job) => partitionOf(job) === HOME));
  await broker.ack([...running, ...early].map(({ lease }) => ({ lease })));
  const rest = await workOff(broker, added - 1 - early.length);
  checkLanes([...running, ...early, ...rest]);
  await until("moved", (placement) => placement?.to === undefined);
  const { config } = await broker.queue(QUEUE);
  assert.deepEqual([config.paused, config.lease], [false, 7_000]);
});

test("a move continues when the node that makes it dies", async (t) => {
  const { broker, nodes, ask, until } = await open(t);
  await broker.setQueue(QUEUE, {});
  await add(broker, 6);
  await ask();
  await until("begun", (placement) => placement?.adds?.[0] === TO);
  const { partitions } = nodes[0]!.node.status();
  const owner = nodes.find(({ id }) => id === partitions[TO]!.owner)!;
  const other = nodes.find((node) => node !== owner)!;
  await owner.kill();
  const client = await other.connect();
  await add(client, 4);
  checkLanes(await workOff(client, 10));
  await until("moved", (placement) => placement?.to === undefined);
});

test("a queue that is not there does not move, and a second move waits", async (t) => {
  const { broker, cluster, ask, until } = await open(t);
  await ask();
  await until("given up", (placement) => placement !== undefined && placement.to === undefined);
  await broker.setQueue(QUEUE, { paused: true });
  await add(broker, 1);
  await ask();
  const directory = new RegistryDirectory(cluster.registry, { partitions: PARTITIONS });
  await assert.rejects(askToMove(directory, QUEUE, HOME), { code: "CONFLICT" });
  await assert.rejects(askToMove(directory, QUEUE, PARTITIONS), {
    code: "INVALID",
    message: "to must be a partition from 0 to 1, got 2",
  });
});

test("dead letters are found in the partition that a queue has moved to", async (t) => {
  const { broker, ask, until } = await open(t);
  await broker.setQueue(QUEUE, { retry: { attempts: 1 } });
  await ask();
  await until("moved", (placement) => placement?.adds !== undefined && placement.to === undefined);
  for (let isThere = false; !isThere; ) {
    isThere = partitionOf({ id: (await add(broker, 1))[0]! }) === TO;
    const [taken] = await broker.lease(QUEUE, { max: 1, wait: 5_000 });
    await broker.nack([{ lease: taken!.lease, error: "no" }]);
  }
  const letters = await broker.jobs(`${QUEUE}.dlq`, {});
  assert.ok(letters.items.some((job) => partitionOf(job) === TO));
});

test("a dead letter queue moves, and its letters stay where they are", async (t) => {
  const { broker, cluster } = await open(t);
  await broker.setQueue(QUEUE, { retry: { attempts: 1 } });
  await add(broker, 1);
  const [taken] = await broker.lease(QUEUE, { max: 1, wait: 5_000 });
  await broker.nack([{ lease: taken!.lease, error: "no" }]);
  const dlq = `${QUEUE}.dlq`;
  const [letter] = (await broker.jobs(dlq, {})).items;
  const to = 1 - partitionOf(letter!);
  const directory = new RegistryDirectory(cluster.registry, { partitions: PARTITIONS });
  await askToMove(directory, dlq, to);
  const endAt = Date.now() + 20_000;
  for (let isMoved = false; !isMoved; ) {
    assert.ok(Date.now() < endAt, "the move ends");
    const entry = await cluster.registry.get(keyOf(dlq));
    const { to: moving, adds } = JSON.parse(entry!.value) as Placement;
    isMoved = moving === undefined && adds?.[0] === to;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual((await broker.jobs(dlq, {})).items, [letter]);
  assert.equal(await broker.redrive(dlq), 1);
  assert.equal((await broker.job(letter!.id)).state, "waiting");
});
