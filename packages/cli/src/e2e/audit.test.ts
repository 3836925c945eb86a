import assert from "node:assert/strict";
import { test } from "node:test";
import { command } from "../testing/sluice.ts";
import { newDir, spawnServe } from "../testing/spawn-serve.ts";

test("the audit log tells what was done by the command line, also after a kill", async (t) => {
  const dir = newDir();
  const words = ["--durability", "fsync", "--keys"];
  const server = await spawnServe(t, words, dir);
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: server.key! };
  await command(["queue", "set", "mail", "lease=10s"], { env });
  await command(["add", "mail", '{"card":"4111"}'], { env });
  await command(["queue", "purge", "mail", "--yes"], { env });
  await server.end("SIGKILL");
  const again = await spawnServe(t, words, dir);
  const read = { SLUICE_URL: again.address, SLUICE_API_KEY: server.key! };
  const { text } = await command(["audit", "--json"], { env: read });
  const entries = text.split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(
    entries.map(({ name, via, action, on }) => [name, via, action, on]).toReversed(),
    [
      ["first", "command", "setQueue", "mail"],
      ["first", "command", "add", "mail"],
      ["first", "command", "purge", "mail"],
    ],
  );
  assert.doesNotMatch(text, /4111/);
  const shown = await command(["audit", "--search", "purge"], { env: read });
  assert.match(shown.text, /first +command +purge +mail/);
});
