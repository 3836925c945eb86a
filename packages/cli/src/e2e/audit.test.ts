import assert from "node:assert/strict";
import { test } from "node:test";
import { newDir, runSluice, spawnServe } from "../testing/spawn-serve.ts";

test("the audit log tells what was done by the command line, also after a kill", async (t) => {
  const dir = newDir();
  const words = ["--durability", "fsync", "--keys"];
  const server = await spawnServe(t, words, dir);
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: server.key! };
  await runSluice(["queue", "set", "mail", "lease=10s"], env);
  await runSluice(["add", "mail", '{"card":"4111"}'], env);
  await runSluice(["queue", "purge", "mail", "--yes"], env);
  await server.end("SIGKILL");
  const again = await spawnServe(t, words, dir);
  const read = { SLUICE_URL: again.address, SLUICE_API_KEY: server.key! };
  const { out } = await runSluice(["audit", "--json"], read);
  const entries = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    entries.map(({ name, via, action, on }) => [name, via, action, on]).toReversed(),
    [
      ["first", "command", "setQueue", "mail"],
      ["first", "command", "add", "mail"],
      ["first", "command", "purge", "mail"],
    ],
  );
  assert.doesNotMatch(out, /4111/);
  const shown = await runSluice(["audit", "--search", "purge"], read);
  assert.match(shown.out, /first +command +purge +mail/);
});
