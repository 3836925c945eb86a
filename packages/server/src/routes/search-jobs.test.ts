import assert from "node:assert/strict";
import { test } from "node:test";
import { SEARCH_JOBS_MAX } from "../limits.ts";
import { start } from "../testing/start.ts";

const payload = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

interface Page {
  items: { id: string; payload: unknown }[];
  cursor?: string;
  looked: number;
}

test("jobs are found by id, lane, error, header and payload", async (t) => {
  const { broker, call } = await start(t);
  await broker.setQueue("q", { retry: { attempts: 3, min: 60_000 } });
  await broker.add("q", [
    { payload: payload({ to: "Ann@example.org" }), fairnessKey: ["acme", "ann"] },
    { payload: payload(2), headers: { trace: "abc-123" } },
    { payload: payload(3), fairnessKey: "last" },
  ]);
  const [first] = await broker.lease("q", { max: 1, worker: "w-7" });
  const found = async (query: string): Promise<Page["items"]> =>
    (await call(`GET /v1/queues/q/jobs?${query}`)).body.items;
  assert.equal((await found("search=ann%40EXAMPLE")).length, 1);
  assert.equal((await found("search=acme%2Fann")).length, 1);
  assert.equal((await found("search=abc-12"))[0]?.payload, 2);
  assert.deepEqual((await found("worker=w-7"))[0]?.id, first!.id);
  assert.equal((await found("state=waiting&worker=w-7")).length, 0);
  await broker.nack([{ lease: first!.lease, error: "mailbox is full" }]);
  assert.equal((await found("search=Mailbox")).length, 1);
  assert.equal((await found(`search=${first!.id}`)).length, 1);
  assert.equal((await found("search=nowhere")).length, 0);
});

test("one search looks at a bounded number of jobs, and its cursor continues it", async (t) => {
  const { broker, call } = await start(t);
  await broker.setQueue("q", { capacity: { jobs: 20_000 } });
  const count = SEARCH_JOBS_MAX + 1_000;
  const jobs = Array.from({ length: count }, (_, i) => ({ payload: payload(`n${i}`) }));
  await broker.add("q", jobs);
  const last = `search=%22n${count - 1}%22&limit=50`;
  let pages = 0;
  let looked = 0;
  let cursor: string | undefined;
  const found: unknown[] = [];
  do {
    const from = cursor === undefined ? "" : `&cursor=${cursor}`;
    const page: Page = (await call(`GET /v1/queues/q/jobs?${last}${from}`)).body;
    assert.ok(page.looked <= SEARCH_JOBS_MAX + 50);
    found.push(...page.items.map((job) => job.payload));
    looked += page.looked;
    cursor = page.cursor;
    pages++;
  } while (cursor !== undefined);
  assert.deepEqual(found, [`n${count - 1}`]);
  assert.equal(looked, count);
  assert.ok(pages >= 2);
});

test("gates are searched and paged, those with a line first", async (t) => {
  const { broker, call } = await start(t);
  for (let i = 0; i < 25; i++) await broker.setGate(`tenant:${i}`, { rate: 1 });
  await broker.cooldown("tenant:7", 60_000, "shut");
  const first = (await call("GET /v1/gates?sort=waiting&limit=10&search=TENANT")).body;
  assert.equal(first.items[0].key, "tenant:7");
  assert.deepEqual([first.total, first.items.length], [25, 10]);
  const next = `/v1/gates?sort=waiting&limit=20&cursor=${encodeURIComponent(first.cursor)}`;
  const last = (await call(`GET ${next}`)).body;
  assert.deepEqual([last.items.length, last.cursor], [15, undefined]);
  assert.equal((await call("GET /v1/gates")).body.items.length, 25);
});
