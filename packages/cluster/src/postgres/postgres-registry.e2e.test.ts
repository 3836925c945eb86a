import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { PostgresServer } from "@sluice/log/testing/postgres";
import { testHeartbeats } from "../heartbeats/conformance.ts";
import { testRegistry } from "../registry/conformance.ts";
import type { Registry } from "../registry/registry.ts";
import { Notices, Statements } from "./notices.ts";
import { PostgresHeartbeats } from "./postgres-heartbeats.ts";
import { PostgresRegistry } from "./postgres-registry.ts";
import { createRegistryTables } from "./schema.ts";

let server: PostgresServer;
let clusters = 0;
const closing: (() => Promise<void>)[] = [];

before(async () => {
  server = await PostgresServer.start();
  const statements = new Statements({ url: server.url, name: "test" }, "setup");
  await statements.run(createRegistryTables);
  await statements.run(createRegistryTables);
  await statements.close();
});
after(async () => {
  for (const close of closing) await close();
  await server?.stop();
});

function open(cluster: string): { registry: Registry; notices: Notices } {
  const options = { url: server.url, name: cluster };
  const [statements, notices] = [new Statements(options, "registry"), new Notices(options)];
  closing.push(
    () => statements.close(),
    () => notices.close(),
  );
  return { registry: new PostgresRegistry(statements, notices, cluster), notices };
}

testRegistry("PostgreSQL", async () => {
  const cluster = `registry-${++clusters}`;
  return { open: async () => open(cluster).registry };
});

testHeartbeats("PostgreSQL", async () => {
  const cluster = `beats-${++clusters}`;
  return async () => new PostgresHeartbeats(open(cluster).notices, cluster);
});

test("a beat that is longer than a notice arrives whole", async () => {
  const { notices } = open("long");
  const beats = new PostgresHeartbeats(notices, "long");
  const heard = Promise.withResolvers<string>();
  await beats.listen(heard.resolve);
  const beat = `${"é€".repeat(8000)} ${"x".repeat(9000)}\nend`;
  await beats.send(beat);
  assert.equal(await heard.promise, beat);
});

test("a watch tells what changed while its connection was away", async () => {
  const [one, other] = [open("cut").registry, open("cut").registry];
  const kept = await one.create("node.kept", "1");
  const gone = await one.create("node.gone", "1");
  const told = new EventTarget();
  const seen = new Map<string, string | undefined>();
  await other.watch(["node."], ({ key, value }) => {
    seen.set(key, value);
    told.dispatchEvent(new Event("told"));
  });
  const until = async (isTrue: () => boolean): Promise<void> => {
    while (!isTrue()) await once(told, "told");
  };
  await server.end("SIGQUIT");
  await server.restart();
  const again = async <T>(act: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        assert.equal((error as { code?: string }).code, "DISCONNECTED");
      }
    }
  };
  await again(() => one.get("node.kept"));
  await one.update("node.kept", "2", kept);
  await one.delete("node.gone", gone);
  await until(() => seen.get("node.kept") === "2" && seen.get("node.gone") === undefined);
});
