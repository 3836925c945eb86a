import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import { NatsServers } from "./nats-servers.ts";

const END_MS_MAX = 60_000;

test("a process that leaves its servers behind ends, and can connect before it does", async () => {
  const script = `
    import { connectNats } from "@sluice/log/nats";
    import { NatsServers } from "@sluice/log/testing";
    const servers = await NatsServers.start();
    await (await connectNats(servers.urls)).close();
    console.log("connected");
  `;
  const args = ["--input-type=module", "--eval", script];
  const options = { cwd: import.meta.dirname, timeout: END_MS_MAX };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  assert.equal(stdout, "connected\n");
});

test("a server that cannot start is named at once, with what it said", async () => {
  const address = "127.0.0.77";
  const other = createServer();
  other.listen(4222, address);
  await once(other, "listening");
  const starting = NatsServers.start({ hosts: [{ address, command: [] }] });
  await assert.rejects(starting, /n1 has ended with 1: .*already in use/);
  other.close();
});
