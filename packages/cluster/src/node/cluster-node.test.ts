import assert from "node:assert/strict";
import { test } from "node:test";
import { dialWebSocket, reachBroker } from "@sluice/client/remote";
import type { Broker, NewJob } from "@sluice/protocol";
import { homeOfGate, homeOfStore } from "../hash.ts";
import { MemoryHeartbeats } from "../heartbeats/memory-heartbeats.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { FencedStore } from "../testing/fenced-log.ts";
import { NodeCluster } from "../testing/node-cluster.ts";
import { createCluster } from "./cluster-entry.ts";
import { ClusterNode } from "./cluster-node.ts";

const QUEUES = ["mail", "images", "reports", "sync", "billing", "search"];

function job(text: string): NewJob {
  return { payload: new TextEncoder().encode(text) };
}

async function makeQueues(broker: Broker): Promise<void> {
  for (const queue of QUEUES) await broker.setQueue(queue, {});
}

/** Takes everything there is and acks it; answers the payloads. */
async function workOff(broker: Broker): Promise<string[]> {
  const done: string[] = [];
  for (const queue of QUEUES) {
    for (;;) {
      const jobs = await broker.lease(queue, { max: 10 });
      if (jobs.length === 0) break;
      const outcomes = await broker.ack(jobs.map(({ lease }) => ({ lease })));
      for (const { error } of outcomes) assert.equal(error, undefined);
      for (const { payload } of jobs) done.push(new TextDecoder().decode(payload));
    }
  }
  return done.sort();
}

test("any node takes any call, whichever node owns the queue", async (t) => {
  const cluster = new NodeCluster(t);
  const [a, b] = await cluster.start("a", "b");
  const [left, right] = [await a.connect(), await b.connect()];
  await makeQueues(left);
  for (const queue of QUEUES) await right.add(queue, [job(queue)]);
  assert.deepEqual(await workOff(left), [...QUEUES].sort());
});

test("a partition that is opened takes from the homes what it has missed", async (t) => {
  const cluster = new NodeCluster(t);
  const [a] = await cluster.start("a");
  const keys = ["smtp", "push", "sms", "fax:*"];
  for (const key of keys) await a.broker.setGate(key, { concurrency: 3 });
  await a.broker.storeWrite("config", [{ key: "plan", value: "gold" }]);
  const kept = cluster.stores.findIndex((_, i) => i !== homeOfStore("config", 4));
  const lost = cluster.stores.findIndex((_, i) => i !== homeOfStore("config", 4) && i !== kept);
  await a.kill();
  // Its log starts again, empty.
  cluster.stores[lost] = new FencedStore();
  const [b] = await cluster.start("b");
  const expected = keys.filter((key) => homeOfGate(key, 4) !== lost);
  const isThere = async (): Promise<boolean> => {
    // A busy machine may lose the partition for a moment and open it again.
    const port = b.node.own().brokers[lost];
    if (port === undefined) return false;
    const gates = await Promise.all(expected.map((key) => port.gate(key)));
    const [plan] = await port.storeGet("config", ["plan"]);
    return plan === "gold" && gates.every(({ config }) => config?.concurrency === 3);
  };
  for (let tries = 0; !(await isThere()); tries++) {
    assert.ok(tries < 1_000, "it has what the homes have");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test("an owner whose appends are not answered gives its partitions up", async (t) => {
  const cluster = new NodeCluster(t);
  const [a, b] = await cluster.start("a", "b");
  const broker = await b.connect();
  await makeQueues(broker);
  for (const log of a.logs) log.isStuck = true;
  const adding = QUEUES.map((queue) => broker.add(queue, [job(queue)]));
  for (const [added] of await Promise.all(adding)) assert.equal(added?.error, undefined);
  assert.deepEqual(await workOff(broker), [...QUEUES].sort());
  const { nodes, moves } = b.node.status();
  assert.ok(
    nodes.every(({ isAlive }) => isAlive),
    "its heartbeats arrive",
  );
  const given = moves.filter(({ from, to }) => from === "a" && to === "b");
  assert.ok(given.length > 0 && given.every(({ isHandedOver }) => isHandedOver));
});

test("what was added before a drain is worked off after it, and no call fails", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = await cluster.start("a", "b", "c");
  const broker = await nodes[0]!.connect();
  await makeQueues(broker);
  const added: string[] = [];
  let isOver = false;
  const adding = (async () => {
    for (let i = 0; !isOver; i++) {
      const text = `job ${i}`;
      const [outcome] = await broker.add(QUEUES[i % QUEUES.length]!, [job(text)]);
      assert.equal(outcome?.error, undefined);
      added.push(text);
    }
  })();
  await nodes[1]!.node.drain("c");
  await cluster.settled(nodes.slice(0, 2));
  isOver = true;
  await adding;
  assert.ok(added.length > 0);
  assert.deepEqual(await workOff(broker), added.sort());
  assert.equal(nodes[2]!.node.status().nodes.find(({ id }) => id === "c")?.owned, 0);
});

test("a held job stays with its worker when the clock of the next owner is ahead", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = [await cluster.add("a"), await cluster.add("b", 7 * 60_000)];
  await cluster.settled(nodes);
  const broker = await nodes[1]!.connect();
  await makeQueues(broker);
  for (const queue of QUEUES) await broker.add(queue, [job(queue)]);
  const held = [];
  for (const queue of QUEUES) held.push(...(await broker.lease(queue, { max: 1 })));
  await nodes[1]!.node.drain("a");
  await cluster.settled(nodes.slice(1));
  assert.deepEqual(await workOff(broker), []);
  const outcomes = await broker.ack(held.map(({ lease }) => ({ lease })));
  for (const { error } of outcomes) assert.equal(error, undefined);
  assert.equal(outcomes.length, QUEUES.length);
});

test("the partitions of a killed node go on elsewhere, with all that was confirmed", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = await cluster.start("a", "b", "c");
  const broker = await nodes[0]!.connect();
  await makeQueues(broker);
  for (const queue of QUEUES) await broker.add(queue, [job(queue)]);
  await nodes[2]!.kill();
  assert.deepEqual(await workOff(broker), [...QUEUES].sort());
  const { moves } = nodes[0]!.node.status();
  assert.ok(moves.some(({ from, isHandedOver }) => from === "c" && !isHandedOver));
});

