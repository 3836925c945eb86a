import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, type Overview, type OverviewItem, SystemClock } from "@sluice/protocol";
import { QueueHistories } from "../history/queue-histories.ts";
import { memoryBroker, payload, start } from "../testing/start.ts";
import { type OverviewQuery, readOverview } from "./overview.ts";

const CLOCK = new SystemClock();

/** The overview of a broker whose figures nothing has noted yet, or as this history has them. */
function look(
  broker: Broker,
  query: OverviewQuery = {},
  history = new QueueHistories(),
): Promise<Overview> {
  return readOverview(broker, history, query, CLOCK);
}

const of = (items: readonly OverviewItem[], name: string): OverviewItem =>
  items.find((item) => item.name === name)!;

test("a stalled queue shows the reason; queues that need attention come first", async (t) => {
  const broker = await memoryBroker(t, "idle", "stuck", "gated", "stopped");
  await broker.setQueue("stopped", { paused: true });
  await broker.cooldown("smtp", 60_000, "429 from the provider");
  await broker.add("stuck", [{ payload }]);
  await broker.add("stopped", [{ payload }]);
  await broker.add("gated", [{ payload, gates: ["smtp"] }]);
  const consumer = await broker.consume("gated", { worker: "w", credits: 1 }, () => {});
  const before = Date.now();
  const { items } = await look(broker);
  assert.deepEqual(
    items.map(({ name, standing }) => [name, standing?.reason]),
    [
      ["stuck", "no-workers"],
      ["gated", "gated"],
      ["stopped", "paused"],
      ["idle", undefined],
    ],
  );
  const { gates, ...rest } = of(items, "gated").standing!;
  assert.deepEqual(rest, { reason: "gated", gatesTotal: 1 });
  const { until, ...gate } = gates![0]!;
  const note = "429 from the provider";
  assert.deepEqual(gate, { gate: "smtp", part: "cooldown", note, lanes: 1 });
  assert.ok(until! > before + 50_000 && until! < before + 70_000, "as wall-clock time");
  assert.ok(of(items, "stuck").oldestAt! <= Date.now());
  assert.equal(of(items, "idle").oldestAt, undefined);
  await consumer.stop();
});

test("lists all gates that block a queue, the one that blocks most lanes first", async (t) => {
  const broker = await memoryBroker(t, "q");
  await broker.setGate("shut", { rate: 0 });
  await broker.cooldown("first", 60_000, "429");
  await broker.add("q", [{ payload, fairnessKey: "a", gates: ["first"] }]);
  for (const fairnessKey of ["b", "c"]) {
    await broker.add("q", [{ payload, fairnessKey, gates: ["shut"] }]);
  }
  const consumer = await broker.consume("q", { worker: "w", credits: 1 }, () => {});
  const { items } = await look(broker);
  const { gates, gatesTotal } = of(items, "q").standing!;
  assert.equal(gatesTotal, 2);
  assert.deepEqual(gates?.[0], { gate: "shut", part: "rate", lanes: 2 }, "closed: no end is known");
  assert.deepEqual([gates?.[1]?.gate, gates?.[1]?.part], ["first", "cooldown"]);
  await consumer.stop();
});

/** Two moments, a second apart, in which this was counted. */
async function moments(broker: Broker, work: () => Promise<void>): Promise<QueueHistories> {
  const history = new QueueHistories();
  history.record(1_000, (await broker.queues()).items, []);
  await work();
  history.record(2_000, (await broker.queues()).items, []);
  return history;
}

test("a queue whose jobs all fail says so, whether workers poll or stay", async (t) => {
  const broker = await memoryBroker(t);
  await broker.setQueue("q", { retry: { attempts: 9, min: 0, max: 0, jitter: 0 } });
  await broker.add("q", [{ payload }]);
  const history = await moments(broker, async () => {
    const [job] = await broker.lease("q", { max: 1 });
    await broker.nack([{ lease: job!.lease, error: "boom" }]);
  });
  assert.deepEqual(of((await look(broker, {}, history)).items, "q").standing, {
    reason: "failing",
  });
});

