import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkerInfo } from "@sluice/protocol";
import { payload, start } from "../testing/start.ts";

test("workers of all queues are listed and searched, busiest first", async (t) => {
  const { broker, call } = await start(t);
  for (const queue of ["mail", "orders", "idle"]) await broker.setQueue(queue, {});
  await broker.add("orders", [{ payload }, { payload }]);
  const place = { host: "web-1", process: 4711, version: "0.1.0" };
  await broker.consume("mail", { worker: "sender-1", credits: 3, place }, () => {});
  await broker.lease("orders", { max: 2, worker: "packer-1" });
  const { items, total } = (await call("GET /v1/workers")).body;
  assert.deepEqual(
    items.map(({ name, queue, free, running }: WorkerInfo) => [name, queue, free, running]),
    [
      ["packer-1", "orders", 0, 2],
      ["sender-1", "mail", 3, 0],
    ],
  );
  assert.equal(total, 2);
  const [packer, sender] = items;
  assert.deepEqual([packer.place, packer.since], [undefined, undefined]);
  assert.deepEqual([sender.place, typeof sender.since], [place, "number"]);
  assert.equal(packer.jobs, undefined, "they were not asked for");
  const held = (await call("GET /v1/workers?jobs=1")).body.items;
  assert.deepEqual(
    held.map(({ jobs }: WorkerInfo) => jobs?.map(({ since }) => typeof since)),
    [["number"], []],
  );
  const ofQueue = (await call("GET /v1/queues/orders/workers?jobs=100")).body;
  assert.equal(ofQueue.items[0].jobs.length, 2);
  assert.equal((await call("GET /v1/workers?jobs=21")).status, 400);
  const found = (await call("GET /v1/workers?search=MAIL")).body.items;
  assert.deepEqual(
    found.map(({ name }: WorkerInfo) => name),
    ["sender-1"],
  );
});
