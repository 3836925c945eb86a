import assert from "node:assert/strict";
import { test } from "node:test";
import { failureIn, TestApp } from "../testing/scene.ts";
import { UdpClient } from "../testing/udp-client.ts";
import { ConnectionIds } from "./connection-ids.ts";
import { announceRequest, connectRequest, readUrlData } from "./packets.ts";

test("connect, announce and scrape over UDP", async () => {
  await using scene = await TestApp.open();
  await scene.announce({ peer: "http", port: 1001, left: 0 });
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  const connected = await client.connect();
  assert.equal(connected.length, 16);
  assert.equal(connected.readUInt32BE(0), 0);
  assert.equal(connected.readUInt32BE(4), 7);
  const answer = await client.announce({ peer: "udp" });
  assert.equal(answer.readUInt32BE(0), 1);
  assert.equal(answer.readUInt32BE(4), 8);
  assert.equal(answer.readUInt32BE(8), 1800);
  assert.equal(answer.readUInt32BE(12), 1);
  assert.equal(answer.readUInt32BE(16), 1);
  assert.equal(answer.toString("hex", 20), "7f00000103e9");
  const scraped = await client.scrape(["hash", "nobody"]);
  assert.deepEqual(
    [8, 12, 16, 20, 24, 28].map((at) => scraped.readUInt32BE(at)),
    [1, 0, 1, 0, 0, 0],
  );
  assert.equal(
    (await client.scrape(Array.from({ length: 80 }, (_, i) => `h${i}`))).length,
    8 + 74 * 12,
  );
});

test("events over UDP do what they do over HTTP", async () => {
  await using scene = await TestApp.open();
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  await client.connect();
  await client.announce({ event: "completed" });
  assert.equal((await client.scrape(["hash"])).readUInt32BE(12), 1);
  const stopped = await client.announce({ event: "stopped" });
  assert.equal(stopped.length, 20);
  assert.equal((await scene.retracker.statistics()).local_peers, 0);
});

test("over IPv6 the peers are of IPv6", async () => {
  await using scene = await TestApp.open({ settings: { udp_listen: "[::1]:0" } });
  await using client = await UdpClient.open(scene.retracker.ports.udp!, "::1");
  await client.connect();
  await client.announce({ peer: "a", port: 1001 });
  const answer = await client.announce({ peer: "b" });
  assert.equal(answer.toString("hex", 20), `${"00".repeat(15)}0103e9`);
});

test("a connection id is good for two minutes, and for its address alone", () => {
  const ids = new ConnectionIds();
  const now = 1_800_000_000;
  const id = ids.give("\x7f\0\0\x01", now);
  for (const [age, isGood] of [
    [0, true],
    [120, true],
    [121, false],
    [255, false],
    [256, false],
    [300, false],
  ] as const) {
    assert.equal(ids.isGood(id, "\x7f\0\0\x01", now + age), isGood, `after ${age} s`);
  }
  assert.equal(ids.isGood(id, "\x7f\0\0\x02", now), false);
  assert.equal(new ConnectionIds().isGood(id, "\x7f\0\0\x01", now), false);
  for (let bit = 8; bit < 64; bit++) {
    const forged = Buffer.from(id);
    forged[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(ids.isGood(forged, "\x7f\0\0\x01", now), false);
  }
});

test("a stranger gets no more bytes than it sent, and the magic number is no id", async () => {
  await using scene = await TestApp.open();
  for (let i = 0; i < 60; i++) await scene.announce({ peer: `p${i}`, port: 1000 + i });
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  const magic = connectRequest(1).subarray(0, 8);
  const request = Buffer.concat([magic, client.packet({}).subarray(8)]);
  const refused = await client.ask(request);
  assert.equal(refused.readUInt32BE(0), 3);
  assert.ok(refused.length <= request.length);
  for (const length of [16, 17, 20, 36, 98]) {
    const packet = Buffer.alloc(length);
    packet.writeUInt32BE(length === 36 ? 2 : 1, 8);
    assert.ok((await client.ask(packet)).length <= length);
  }
  assert.equal((await client.connect()).length, 16);
});

test("errors to one address stop at fifty a second", async () => {
  await using scene = await TestApp.open();
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  for (let i = 0; i < 50; i++)
    assert.equal((await client.ask(client.packet({}))).readUInt32BE(0), 3);
  // The next one is ignored: what comes back is the answer to the connect behind it.
  client.send(client.packet({}));
  assert.equal((await client.connect()).readUInt32BE(0), 0);
  await scene.clock.advance("1s");
  client.send(Buffer.alloc(3));
  assert.equal((await client.announce({})).readUInt32BE(0), 1);
});

test("listens on a host name too", async () => {
  await using scene = await TestApp.open({ settings: { udp_listen: "localhost:0" } });
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  assert.equal((await client.connect()).readUInt32BE(0), 0);
});

test("the IP field is used only if the client is in a trusted range", async () => {
  for (const [trusted_ranges, expected] of [
    [[], "7f000001"],
    [["127.0.0.0/8"], "c6336407"],
  ] as const) {
    await using scene = await TestApp.open({ settings: { trusted_ranges: [...trusted_ranges] } });
    await using client = await UdpClient.open(scene.retracker.ports.udp!);
    await client.connect();
    await client.announce({ peer: "a", ip: "\xc6\x33\x64\x07" });
    assert.equal((await client.announce({ peer: "b" })).toString("hex", 20, 24), expected);
  }
});

test("path and query travel behind an announce, in pieces when they are long", () => {
  const announce = {
    hash: "h".repeat(20),
    peerId: "p".repeat(20),
    address: "",
    port: 1,
    uploaded: 0,
    downloaded: 0,
    left: 0,
    event: 0 as const,
    key: 0,
    numwant: -1,
  };
  for (const path of ["/announce?key=1", `/${"x".repeat(600)}`]) {
    const out = { connectionId: Buffer.alloc(8), transaction: 1, announce, ip: undefined, path };
    assert.equal(readUrlData(announceRequest(out)), path);
  }
});

test("packets beyond the pace of an address are dropped, and those of others are not", async () => {
  await using scene = await TestApp.open({ settings: { requests_per_address_per_sec: 3 } });
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  await client.connect();
  for (let i = 0; i < 3; i++) assert.equal((await client.announce({})).readUInt32BE(0), 1);
  client.send(client.packet({}));
  // A client with a forged address has no connection id, so a connect is not counted.
  assert.equal((await client.connect()).readUInt32BE(0), 0);
  assert.equal((await scene.retracker.statistics()).announces, 3);
  assert.equal(await scene.announce({ from: "127.0.0.2" }).then(failureIn), "");
});
