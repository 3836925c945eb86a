import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
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
    return { open: () => NatsRegistry.open({ connection, bucket }) };
  });
}

test("entries outlive their servers, and a watcher goes on where it was", async () => {
  const servers = await NatsServers.start();
  const connection = await connectNats(servers.urls);
  try {
    const registry = await NatsRegistry.open({ connection, bucket: "nodes" });
    const revision = await registry.create("node.a", "1");
    const values: (string | undefined)[] = [];
    let tell = (): void => {};
    const heard = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await registry.watch("node.", ({ value }) => {
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
