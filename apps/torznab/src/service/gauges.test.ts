import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { sampleItems } from "../testing/indexer-server.ts";
import { openIndexer, start } from "../testing/start.ts";

test("metrics tell budgets, cooldowns, latency and what waits, by indexer", async (t) => {
  const app = await start(t);
  const server = await openIndexer(t, { items: sampleItems("a", 2) });
  const windows = [{ limit: 10, per: "hour" }];
  await app.add(server, "a", { windows, grabs: [{ limit: 3, per: "day" }] });
  await app.add(server, "idle", { enabled: false });
  await app.call("GET /api/a?t=search&q=release");
  await app.service.parts.sluice.gate("indexer:a").cooldown("10m", "a test");
  const { body } = await app.call("GET /metrics");
  for (const line of [
    'torznab_indexer_usable{indexer="a"} 1',
    'torznab_indexer_usable{indexer="idle"} 0',
    'torznab_indexer_budget_left{indexer="a",budget="query",per="3600s"} 8',
    'torznab_indexer_budget_limit{indexer="a",budget="query",per="3600s"} 10',
    'torznab_indexer_budget_left{indexer="a",budget="grab",per="86400s"} 3',
    'torznab_request_seconds_count{indexer="a",kind="search"} 1',
    'torznab_requests_total{indexer="a",kind="search",status="ok"} 1',
    'torznab_waiting{priority="interactive"} 0',
    "torznab_running 0",
  ]) {
    assert.ok(body.includes(line), line);
  }
  const [, seconds] = /torznab_indexer_cooldown_seconds\{indexer="a"\} ([\d.]+)/.exec(body)!;
  assert.ok(Number(seconds) > 500 && Number(seconds) <= 600, seconds);
  const panels = readFileSync(new URL("../../../../deploy/grafana/torznab.json", import.meta.url));
  for (const [name] of panels.toString().matchAll(/torznab_[a-z_]+/g)) {
    assert.ok(body.includes(`\n${name}`), `the Grafana dashboard asks for ${name}`);
  }
  await app.call("DELETE /indexers/idle");
  assert.doesNotMatch((await app.call("GET /metrics")).body, /indexer="idle"/);
});
