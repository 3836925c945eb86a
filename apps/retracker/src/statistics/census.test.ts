import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeBytes } from "../http/query.ts";
import { announceTo, fetchBytes, hashOf, TestApp } from "../testing/scene.ts";
import { type Bencoded, decode } from "../wire/bencode.ts";
import { clientOf } from "./clients.ts";

test("clients are known by their peer ids", () => {
  for (const [peerId, name, version] of [
    ["-qB4520-abcdefghijkl", "qBittorrent", "4.5.2.0"],
    ["-TR300Z-abcdefghijkl", "Transmission", "3.0.0.Z"],
    ["A2-1-36-0-abcdefghij", "aria2", "1.36.0"],
    ["-ZZ1234-abcdefghijkl", "ZZ", "1.2.3.4"],
    ["\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "unknown", ""],
  ] as const) {
    assert.deepEqual(clientOf(peerId), { name, version });
  }
});

test("statistics show families, seeders and clients, in both forms", async () => {
  await using scene = await TestApp.open({ settings: { listen: "[::]:0" } });
  const port = scene.retracker.ports.http;
  const four = `http://127.0.0.1:${port}/announce`;
  await announceTo(four, { peer_id: "-qB4520-abcdefghijkl", port: 1, left: 0 });
  await announceTo(four, { peer_id: "-qB4520-abcdefghijkm", port: 2 });
  await announceTo(`http://[::1]:${port}/announce`, { peer_id: "-TR3000-abcdefghijkl", port: 3 });
  const { body } = await fetchBytes(`http://127.0.0.1:${port}/stats.json`);
  const { clients, ...counts } = JSON.parse(String(body));
  assert.deepEqual(clients, { qBittorrent: { "4.5.2.0": 2 }, Transmission: { "3.0.0.0": 1 } });
  assert.deepEqual(counts, {
    torrents: 1,
    activeTorrents: 1,
    peersAll: 3,
    peersSeederOnly: 1,
    peersLeecherOnly: 2,
    peersSeederAndLeecher: 0,
    peersIPv4: 2,
    peersIPv6: 1,
    announces: 3,
    scrapes: 0,
  });
  const own = await scene.retracker.statistics();
  assert.deepEqual([own.seeders, own.leechers, own.peers_ipv4, own.peers_ipv6], [1, 2, 2, 1]);
});

test("a partial seed is incomplete and no downloader", async () => {
  await using scene = await TestApp.open();
  await scene.announce({ peer: "a", event: "paused" });
  await scene.announce({ peer: "b" });
  const url = `${scene.url}/scrape?info_hash=${escapeBytes(hashOf("hash"))}`;
  const files = (decode((await fetchBytes(url)).body) as Map<string, Map<string, Bencoded>>).get(
    "files",
  )!;
  const counts = files.get(hashOf("hash")) as Map<string, Bencoded>;
  assert.deepEqual([counts.get("incomplete"), counts.get("downloaders")], [2, 1]);
});

test("a client's other address is used only if the client is in a trusted range", async () => {
  for (const [trusted_ranges, expected] of [
    [[], undefined],
    [["127.0.0.0/8"], `${"20010470"}${"00".repeat(11)}071ae1`],
  ] as const) {
    await using scene = await TestApp.open({ settings: { trusted_ranges: [...trusted_ranges] } });
    await scene.announce({ peer: "a", port: 6881, ipv6: "%5B2001:470::7%5D:6881" });
    const answer = await scene.announce({ peer: "b", port: 2 });
    assert.equal((answer.get("peers6") as Buffer | undefined)?.toString("hex"), expected);
    await scene.announce({ peer: "a", port: 6881, ipv6: "2001:470::7", event: "stopped" });
    assert.equal((await scene.announce({ peer: "b", port: 2 })).has("peers6"), false);
  }
});
