import { after, before } from "node:test";
import { CONFORMANCE_SEGMENT_BYTES, testLog } from "../conformance.ts";
import { PostgresServer } from "../testing/postgres-server.ts";
import { PostgresLog } from "./postgres-log.ts";

let server: PostgresServer;
let logs = 0;

before(async () => {
  server = await PostgresServer.start();
});
after(() => server?.stop());

testLog("PostgreSQL", async () => {
  const name = `conformance-${++logs}`;
  const segmentBytes = CONFORMANCE_SEGMENT_BYTES;
  return {
    open: () => PostgresLog.open({ url: server.url, name, segmentBytes }),
    destroy: async () => {},
  };
});
