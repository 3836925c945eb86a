import { after, before } from "node:test";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import { conformsOn } from "./testing/conforms-on.ts";

let servers: NatsServers;
let connection: Awaited<ReturnType<typeof connectNats>>;

before(async () => {
  servers = await NatsServers.start();
  connection = await connectNats(servers.urls);
});
after(async () => {
  await connection?.close();
  await servers?.stop();
});

conformsOn("NATS", (stream, segments) => NatsLog.open({ connection, stream, ...segments }));
