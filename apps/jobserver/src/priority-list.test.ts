import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { serveHttp } from "@sluice/server/testing/loopback";
import { Sluice } from "sluice";
import { type Config, readConfig } from "./config.ts";
import type { Log } from "./log.ts";
import { PriorityList } from "./priority-list.ts";
import { Submitters } from "./submitters.ts";

interface Bench {
  readonly list: PriorityList;
  readonly submitters: Submitters;
  readonly said: string[];
}

function open(t: TestContext, sluice: Sluice, env: Record<string, string>): Bench {
  const config: Config = readConfig(env);
  const submitters = new Submitters(
    config.match,
    config.tiers.map(({ name }) => name),
  );
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const list = new PriorityList(config, submitters, sluice.store("list"), log);
  t.after(() => list.stop());
  return { list, submitters, said };
}

async function memory(t: TestContext): Promise<Sluice> {
  const sluice = await Sluice.open({ durability: "memory" });
  t.after(() => sluice.close());
  return sluice;
}

const ENDPOINT = "EXTERNAL_WORKER_ID_PRIORITY_ENDPOINT";

test("a list is fetched, applied and reported", async (t) => {
  const url = await serveHttp(t, (_request, response) => response.end('{"workers":["a","b"]}'));
  const { list, submitters, said } = open(t, await memory(t), { [ENDPOINT]: url });
  await list.start();
  await list.refresh();
  assert.equal(submitters.tierOf("b"), 0);
  const { size, source, last_refresh, last_error } = list.status;
  assert.deepEqual({ size, source, last_error }, { size: 2, source: "endpoint", last_error: null });
  assert.ok(Date.now() - Date.parse(last_refresh!) < 60_000);
  assert.ok(said.includes("Priority list updated with 2 workers from external endpoint"));
});

const BAD: readonly [what: string, status: number, body: string, error: RegExp][] = [
  ["HTML", 200, "<html></html>", /not JSON/],
  ["nothing", 200, "", /not JSON/],
  ["{}", 200, "{}", /"workers"/],
  ["null", 200, "null", /"workers"/],
  ["workers that are no array", 200, '{"workers":"a"}', /"workers"/],
  ["a number among them", 200, '{"workers":["a",7]}', /workers\[1\]/],
  ["an empty name", 200, '{"workers":[""]}', /workers\[0\]/],
  ["an unknown tier", 200, '{"workers":[{"id":"a","tier":"vip"}]}', /tier must be one of/],
  ["too many", 200, JSON.stringify({ workers: Array(50_001).fill("a") }), /50001 workers/],
  ["a million ids", 200, `{"workers":[${'"a123",'.repeat(1_000_000)}"a"]}`, /bytes/],
  ["an error", 500, '{"workers":[]}', /answered 500/],
  ["a redirect to a private address", 302, "", /not a public address|not called/],
];
for (const [what, status, body, error] of BAD) {
  test(`${what}: the last good list stays, and the error is seen`, async (t) => {
    let isGood = true;
    const url = await serveHttp(t, (_request, response) => {
      if (isGood) response.end('{"workers":["a"]}');
      else response.writeHead(status, { location: "http://127.0.0.1:1/" }).end(body);
    });
    const { list, submitters } = open(t, await memory(t), { [ENDPOINT]: url });
    await list.start();
    await list.refresh();
    isGood = false;
    await list.refresh();
    assert.match(list.status.last_error ?? "", error);
    assert.equal(submitters.tierOf("a"), 0);
    assert.equal(list.status.source, "endpoint");
    isGood = true;
    await list.refresh();
    assert.equal(list.status.last_error, null);
  });
}

test("the last good list is there after a restart, though the endpoint is gone", async (t) => {
  const sluice = await memory(t);
  let isUp = true;
  const workers = Array.from({ length: 20_000 }, (_, i) => `https://10.0.0.1:${i}`);
  const url = await serveHttp(t, (request, response) => {
    if (isUp) response.end(JSON.stringify({ workers }));
    else request.destroy();
  });
  const first = open(t, sluice, { [ENDPOINT]: url });
  await first.list.start();
  await first.list.refresh();
  isUp = false;
  const second = open(t, sluice, { [ENDPOINT]: url });
  await second.list.start();
  assert.equal(second.submitters.tierOf("https://10.0.0.1:19999"), 0);
  assert.equal(second.list.status.source, "disk");
  const other = open(t, sluice, { [ENDPOINT]: `${url}/other` });
  await other.list.start();
  assert.equal(other.list.status.size, 0, "another endpoint's list is not taken over");
});

test("a kept list with a removed tier still gives priority, and is fetched again", async (t) => {
  const sluice = await memory(t);
  const asked: (string | undefined)[] = [];
  const url = await serveHttp(t, (request, response) => {
    asked.push(request.headers["if-none-match"]);
    response.writeHead(200, { etag: '"1"' }).end('{"workers":[{"id":"a","tier":"vip"}]}');
  });
  const PRIORITY_TIERS = "vip:1,fast:1,slow:1";
  const before = open(t, sluice, { [ENDPOINT]: url, PRIORITY_TIERS });
  await before.list.start();
  await before.list.refresh();
  assert.equal(before.submitters.tierOf("a"), 0);
  const after = open(t, sluice, { [ENDPOINT]: url, PRIORITY_TIERS: "best:1,fast:1,slow:1" });
  await after.list.start();
  await after.list.refresh();
  assert.equal(asked.at(-1), undefined);
  assert.equal(after.submitters.tierOf("a"), 1);
  assert.match(after.list.status.last_error ?? "", /tier must be one of/);
});

test("an unchanged list is not sent again", async (t) => {
  const asked: (string | undefined)[] = [];
  const url = await serveHttp(t, (request, response) => {
    asked.push(request.headers["if-none-match"]);
    if (asked.at(-1) === '"1"') response.writeHead(304).end();
    else response.writeHead(200, { etag: '"1"' }).end('{"workers":["a"]}');
  });
  const { list } = open(t, await memory(t), { [ENDPOINT]: url });
  await list.start();
  await list.refresh();
  await list.refresh();
  assert.equal(asked.at(-1), '"1"');
  assert.equal(list.status.size, 1);
  assert.equal(list.status.last_error, null);
});

test("without an endpoint the list is what was configured, and empty otherwise", async (t) => {
  const sluice = await memory(t);
  const none = open(t, sluice, {});
  await none.list.start();
  assert.deepEqual(none.list.status.source, "none");
  assert.equal(none.submitters.tierOf("worker-001"), 1, "strangers have no priority");
  const fixed = open(t, sluice, { PRIORITY_WORKER_IDS: "x,y" });
  await fixed.list.start();
  assert.equal(fixed.submitters.tierOf("y"), 0);
  assert.equal(fixed.list.status.source, "static");
  const dummy = open(t, sluice, { PRIORITY_DUMMY_DATA: "true" });
  await dummy.list.start();
  assert.equal(dummy.submitters.tierOf("worker-fast-lane-1"), 0);
  assert.equal(dummy.list.status.size, 8);
});

test("an endpoint that does not answer holds nothing up", async (t) => {
  const url = await serveHttp(t, () => undefined);
  const { list } = open(t, await memory(t), { [ENDPOINT]: url, PRIORITY_WORKER_IDS: "x" });
  await list.start();
  assert.equal(list.status.size, 1);
  await list.stop();
});