test("a queue that has as many running as may says so", async (t) => {
  const broker = await memoryBroker(t);
  await broker.setQueue("q", { capacity: { running: 1 } });
  await broker.add("q", [{ payload }, { payload }]);
  const consumer = await broker.consume("q", { worker: "w", credits: 5 }, () => {});
  const history = await moments(broker, async () => undefined);
  const { items } = await look(broker, {}, history);
  assert.deepEqual(of(items, "q").standing, { reason: "capacity", limit: 1 });
  const { oldest } = (await broker.stats({ queues: ["q"], oldest: true })).queues[0]!;
  const why = await broker.why(oldest!.id);
  assert.equal("reason" in why && why.reason, "capacity");
  await consumer.stop();
});

test("a queue with nothing due tells when the next job is", async (t) => {
  const broker = await memoryBroker(t, "q");
  await broker.add("q", [
    { payload, delayMs: 90_000 },
    { payload, delayMs: 60_000 },
  ]);
  const { items } = await look(broker);
  const { reason, until } = of(items, "q").standing!;
  assert.equal(reason, "delayed");
  assert.ok(Math.abs(until! - Date.now() - 60_000) < 10_000);
});

test("a queue whose workers poll has workers between two polls", async (t) => {
  const broker = await memoryBroker(t, "q");
  await broker.add("q", [{ payload }, { payload }]);
  const history = await moments(broker, async () => {
    const [job] = await broker.lease("q", { max: 1 });
    await broker.ack([{ lease: job!.lease }]);
  });
  assert.equal(of((await look(broker, {}, history)).items, "q").standing, undefined);
  history.record(3_000, (await broker.queues()).items, []);
  const later = of((await look(broker, {}, history)).items, "q");
  assert.deepEqual(later.standing, { reason: "no-workers" });
});

test("reports that all workers are busy when no job ends", async (t) => {
  const broker = await memoryBroker(t);
  await broker.setQueue("q", { retry: { attempts: 1 } });
  await broker.add("q", [{ payload }, { payload }, { payload }]);
  const [job] = await broker.lease("q", { max: 1 });
  await broker.nack([{ lease: job!.lease, error: "boom" }]);
  await broker.lease("q", { max: 1 });
  const history = new QueueHistories();
  for (const now of [1_000, 2_000]) history.record(now, (await broker.queues()).items, []);
  const { items } = await look(broker, {}, history);
  assert.deepEqual(of(items, "q").standing, { reason: "busy" });
  assert.deepEqual([of(items, "q").deadLetters, of(items, "q").dlq], [1, "q.dlq"]);
  assert.deepEqual(of(items, "q.dlq").standing, { reason: "dead-letters" });
  assert.deepEqual(
    [of(items, "q").isDeadLetters, of(items, "q.dlq").isDeadLetters],
    [undefined, true],
  );
});

test("1,000 queues come a page at a time, searched and sorted here", async (t) => {
  const broker = await memoryBroker(t);
  for (let i = 0; i < 1_000; i++) await broker.setQueue(`q${String(i).padStart(3, "0")}`, {});
  await broker.add("q700", [{ payload }]);
  const history = new QueueHistories();
  const seen = new Set<string>();
  let cursor: number | undefined = 0;
  while (cursor !== undefined) {
    const page = await look(broker, { sort: "name", limit: 100, cursor }, history);
    assert.ok(page.items.length <= 100);
    assert.equal(page.total, 1_000);
    for (const { name } of page.items) seen.add(name);
    cursor = page.cursor === undefined ? undefined : Number(page.cursor);
  }
  assert.equal(seen.size, 1_000);
  const deepest = await look(broker, { sort: "waiting", limit: 1 }, history);
  assert.equal(deepest.items[0]?.name, "q700");
  const found = await look(broker, { search: "Q77" }, history);
  assert.equal(found.total, 10);
  const one = await look(broker, { queue: "q77" }, history);
  assert.equal(one.total, 0, "the whole name, not a part of it");
});

test("lines come with a new moment and are left out until the next", async (t) => {
  const broker = await memoryBroker(t, "q");
  const history = new QueueHistories();
  history.record(0, (await broker.queues()).items, []);
  const first = await look(broker, {}, history);
  assert.equal(first.items[0]?.sparks?.waiting.at(-1), 0);
  const again = await look(broker, { tick: first.tick }, history);
  assert.equal(again.items[0]?.sparks, undefined);
});

test("a key with access to some queues sees only those", async (t) => {
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
  assert.deepEqual([body.totals.queues, body.totals.attention], [1, 0]);
  const { status } = await call("GET /v1/queues/secret/history", { key: made.body.key });
  assert.equal(status, 403);
});
