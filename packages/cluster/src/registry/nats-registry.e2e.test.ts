import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import { SystemClock } from "@sluice/protocol";
import { NatsHeartbeats } from "../heartbeats/nats-heartbeats.ts";
import { Ownership } from "../node/ownership.ts";
import { keepTrying } from "../within.ts";
import { testRegistry } from "./conformance.ts";
import { NatsRegistry } from "./nats-registry.ts";

for (const count of [1, 3]) {
  let servers: NatsServers;
  let connection: NatsConnection;
  let buckets = 0;

  before(async () => {
    servers = await NatsServers.start({ count });
    connection = await connectNats(servers.urls);
  });
  after(async () => {
    await connection?.close();
    await servers?.stop();
  });

  testRegistry(`NATS, ${count} servers,`, async () => {
    const bucket = `registry-${++buckets}`;
    return { open: () => NatsRegistry.open({ connection, bucket, create: true }) };
  });
}

test("entries outlive their servers, and a watcher continues where it stopped", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  try {
    const registry = await NatsRegistry.open({ connection, bucket: "nodes", create: true });
    const revision = await registry.create("node.a", "1");
    const values: (string | undefined)[] = [];
    let tell = (): void => {};
    const heard = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await registry.watch(["node."], ({ value }) => {
      values.push(value);
      if (value === "2") tell();
    });
    await servers.kill(0);
    await assert.rejects(registry.get("node.a"), { code: "DISCONNECTED" });
    await servers.restart(0);
    await servers.ready();
    const again = await connectNats(servers.urls);
    const other = await NatsRegistry.open({ connection: again, bucket: "nodes" });
    assert.deepEqual(await other.get("node.a"), { value: "1", revision });
    await other.update("node.a", "2", revision);
    await heard;
    assert.deepEqual(values, ["1", "2"]);
    await again.close();
  } finally {
    await connection.close();
    await servers.stop();
  }
});

const NO_HOST = {
  warm: async () => {},
  cool: () => {},
  open: async () => {},
  rest: () => {},
  resume: () => {},
  close: async () => {},
  prove: async () => {},
  anchorOf: () => undefined,
};
/** A lease is 3 s; the library itself would notice after a minute and more. */
const HEARD_MS_MAX = 10_000;

test("a node whose NATS server is gone for good hears on by another", async () => {
  const servers = await NatsServers.start({ count: 3 });
  const connection = await connectNats(servers.urls);
  const clock = new SystemClock();
  const heard = new Map<string, () => void>();
  const open = () => NatsRegistry.open({ connection, bucket: "nodes", create: true });
  const registry = await keepTrying(clock, 30_000, open);
  const ownership = new Ownership({
    registry,
    heartbeats: new NatsHeartbeats(connection, "nodes"),
    watched: ["queue."],
    clock,
    node: "a",
    incarnation: "a1",
    address: "http://a",
    version: "test",
    partitions: 1,
    host: NO_HOST,
    onEntry: ({ key }) => heard.get(key)?.(),
  });
  const other = await connectNats(servers.urls);
  try {
    const writer = await NatsRegistry.open({ connection: other, bucket: "nodes" });
    await ownership.start();
    const manager = await jetstreamManager(connection);
    const [consumer] = await manager.consumers.list("KV_nodes").next();
    const host = [0, 1, 2].find((index) => servers.nameOf(index) === consumer?.cluster?.leader);
    assert.ok(host !== undefined);
    await servers.kill(host);
    const isHeard = new Promise<void>((resolve) => heard.set("queue.x", resolve));
    await keepTrying(clock, 30_000, () => writer.create("queue.x", "1"));
    const since = performance.now();
    await isHeard;
    const ms = performance.now() - since;
    assert.ok(ms < HEARD_MS_MAX, `heard after ${ms} ms`);
  } finally {
    ownership.stop();
    await connection.close();
    await other.close();
    await servers.stop();
  }
});
