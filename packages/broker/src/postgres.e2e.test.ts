import { after, before } from "node:test";
import { PostgresLog } from "@sluice/log/postgres";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { conformsOn } from "./testing/conforms-on.ts";

let server: PostgresServer;

before(async () => {
  // A case that ends in a crash leaves the connections of its first broker open.
  server = await PostgresServer.start({ max_connections: "1000" });
});
after(() => server?.stop());

conformsOn("PostgreSQL", (name, segments) => {
  return PostgresLog.open({ url: server.url, name, exclusive: false, ...segments });
});
