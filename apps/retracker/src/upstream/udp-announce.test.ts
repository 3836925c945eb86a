import assert from "node:assert/strict";
import { test } from "node:test";
import { peersIn, TestApp } from "../testing/scene.ts";
import { good, ID, UdpUpstream } from "../testing/udp-upstream.ts";
import { connectAnswer, errorAnswer, readAnnounce, readUrlData } from "../udp/packets.ts";

test("an announce over UDP carries all that it should, path and query too", async () => {
  await using up = await UdpUpstream.open();
  const uri = `udp://127.0.0.1:${up.port}/announce?key=1`;
  await using scene = await TestApp.open({ forwarders: [{ uri, ip: "203.0.113.7" }] });
  await scene.announce({ left: 2n ** 64n - 1n, event: "started", port: 51413 });
  await scene.settled();
  const [packet] = up.announces;
  assert.deepEqual(packet!.subarray(0, 8), ID);
  const announce = readAnnounce(packet!, "")!;
  assert.deepEqual([announce.event, announce.port, announce.left], [2, 51413, 2n ** 64n - 1n]);
  assert.equal(packet!.toString("hex", 84, 88), "cb007107");
  assert.equal(readUrlData(packet!), "/announce?key=1");
  const answer = await scene.announce({ port: 51413 });
  assert.deepEqual(peersIn(answer), ["10.1.1.1:6881"]);
  assert.deepEqual([answer.get("complete"), answer.get("incomplete")], [4, 2]);
  // The connection id is used again.
  await scene.announce({ peer: "other" });
  await scene.settled();
  assert.deepEqual([up.connects, up.announces.length], [1, 2]);
});

test("a connection id is used for a minute at most", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  await using up = await UdpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [`udp://127.0.0.1:${up.port}/announce`] });
  for (const [ms, connects] of [
    [0, 1],
    [59_999, 1],
    [1, 2],
    [59_999, 2],
  ] as const) {
    t.mock.timers.tick(ms);
    await scene.announce({ peer: `${ms}${connects}` });
    await scene.settled();
    assert.equal(up.connects, connects, `after ${ms} more`);
  }
  assert.equal(up.announces.length, 4);
});

test("packets that do not answer our request are ignored", async () => {
  await using up = await UdpUpstream.open();
  up.answer = (_packet, transaction) => [
    Buffer.alloc(3),
    good((transaction ^ 1) >>> 0),
    connectAnswer(transaction, ID),
    good(transaction),
  ];
  await using scene = await TestApp.open({ forwarders: [`udp://127.0.0.1:${up.port}/announce`] });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).answers, 1);
});

test("an error packet is a failed announce", async () => {
  await using up = await UdpUpstream.open();
  up.answer = (_packet, transaction) => [errorAnswer(transaction, "not here", 100)];
  await using scene = await TestApp.open({ forwarders: [`udp://127.0.0.1:${up.port}/announce`] });
  await scene.announce();
  await scene.settled();
  const { failures, state } = await scene.forwarder("up0");
  assert.deepEqual([failures, state], [1, "active"]);
});

test("silence over UDP is retried, and a closed port disables the forwarder", async () => {
  await using up = await UdpUpstream.open();
  up.answer = () => [];
  const uri = `udp://127.0.0.1:${up.port}/announce`;
  await using scene = await TestApp.open({ forwarders: [{ uri, timeout: 1 }] });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.retracker.statistics()).scheduled_announces.length, 1);
  const gone = await UdpUpstream.open();
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  await using other = await TestApp.open({ forwarders: [`udp://127.0.0.1:${port}/announce`] });
  await other.announce();
  await other.settled();
  const { state, reason } = await other.forwarder("up0");
  assert.deepEqual([state, reason], ["disabled", "ECONNREFUSED"]);
});

test("a tracker that knows our connection id no more is connected to again at once", async () => {
  await using up = await UdpUpstream.open();
  const uri = `udp://127.0.0.1:${up.port}/announce`;
  await using scene = await TestApp.open({ forwarders: [uri] });
  await scene.announce({ hash: "one" });
  await scene.settled();
  let isForgotten = true;
  up.answer = (_packet, transaction) => {
    const isRefused = isForgotten;
    isForgotten = false;
    return [
      isRefused ? errorAnswer(transaction, "Connection ID mismatch.", 100) : good(transaction),
    ];
  };
  await scene.announce({ hash: "two" });
  await scene.settled();
  assert.deepEqual([up.connects, up.announces.length], [2, 3]);
  const { failures, answers } = await scene.forwarder("up0");
  assert.deepEqual([failures, answers], [0, 2]);
});