test("a log that fails closes its partition alone, and opens it again when it can", async (t) => {
  const cluster = new NodeCluster(t);
  const [a] = await cluster.start("a");
  const broker = await a.connect();
  await makeQueues(broker);
  cluster.stores[1]!.isAway = true;
  const adding = QUEUES.map((queue) => broker.add(queue, [job(queue)]));
  const isDone = await Promise.race([Promise.all(adding), wait(300)]);
  assert.equal(isDone, undefined);
  cluster.stores[1]!.isAway = false;
  await Promise.all(adding);
  assert.deepEqual(await workOff(broker), [...QUEUES].sort());
});

test("a key made on one node opens the others, and once revoked none", async (t) => {
  const cluster = new NodeCluster(t, 4, { keys: true });
  const [a, b] = await cluster.start("a", "b");
  const first = (await a.server.firstKey) ?? (await b.server.firstKey);
  assert.ok(first);
  const call = (server: { address: string }, line: string, key: string, body?: unknown) => {
    const [method, path] = line.split(" ") as [string, string];
    return fetch(`${server.address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  };
  const grants = [{ action: "admin", on: "*" }];
  const made = await (await call(a.server, "POST /v1/keys", first.key, { grants })).json();
  const { id, key } = made as { id: string; key: string };
  assert.equal((await call(b.server, "GET /v1/queues", key)).status, 200);
  assert.equal((await call(b.server, `DELETE /v1/keys/${id}`, first.key)).status, 204);
  assert.equal((await call(a.server, "GET /v1/queues", key)).status, 401);
  assert.equal((await call(b.server, "GET /v1/queues", key)).status, 401);
});

test("only one of the nodes makes the first key", async (t) => {
  const cluster = new NodeCluster(t, 4, { keys: true });
  const [a, b] = [await cluster.add("a"), await cluster.add("b")];
  const keys = [await a.server.firstKey, await b.server.firstKey];
  assert.equal(keys.filter((key) => key !== undefined).length, 1);
});

function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms));
}

test("a gate holds over queues of different nodes", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = await cluster.start("a", "b");
  const client = await nodes[0]!.connect();
  await makeQueues(client);
  await client.setGate("two", { concurrency: 2 });
  for (const queue of QUEUES) await client.add(queue, [{ ...job(queue), gates: ["two"] }]);
  const held: string[] = [];
  const poll = async (): Promise<void> => {
    for (const queue of QUEUES) {
      for (const { lease } of await client.lease(queue, { max: 1 })) held.push(lease);
    }
  };
  await poll();
  await poll();
  assert.equal(held.length, 2);
  assert.equal((await client.gate("two")).inFlight, 2);
  for (let done = 2; done < QUEUES.length; done++) {
    const [{ error }] = (await client.ack([{ lease: held.shift()! }])) as [{ error?: unknown }];
    assert.equal(error, undefined);
    while (held.length < 2) await poll();
    assert.equal(held.length, 2);
  }
});

test("what partitions say to each other is for nodes alone", async (t) => {
  const cluster = new NodeCluster(t);
  const nodes = await cluster.start("a");
  const { server } = nodes[0]!;
  const secret = await nodes[0]!.node.secret;
  const url = `${server.address}/v1/stream?partition=0`.replace("http", "ws");
  const words = { borrower: "1", life: 1, homeLife: 0, seq: 1, isAll: true, words: [], news: [] };
  const ask = async (apiKey?: string): Promise<object> => {
    const parts = { name: "a test", apiKey, patienceMs: 1_000, backoffMsMin: 10 };
    const broker = reachBroker({ ...parts, dial: () => dialWebSocket(url) });
    return broker.lend(words).finally(() => broker.close());
  };
  await assert.rejects(ask(), { code: "FORBIDDEN" });
  assert.ok("isHeard" in (await ask(secret)));
});

test("refuses to drain a node if no other node could take its partitions", async (t) => {
  const cluster = new NodeCluster(t);
  const [a, b] = await cluster.start("a", "b");
  await a.node.drain("b");
  await cluster.settled([a]);
  await assert.rejects(b.node.drain("a"), { code: "CONFLICT" });
  await assert.rejects(b.node.drain("z"), { code: "NOT_FOUND" });
  const { nodes } = a.node.status();
  assert.deepEqual(
    nodes.map(({ id, isDraining, owned }) => [id, isDraining, owned]),
    [
      ["a", false, 4],
      ["b", true, 0],
    ],
  );
  // It has nothing that anybody would have to take.
  await a.node.drain("b");
});

test("a node that is started again under its name tells another version", async (t) => {
  const cluster = new NodeCluster(t);
  const versions: string[] = [];
  for (let start = 0; start < 2; start++) {
    const [a] = await cluster.start("a");
    versions.push(a.node.status().version);
    await a.kill();
  }
  const [before, after] = versions.map((version) => version.replace(/\d+$/, ""));
  assert.notEqual(before, after);
});

test("a log may be made by the first who opens it, and must be there ever after", async (t) => {
  const cluster = new NodeCluster(t, 2);
  const [a] = await cluster.start("a");
  const b = await cluster.add("b");
  await cluster.settled([a, b]);
  await a.kill();
  await cluster.settled([b]);
  // It has read the logs of the other one along. A third node knows of none that it could follow.
  await b.kill();
  await cluster.start("c");
  assert.deepEqual(cluster.opened.slice(0, 2), [false, false]);
  assert.ok(cluster.opened.length > 2 && cluster.opened.slice(2).every((hasLog) => hasLog));
});

test("what logs keep for reading is shared by the partitions", async () => {
  for (const [partitions, mib] of [
    [4, 8],
    [64, 1],
  ] as const) {
    const shares = new Set<number>();
    const registry = new MemoryRegistry();
    await createCluster(registry, { name: "sluice", partitions });
    const node = new ClusterNode({
      registry,
      heartbeats: new MemoryHeartbeats(),
      openLog: async (_, share) => {
        shares.add(share.readCacheBytes);
        return new FencedStore().open();
      },
      dial: () => Promise.reject(new Error("there is no other node")),
      node: "a",
      version: "test",
    });
    await node.start("http://a");
    const isServed = (): boolean =>
      node.status().partitions.every(({ state }) => state === "serving");
    while (!isServed()) await new Promise((resolve) => node.onChange(() => resolve(undefined)));
    await node.close();
    assert.deepEqual([...shares], [mib * 1024 * 1024]);
  }
});
