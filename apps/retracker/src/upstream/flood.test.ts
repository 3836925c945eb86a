import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../e2e/until.ts";
import { HttpUpstream, type Said, told } from "../testing/http-upstream.ts";
import { failureIn, TestApp } from "../testing/scene.ts";

const FLOODER = "127.0.0.66";

test("completed of an unknown peer is a first announce, with all its limits", async () => {
  await using up = await HttpUpstream.open(() => new Promise(() => {}));
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: {
      forwarder_queue_size: 10,
      queue_share_per_address_pct: 50,
      forwarder_workers: 1,
      max_forwarder_workers: 1,
    },
  });
  const failures: string[] = [];
  for (let i = 0; i < 12; i++) {
    failures.push(failureIn(await scene.announce({ hash: `h${i}`, event: "completed", left: 0 })));
  }
  const statistics = await scene.retracker.statistics();
  // One runs, and five are the share of one address.
  assert.deepEqual([statistics.queue_depth, statistics.queue_fill_pct], [5, 50]);
  assert.match(failures[6]!, /^tracker queue full/);
  assert.equal(failureIn(await scene.announce({ from: "127.0.0.2" })), "");
});

test("events of known peers wait in the queue's figures", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_queue_size: 100, forwarder_workers: 1, max_forwarder_workers: 1 },
  });
  for (let i = 0; i < 11; i++) await scene.announce({ hash: `h${i}` });
  await scene.settled();
  up.answer = () => new Promise(() => {});
  for (let i = 0; i < 11; i++) await scene.announce({ hash: `h${i}`, event: "completed", left: 0 });
  const { queue_depth, queue_fill_pct } = await scene.retracker.statistics();
  assert.deepEqual([queue_depth, queue_fill_pct], [10, 10]);
});

test("a flood of events and announces of one address delays no other address", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 1, max_forwarder_workers: 1 },
  });
  const flood = (i: number, event?: string) =>
    scene.announce({ hash: `f${i}`, peer: "flood", from: FLOODER, event, left: event ? 0 : 1 });
  for (let i = 0; i < 40; i++) await flood(i);
  await scene.settled();
  const before = up.asked.length;
  up.answer = () => promise;
  for (let i = 0; i < 40; i++) await flood(i, "completed");
  for (let i = 100; i < 140; i++) await flood(i);
  await scene.announce({ hash: "honest", event: "started" });
  await scene.announce({ hash: "honest", event: "completed", left: 0 });
  resolve(told({ peers: "" }));
  await scene.settled();
  const order = up.asked.slice(before).map(({ fields }) => fields.get("info_hash")!.slice(0, 6));
  const honest = order.map((hash, i) => (hash === "honest" ? i : -1)).filter((i) => i !== -1);
  assert.equal(order.length, 82);
  assert.ok(honest[0]! <= 6 && honest[1]! <= 12, `honest at ${honest}`);
});

test("an address with little to do finds a free worker beside a flood", async () => {
  await using up = await HttpUpstream.open(() => new Promise(() => {}));
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 2, max_forwarder_workers: 2, forwarder_reserve_workers: 3 },
  });
  for (let i = 0; i < 20; i++) await scene.announce({ hash: `f${i}`, from: FLOODER });
  await until("four announces run", () => up.asked.length === 4);
  await scene.announce({ hash: "honest" });
  await until("the honest one runs", () => up.asked.length === 5);
  const asked = up.asked.map(({ fields }) => fields.get("info_hash")!.replace(/\u00fe+$/, ""));
  // Two before the address is busy, and two workers for those that are.
  assert.deepEqual(asked.sort(), ["f0", "f1", "f2", "f3", "honest"]);
});

test("busy addresses have all of the workers, and as many more as they grow", async () => {
  await using up = await HttpUpstream.open(() => new Promise(() => {}));
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: {
      forwarder_queue_size: 20,
      forwarder_workers: 1,
      max_forwarder_workers: 3,
      forwarder_reserve_workers: 2,
    },
  });
  for (let i = 0; i < 20; i++) await scene.announce({ hash: `f${i}`, from: FLOODER });
  await until("three announces run", () => up.asked.length === 3);
  await scene.clock.advance(1_000);
  await until("a fourth announce runs", () => up.asked.length === 4);
  assert.equal((await scene.retracker.statistics()).active_workers, 2);
});
