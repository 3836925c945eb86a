import assert from "node:assert/strict";
import { test } from "node:test";
import { openBroker } from "@sluice/broker";
import { MemoryLog } from "@sluice/log";
import { History } from "../history/history.ts";
import { start } from "../testing/start.ts";
import { type OverviewItem, readOverview } from "./overview.ts";

const payload = new TextEncoder().encode("1");

async function opened(t: { after(work: () => Promise<void>): void }) {
  const broker = await openBroker({ log: new MemoryLog() });
  t.after(() => broker.close());
  return broker;
}

const of = (items: readonly OverviewItem[], name: string): OverviewItem =>
  items.find((item) => item.name === name)!;

test("a queue that stands still says why, those that need somebody come first", async (t) => {
  const broker = await opened(t);
  for (const name of ["idle", "stuck", "gated", "stopped"]) await broker.setQueue(name, {});
  await broker.setQueue("stopped", { paused: true });
  await broker.cooldown("smtp", 60_000, "429 from the provider");
  await broker.add("stuck", [{ payload }]);
  await broker.add("stopped", [{ payload }]);
  await broker.add("gated", [{ payload, gates: ["smtp"] }]);
  const consumer = await broker.consume("gated", { worker: "w", credits: 1 }, () => {});
  const before = Date.now();
  const { items } = await readOverview(broker, new History(), {});
  assert.deepEqual(
    items.map(({ name, standing }) => [name, standing?.reason]),
    [
      ["stuck", "no-workers"],
      ["gated", "gated"],
      ["stopped", "paused"],
      ["idle", undefined],
    ],
  );
  const { until, ...gate } = of(items, "gated").standing!;
  const note = "429 from the provider";
  assert.deepEqual(gate, { reason: "gated", gate: "smtp", part: "cooldown", note });
  assert.ok(until! > before + 50_000 && until! < before + 70_000, "as wall-clock time");
  assert.ok(of(items, "stuck").oldestAt! <= Date.now());
  assert.equal(of(items, "idle").oldestAt, undefined);
  await consumer.stop();
});

test("workers that are all busy are told when nothing ends", async (t) => {
  const broker = await opened(t);
  await broker.setQueue("q", { retry: { attempts: 1 } });
  await broker.add("q", [{ payload }, { payload }, { payload }]);
  const [job] = await broker.lease("q", { max: 1 });
  await broker.nack([{ lease: job!.lease, error: "boom" }]);
  await broker.lease("q", { max: 1 });
  const history = new History();
  for (const now of [1_000, 2_000]) history.record(now, await broker.queues(), []);
  const { items } = await readOverview(broker, history, {});
  assert.deepEqual(of(items, "q").standing, { reason: "busy" });
  assert.deepEqual([of(items, "q").deadLetters, of(items, "q").dlq], [1, "q.dlq"]);
  assert.deepEqual(of(items, "q.dlq").standing, { reason: "dead-letters" });
  assert.deepEqual(
    [of(items, "q").isDeadLetters, of(items, "q.dlq").isDeadLetters],
    [undefined, true],
  );
});

test("1,000 queues come a page at a time, searched and sorted here", async (t) => {
  const broker = await opened(t);
  for (let i = 0; i < 1_000; i++) await broker.setQueue(`q${String(i).padStart(3, "0")}`, {});
  await broker.add("q700", [{ payload }]);
  const history = new History();
  const seen = new Set<string>();
  let cursor: number | undefined = 0;
  while (cursor !== undefined) {
    const page = await readOverview(broker, history, { sort: "name", limit: 100, cursor });
    assert.ok(page.items.length <= 100);
    assert.equal(page.total, 1_000);
    for (const { name } of page.items) seen.add(name);
    cursor = page.cursor === undefined ? undefined : Number(page.cursor);
  }
  assert.equal(seen.size, 1_000);
  const deepest = await readOverview(broker, history, { sort: "waiting", limit: 1 });
  assert.equal(deepest.items[0]?.name, "q700");
  const found = await readOverview(broker, history, { search: "Q77" });
  assert.equal(found.total, 10);
  const one = await readOverview(broker, history, { queue: "q77" });
  assert.equal(one.total, 0, "the whole name, not a part of it");
});

test("lines come with a new moment and are left out until the next", async (t) => {
  const broker = await opened(t);
  await broker.setQueue("q", {});
  const history = new History();
  history.record(0, await broker.queues(), []);
  const first = await readOverview(broker, history, {});
  assert.equal(first.items[0]?.sparks?.waiting.at(-1), 0);
  const again = await readOverview(broker, history, { tick: first.tick });
  assert.equal(again.items[0]?.sparks, undefined);
});

test("whoever may see some queues sees those alone", async (t) => {
  const { broker, call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  for (const name of ["orders.a", "secret"]) await broker.setQueue(name, {});
  const grants = [{ action: "consume", on: "orders.*" }];
  const made = await call("POST /v1/keys", { key, body: { name: "some", grants } });
  const { body } = await call("GET /v1/overview", { key: made.body.key });
  assert.deepEqual(
    body.items.map(({ name }: OverviewItem) => name),
    ["orders.a"],
  );
  assert.equal(body.totals.queues, 1);
  const { status } = await call("GET /v1/queues/secret/history", { key: made.body.key });
  assert.equal(status, 403);
});
