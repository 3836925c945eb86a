import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { openFolder } from "./testing/folder.ts";
import { sampleItems } from "./testing/indexer-server.ts";
import { ask, openIndexer } from "./testing/start.ts";
import { until } from "./testing/until.ts";

async function run(t: TestContext, dir: string): Promise<{ child: ChildProcess; address: string }> {
  const args = [join(import.meta.dirname, "main.ts"), "--dir", dir, "--listen", "0"];
  const child = spawn(process.execPath, args);
  t.after(() => child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, address] = /service on (\S+),/.exec(line) ?? [];
    if (address !== undefined) return { child, address };
  }
  throw new Error("it ended without a word");
}

test("kill -9: an answered search continues, and no window is refilled", async (t) => {
  const { dir } = await openFolder(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  const first = await run(t, dir);
  // A person waits for a tenth of the interval: two seconds after the caps.
  const windows = [{ limit: 3, per: "hour" }];
  const body = { id: "a", url: server.url, interval: "20s", windows };
  assert.equal((await ask(first.address, "POST /indexers", body)).body.test.ok, true);
  const { body: search } = await ask(first.address, "POST /search", { q: "release" });
  assert.equal(search.done, false);
  assert.equal(server.count("search"), 0);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");

  const second = await run(t, dir);
  const events = await ask(second.address, `GET /search/${search.id}/events`);
  assert.match(events.body, /event: indexer\ndata: .*"status":"ok"/);
  assert.match(events.body, /event: done/);
  assert.equal(server.count("search"), 1);
  const budget = (await ask(second.address, "GET /indexers/a/budget")).body;
  assert.deepEqual(budget.windows, [{ limit: 3, per: 3_600_000, used: 2, left: 1 }]);
});

test("kill -9 in the middle of a request: it is sent again, and both are counted", async (t) => {
  const { dir } = await openFolder(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  const first = await run(t, dir);
  const windows = [{ limit: 9, per: "hour" }];
  const body = { id: "a", url: server.url, interval: 0, windows };
  assert.equal((await ask(first.address, "POST /indexers", body)).body.test.ok, true);
  server.fault = "silent";
  const { body: search } = await ask(first.address, "POST /search", { q: "release" });
  await until(() => server.count("search") === 1);
  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  server.fault = undefined;

  const second = await run(t, dir);
  const events = await ask(second.address, `GET /search/${search.id}/events`);
  assert.match(events.body, /event: indexer\ndata: .*"status":"ok","count":2/);
  assert.match(events.body, /event: done/);
  assert.equal(server.count("search"), 2);
  const budget = (await ask(second.address, "GET /indexers/a/budget")).body;
  assert.deepEqual([budget.windows[0].used, budget.running], [3, 0]);
});
