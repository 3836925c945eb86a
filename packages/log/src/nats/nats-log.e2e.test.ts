import { after, before } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { NatsServers } from "@sluice/log/testing";
import { CONFORMANCE_SEGMENT_BYTES, testLog } from "../conformance.ts";
import { connectNats } from "./connect.ts";
import { NatsLog } from "./nats-log.ts";

for (const count of [1, 3]) {
  let servers: NatsServers;
  let connection: NatsConnection;
  let streams = 0;

  before(async () => {
    servers = await NatsServers.start({ count });
    connection = await connectNats(servers.urls);
  });
  after(async () => {
    await connection?.close();
    await servers?.stop();
  });

  testLog(`NATS, ${count} servers,`, async () => {
    const stream = `conformance-${++streams}`;
    const segmentBytes = CONFORMANCE_SEGMENT_BYTES;
    return {
      open: () => NatsLog.open({ connection, stream, segmentBytes }),
      destroy: async () => {},
    };
  });
}
