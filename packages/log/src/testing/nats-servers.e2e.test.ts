import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";

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
