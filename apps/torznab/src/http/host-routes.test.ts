import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";

test("indexers of one host share its limits, and the forecast says so", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  const host = new URL(server.url).host;
  for (const id of ["a", "b"]) await app.add(server, id);
  const windows = [{ limit: 3, per: "day" }];
  const set = await app.call(`PUT /hosts/${host}`, { windows, concurrency: 1 });
  assert.equal(set.status, 200, JSON.stringify(set.body));
  assert.deepEqual(set.body.indexers, ["a", "b"]);
  // Caps and search of one of them, then the caps of the other: the day is used up.
  assert.equal((await app.call("GET /api/a?t=search&q=release")).status, 200);
  await app.call("POST /indexers/b/test");
  const refused = await app.call("GET /api/b?t=search&q=release");
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get("retry-after")) > 80_000);
  assert.equal(server.requests.length, 3);
  const { body } = await app.call("POST /forecast", { q: "other", indexers: ["b"] });
  assert.equal(body.indexers[0].goes, "rate_limited");
  assert.match(body.indexers[0].reason, /all 3 requests.*shared by all indexers of its host/);
  const budget = (await app.call("GET /indexers/b/budget")).body;
  assert.deepEqual([budget.host.name, budget.host.windows[0].left], [host, 0]);
  const listed = (await app.call("GET /hosts")).body.hosts[0];
  assert.deepEqual([listed.host, listed.windows[0].used], [host, 3]);
});

test("an indexer that names another host shares the limits of that one", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 1) });
  await app.add(server, "a", { host: "Tracker.Example" });
  await app.call("PUT /hosts/tracker.example", { windows: [{ limit: 1, per: "hour" }] });
  await app.call("POST /indexers/a/test");
  assert.equal((await app.call("GET /api/a?t=search&q=release")).status, 429);
  assert.equal((await app.call("DELETE /hosts/tracker.example")).status, 204);
  assert.equal((await app.call("GET /api/a?t=search&q=release")).status, 200);
});

test("a host that is refused names the field, and one of the file stays as it is", async (t) => {
  const hosts = [{ host: "file.example", limits: { concurrency: 2 } }];
  const app = await start(t, { settings: { hosts } });
  const message = async (line: string, body?: object) => {
    const { status, body: answer } = await app.call(line, body);
    return `${status} ${answer.error.message}`;
  };
  assert.match(await message("PUT /hosts/a", {}), /^400 limits must be given a limit/);
  assert.match(await message("PUT /hosts/a%20b", { concurrency: 1 }), /^400 host must be a host/);
  assert.match(await message("PUT /hosts/a", { concurrency: 0 }), /^400 limits.concurrency must/);
  assert.match(await message("PUT /hosts/a", { rate: 1 }), /^400 limits.rate is not a known field/);
  assert.match(await message("PUT /hosts/file.example", { concurrency: 1 }), /^409.*settings file/);
  assert.match(await message("DELETE /hosts/none.example"), /^404 no limits are set for host none/);
});
