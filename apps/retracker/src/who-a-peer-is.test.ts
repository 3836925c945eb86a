import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeBytes } from "./http/query.ts";
import { HttpUpstream } from "./testing/http-upstream.ts";
import { fetchBytes, hashOf, peersIn, TestApp } from "./testing/scene.ts";
import { UdpClient } from "./testing/udp-client.ts";
import { type Bencoded, decode } from "./wire/bencode.ts";

async function counts(scene: TestApp, hash = "hash"): Promise<number[]> {
  const url = `${scene.url}/scrape?info_hash=${escapeBytes(hashOf(hash))}`;
  const answer = decode((await fetchBytes(url)).body) as Map<string, Map<string, Bencoded>>;
  const file = answer.get("files")!.get(hashOf(hash)) as unknown as Map<string, number>;
  return [file.get("complete")!, file.get("incomplete")!];
}

test("a stranger who knows the peer id neither removes nor moves a peer", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce({ peer: "victim", port: 6881, left: 0, key: "aa" });
  await scene.settled();
  for (const event of ["stopped", "started", "completed"]) {
    await scene.announce({ peer: "victim", event, port: 6881, from: "127.0.0.9", left: 0 });
    await scene.announce({ peer: "victim", event, port: 6882, left: 0 });
  }
  await scene.settled();
  const answer = await scene.announce({ peer: "other", port: 1 });
  assert.ok(peersIn(answer).includes("127.0.0.1:6881"));
  // The forged `stopped` was about a peer that is not known: it goes nowhere.
  const stopped = up.asked.filter(({ fields }) => fields.get("event") === "stopped");
  assert.equal(stopped.length, 0);
});

test("over UDP a stranger does not remove a peer either", async () => {
  await using scene = await TestApp.open();
  await scene.announce({ peer: "victim", left: 0 });
  await using client = await UdpClient.open(scene.retracker.ports.udp!);
  await client.connect();
  await client.announce({ peer: "victim", port: 6882, event: "stopped" });
  assert.deepEqual(await counts(scene), [1, 0]);
});

test("requires the peer id and the key of a peer behind one address", async () => {
  await using scene = await TestApp.open();
  const port = 6881;
  await scene.announce({ peer: "a", port, key: "1234abcd" });
  await scene.announce({ peer: "b", port, key: "1234abcd", event: "stopped" });
  await scene.announce({ peer: "a", port, key: "99", event: "stopped" });
  await scene.announce({ peer: "a", port, event: "stopped" });
  assert.deepEqual(await counts(scene), [0, 1]);
  await scene.announce({ peer: "a", port, key: "1234abcd", event: "stopped" });
  assert.deepEqual(await counts(scene), [0, 0]);
});

test("one address and port is one peer, whatever ids it shows", async () => {
  await using scene = await TestApp.open();
  for (let i = 0; i < 60; i++) await scene.announce({ peer: `p${i}`, port: 7000, left: 0 });
  for (let i = 0; i < 5; i++) await scene.announce({ peer: `honest${i}`, port: 8000 + i });
  const answer = await scene.announce({ peer: "asking", port: 9000, numwant: 50 });
  assert.equal(peersIn(answer).length, 6);
  assert.deepEqual([answer.get("complete"), answer.get("incomplete")], [1, 6]);
});

test("one address cannot shut a swarm: its own oldest peers make room", async () => {
  const settings = { peers_per_hash: 100, peers_per_address: 20 };
  await using scene = await TestApp.open({ settings });
  for (let port = 1; port <= 150; port++) await scene.announce({ peer: `f${port}`, port });
  assert.deepEqual(await counts(scene), [0, 20]);
  const answer = await scene.announce({ peer: "honest", from: "127.0.0.3", left: 0 });
  assert.equal(answer.has("failure reason"), false);
  assert.deepEqual(await counts(scene), [1, 20]);
});

test("a full swarm evicts the peer that has been silent for longest", async () => {
  const settings = { peers_per_hash: 30, peers_per_address: 5 };
  await using scene = await TestApp.open({ settings });
  const from = (i: number): string => `127.0.1.${i + 1}`;
  for (let i = 0; i < 30; i++) {
    await scene.announce({ peer: `p${i}`, from: from(i), port: 2000 + i });
    await scene.clock.advance("1s");
  }
  // The first one speaks again, so the second is the oldest.
  await scene.announce({ peer: "p0", from: from(0), port: 2000 });
  await scene.announce({ peer: "new", from: from(40), port: 3000 });
  const asked = await scene.announce({ peer: "new", from: from(40), port: 3000, numwant: 50 });
  const ports = peersIn(asked).map((peer) => Number(peer.split(":")[1]));
  assert.equal(ports.length, 29);
  assert.equal(ports.includes(2000), true);
  assert.equal(ports.includes(2001), false);
  assert.equal((await scene.retracker.statistics()).evicted, 1);
});

test("peer ids are shown only where the operator allows it", async () => {
  const ids = async (settings: { show_peer_ids?: boolean }): Promise<boolean[]> => {
    await using scene = await TestApp.open({ settings });
    await scene.announce({ peer: "a", port: 1 });
    const answer = await scene.announce({ peer: "b", port: 2, compact: 0 });
    return (answer.get("peers") as Map<string, Bencoded>[]).map((peer) => peer.has("peer id"));
  };
  assert.deepEqual(await ids({}), [false]);
  assert.deepEqual(await ids({ show_peer_ids: true }), [true]);
});
