import { after, before } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { connectNats } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import { testHeartbeats } from "./conformance.ts";
import { NatsHeartbeats } from "./nats-heartbeats.ts";

let servers: NatsServers;
const connections: NatsConnection[] = [];
let clusters = 0;

before(async () => {
  servers = await NatsServers.start();
});
after(async () => {
  for (const connection of connections) await connection.close();
  await servers?.stop();
});

testHeartbeats("NATS", async () => {
  const cluster = `beats-${++clusters}`;
  return async () => {
    const connection = await connectNats(servers.urls);
    connections.push(connection);
    return new NatsHeartbeats(connection, cluster);
  };
});
