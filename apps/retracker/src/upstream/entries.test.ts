import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUpstream, type Said, told } from "../testing/http-upstream.ts";
import { TestApp } from "../testing/scene.ts";
import { parseForwarders } from "./forwarder-list.ts";

const PEERS = ["a", "b", "c"];

test("only forwarders of the wanted groups are used", async () => {
  await using one = await HttpUpstream.open();
  await using two = await HttpUpstream.open();
  await using none = await HttpUpstream.open();
  await using scene = await TestApp.open({
    forwarders: [
      { uri: one.uri, groups: ["public", "fast"] },
      { uri: two.uri, groups: ["slow"] },
      none.uri,
    ],
    settings: { groups: ["fast"] },
  });
  await scene.announce();
  await scene.settled();
  assert.deepEqual([one.asked.length, two.asked.length, none.asked.length], [1, 0, 0]);
});

test("a forwarder may have any name, and one of IPv6 has its address", async () => {
  const names = ["Mein Tracker (é) / 東京", "東".repeat(200), "a:b:c", "[::1]"];
  await using up = await HttpUpstream.open(() => ({ status: 429 }));
  await using scene = await TestApp.open({
    forwarders: names.map((name, i) => ({ uri: `${up.uri}?${i}`, name, concurrency: 3 })),
  });
  await scene.announce();
  await scene.settled();
  for (const name of names) {
    assert.equal((await scene.forwarder(name)).state, "suspended", name);
    await scene.retracker.switchForwarder(name, true);
    assert.equal((await scene.forwarder(name)).state, "active", name);
  }
  up.answer = () => told({ peers: "" });
  await scene.advance("300s");
  await scene.announce({ event: "stopped" });
  await scene.settled();
  for (const name of names) assert.ok((await scene.forwarder(name)).answers > 0, name);
  assert.deepEqual(scene.errors, []);
  const [own] = parseForwarders("- udp://[::1]:80/announce", "x").specs;
  assert.equal(own!.name, "[::1]");
});

test("a forwarder's rate spreads its announces over time", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [{ uri: up.uri, rate: 1 }] });
  for (const peer of PEERS) await scene.announce({ peer });
  await scene.settled();
  for (const count of [1, 2, 3]) {
    assert.equal(up.asked.length, count);
    await scene.advance("1s");
  }
});

test("a forwarder's concurrency bounds the announces that run at once", async () => {
  const open: ((said: Said) => void)[] = [];
  await using up = await HttpUpstream.open(() => new Promise((resolve) => open.push(resolve)));
  await using scene = await TestApp.open({ forwarders: [{ uri: up.uri, concurrency: 2 }] });
  for (const peer of PEERS) await scene.announce({ peer });
  const asked = async (count: number): Promise<void> => {
    while (up.asked.length < count) await new Promise(setImmediate);
  };
  await asked(2);
  const { queue_depth, pending_jobs } = await scene.retracker.statistics();
  assert.deepEqual([queue_depth, pending_jobs, up.asked.length], [1, 3, 2]);
  open[0]!(told({ peers: "" }));
  await asked(3);
  for (const answer of open) answer(told({ peers: "" }));
  await scene.settled();
});

test("a forwarder's timeout is its own", async () => {
  await using up = await HttpUpstream.open(() => new Promise(() => {}));
  await using scene = await TestApp.open({ forwarders: [{ uri: up.uri, timeout: 1 }] });
  const from = performance.now();
  await scene.announce();
  await scene.settled();
  assert.ok(performance.now() - from < 20_000, "not the 30 s of all");
  assert.equal((await scene.retracker.statistics()).scheduled_announces.length, 1);
});

test("remote lists are read again on a schedule", async () => {
  let text = "udp://a.example:80/announce";
  await using list = await HttpUpstream.open(() => ({ body: Buffer.from(text) }));
  await using scene = await TestApp.open({
    settings: { forwarder_lists: [list.uri], forwarder_list_refresh_seconds: 600 },
  });
  assert.equal(scene.retracker.forwarderCount, 1);
  text += "\nudp://b.example:80/announce";
  await scene.clock.advance("599s");
  assert.equal(list.asked.length, 1);
  await scene.clock.advance("1s");
  while (scene.retracker.forwarderCount === 1) await new Promise(setImmediate);
  assert.equal(scene.retracker.forwarderCount, 2);
});

test("a forwarder's peers expire, although local peers are still here", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: "\x0a\x01\x01\x01\x1a\xe1" }));
  await using scene = await TestApp.open({ forwarders: [up.uri], settings: { age: 30 } });
  await scene.announce();
  await scene.settled();
  up.answer = () => ({ status: 418 });
  for (const [minutes, bytes] of [
    [15, 6],
    [14, 6],
    [2, 0],
  ] as const) {
    await scene.advance(`${minutes}m`);
    await scene.announce();
    await scene.settled();
    await scene.retracker.purge();
    assert.equal((await scene.announce()).get("peers")?.toString().length, bytes);
  }
  assert.equal((await scene.retracker.statistics()).local_peers, 1);
});
