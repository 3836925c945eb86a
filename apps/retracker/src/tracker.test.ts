import assert from "node:assert/strict";
import type { OutgoingHttpHeaders } from "node:http";
import { test } from "node:test";
import { escapeBytes } from "./http/query.ts";
import { HttpUpstream, told } from "./testing/http-upstream.ts";
import {
  announceTo,
  failureIn,
  fetchBytes,
  hashOf,
  peerOf,
  peersIn,
  queryOf,
  TestApp,
} from "./testing/scene.ts";
import { type Bencoded, decode } from "./wire/bencode.ts";

type Answer = Map<string, Bencoded>;

test("peers of one hash get each other's addresses, and never their own", async () => {
  await using scene = await TestApp.open();
  assert.deepEqual(peersIn(await scene.announce({ peer: "a", port: 1001 })), []);
  assert.deepEqual(peersIn(await scene.announce({ peer: "b", port: 1002 })), ["127.0.0.1:1001"]);
  const third = await scene.announce({ peer: "c", port: 1003, left: 0 });
  assert.deepEqual(peersIn(third), ["127.0.0.1:1001", "127.0.0.1:1002"]);
  // Three clients behind one address are three.
  assert.equal(third.get("complete"), 1);
  assert.equal(third.get("incomplete"), 2);
  assert.deepEqual(peersIn(await scene.announce({ hash: "other", peer: "a" })), []);
});

test("aliases of the announce path are taken, other paths are not", async () => {
  await using scene = await TestApp.open();
  for (const path of ["/announce", "/announce.php", "/ann", "/some-key/announce"]) {
    assert.equal((await announceTo(scene.url + path, {})).get("interval"), 1800);
  }
  assert.equal((await fetchBytes(`${scene.url}/announcement?x=1`)).status, 404);
});

test("a client that does not send `left` is not a seeder", async () => {
  await using scene = await TestApp.open();
  const query = queryOf({}).replace(/&left=[^&]*/, "");
  const answer = decode((await fetchBytes(`${scene.url}/announce?${query}`)).body) as Answer;
  assert.deepEqual([answer.get("complete"), answer.get("incomplete")], [0, 1]);
});

test("an invalid numwant gives the default number of peers, or the maximum", async () => {
  await using scene = await TestApp.open();
  for (let i = 0; i < 210; i++) await scene.announce({ peer: `p${i}`, port: 1000 + i });
  const count = async (numwant: string): Promise<number> =>
    peersIn(await scene.announce({ peer: "me", numwant })).length;
  assert.equal(await count("-5"), 50);
  assert.equal(await count("99999999999999999999"), 200);
});

test("an IPv6 address in the long form is written as people write it", async () => {
  await using scene = await TestApp.open({ settings: { listen: "[::]:0" } });
  const url = `http://[::1]:${scene.retracker.ports.http}/announce`;
  await announceTo(url, { peer: "a", port: 1 });
  const answer = await announceTo(url, { peer: "b", port: 2, compact: 0 });
  assert.equal(String((answer.get("peers") as Answer[])[0]!.get("ip")), "::1");
});

test("HEAD answers the head of GET, and /favicon.ico is empty", async () => {
  await using scene = await TestApp.open();
  const head = await fetch(`${scene.url}/healthz`, { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
  assert.equal(head.headers.get("content-length"), "3");
  assert.equal((await fetch(`${scene.url}/favicon.ico`)).status, 204);
});

test("statistics on an address of their own need no token, unless there is one", async () => {
  const statuses = async (settings: { stats_token?: string }): Promise<number[]> => {
    await using scene = await TestApp.open({
      settings: { stats_listen: "127.0.0.1:0", ...settings },
    });
    const url = `http://127.0.0.1:${scene.retracker.ports.stats}/stats`;
    const headers = { "x-forwarded-for": "198.51.100.1" };
    const [bare, shown] = [await fetch(url, { headers }), await fetch(`${url}?token=t`)];
    return [bare.status, shown.status];
  };
  assert.deepEqual(await statuses({}), [200, 200]);
  assert.deepEqual(await statuses({ stats_token: "t" }), [403, 200]);
});

test("intervals are spread by client, and are the same for one client", async () => {
  await using scene = await TestApp.open({ settings: { interval_spread_pct: 10 } });
  const told: unknown[] = [];
  for (let i = 0; i < 20; i++) {
    const fields = { peer_id: `-TT0001-peer${String(i * 7919).padStart(8, "0")}`, port: 1 + i };
    const answers = [await scene.announce(fields), await scene.announce(fields)];
    assert.equal(answers[0]!.get("interval"), answers[1]!.get("interval"));
    assert.equal(answers[0]!.get("min interval"), 1800);
    told.push(answers[0]!.get("interval"));
  }
  assert.ok(new Set(told).size > 5);
  assert.ok(told.every((seconds) => Number(seconds) >= 1800 && Number(seconds) < 1980));
});

const BAD: readonly (readonly [string, RegExp])[] = [
  ["", /info_hash is missing/],
  ["info_hash=%zz", /info_hash is not escaped/],
  ["info_hash=%4", /info_hash is not escaped/],
  ["info_hash=short", /info_hash must be 20 bytes, got 5/],
  [`${queryOf({})}`.replace(/peer_id=[^&]*/, "peer_id=x"), /peer_id must be 20 bytes, got 1/],
  [queryOf({ port: 0 }), /port must be from 1 to 65535, got "0"/],
  [queryOf({ port: 65536 }), /port must be from 1 to 65535/],
  [queryOf({}).replace("port=6881", "port=0x10"), /port must be/],
  [queryOf({ left: 2n ** 64n }), /left must be an unsigned 64-bit number/],
  [queryOf({ left: -1 }), /left must be/],
  [queryOf({ numwant: "many" }), /numwant must be a whole number, got "many"/],
];

test("a malformed announce gets a bencoded failure with status 200, and peers stay", async () => {
  await using scene = await TestApp.open();
  await scene.announce({ peer: "a", port: 1001 });
  for (const [query, message] of BAD) {
    const { status, body } = await fetchBytes(`${scene.url}/announce?${query}`);
    assert.equal(status, 200);
    assert.match(failureIn(decode(body) as Answer), message);
  }
  assert.deepEqual(peersIn(await scene.announce({ peer: "b" })), ["127.0.0.1:1001"]);
  assert.deepEqual(scene.errors, []);
});

test("ports and left are taken at their bounds, and unknown events are none", async () => {
  await using scene = await TestApp.open();
  for (const fields of [
    { port: 1 },
    { port: 65535 },
    { left: 2n ** 64n - 1n },
    { event: "paused" },
  ]) {
    assert.equal(failureIn(await scene.announce(fields)), "");
  }
});

test("answers numwant peers: 50 by default, 200 at most, none for 0", async () => {
  await using scene = await TestApp.open();
  for (let i = 0; i < 250; i++) await scene.announce({ peer: `p${i}`, port: 1000 + i });
  const count = async (fields: object) =>
    peersIn(await scene.announce({ peer: "me", ...fields })).length;
  assert.equal(await count({ numwant: 0 }), 0);
  assert.equal(await count({}), 50);
  assert.equal(await count({ numwant: -1 }), 50);
  assert.equal(await count({ numwant: 7 }), 7);
  assert.equal(await count({ numwant: 5000 }), 200);
  const both = await Promise.all([1, 2].map(() => scene.announce({ peer: "me", numwant: 20 })));
  assert.notDeepEqual(peersIn(both[0]!), peersIn(both[1]!));
});

test("compact=0 gives dictionaries with peer ids, no_peer_id without", async () => {
  await using scene = await TestApp.open({ settings: { show_peer_ids: true } });
  await scene.announce({ peer: "a", port: 1001 });
  const full = (await scene.announce({ peer: "b", compact: 0 })).get("peers") as Answer[];
  assert.equal(full.length, 1);
  assert.equal((full[0]!.get("peer id") as Buffer).toString("latin1"), peerOf("a"));
  assert.equal(String(full[0]!.get("ip")), "127.0.0.1");
  assert.equal(full[0]!.get("port"), 1001);
  const bare = await scene.announce({ peer: "b", compact: 0, no_peer_id: 1 });
  assert.deepEqual([...(bare.get("peers") as Answer[])[0]!.keys()], ["ip", "port"]);
});

test("IPv6 peers are listed separately, over both protocols and to both families", async () => {
  await using scene = await TestApp.open({ settings: { listen: "[::]:0" } });
  const port = scene.retracker.ports.http;
  await announceTo(`http://[::1]:${port}/announce`, { peer: "six", port: 1006 });
  const answer = await announceTo(`http://127.0.0.1:${port}/announce`, {
    peer: "four",
    port: 1004,
  });
  assert.equal((answer.get("peers") as Buffer).length, 0);
  const entry = answer.get("peers6") as Buffer;
  assert.equal(entry.toString("hex"), `${"00".repeat(15)}0103ee`);
  // A client with both families has a peer in each, and the answer lists neither of its own peers.
  const again = await announceTo(`http://127.0.0.1:${port}/announce`, { peer: "six", port: 1006 });
  assert.equal(again.get("incomplete"), 3);
  assert.equal(again.has("peers6"), false);
});

test("the ip field is used only if it comes from a trusted range", async () => {
  await using strict = await TestApp.open();
  await strict.announce({ peer: "a", ip: "198.51.100.7", port: 1001 });
  assert.deepEqual(peersIn(await strict.announce({ peer: "b" })), ["127.0.0.1:1001"]);
  await using trusting = await TestApp.open({ settings: { trusted_ranges: ["127.0.0.0/8"] } });
  await trusting.announce({ peer: "a", ip: "198.51.100.7", port: 1001 });
  assert.deepEqual(peersIn(await trusting.announce({ peer: "b" })), ["198.51.100.7:1001"]);
});

test("proxy headers are used only if they come from a trusted proxy", async () => {
  const ask = async (scene: TestApp, headers: OutgoingHttpHeaders): Promise<string[]> => {
    const url = `${scene.url}/announce?${queryOf({ peer: "a", port: 1001 })}`;
    const answer = decode((await fetchBytes(url, headers)).body) as Answer;
    const external = answer.get("external ip") as Buffer | undefined;
    const told = peersIn(await scene.announce({ peer: "b" }));
    return [...told, external === undefined ? "none" : [...external].join(".")];
  };
  await using strict = await TestApp.open();
  const real = { "x-real-ip": "9.8.7.6" };
  assert.deepEqual(await ask(strict, real), ["127.0.0.1:1001", "none"]);
  await using behind = await TestApp.open({ settings: { x_real_ip: ["127.0.0.1"] } });
  assert.deepEqual(await ask(behind, real), ["9.8.7.6:1001", "9.8.7.6"]);
  const list = { "x-forwarded-for": "1.1.1.1, 9.9.9.9" };
  await using listed = await TestApp.open({ settings: { x_real_ip: ["127.0.0.1"] } });
  assert.deepEqual(await ask(listed, list), ["9.9.9.9:1001", "9.9.9.9"]);
  // Some proxies add a line of their own behind the client's.
  const lines = { "x-forwarded-for": ["1.1.1.1", "9.9.9.8"] };
  await using added = await TestApp.open({ settings: { x_real_ip: ["127.0.0.1"] } });
  assert.deepEqual(await ask(added, lines), ["9.9.9.8:1001", "9.9.9.8"]);
});

test("the answer has the tracker id if one is set", async () => {
  await using scene = await TestApp.open({ settings: { tracker_id: "mine" } });
  assert.equal(String((await scene.announce()).get("tracker id")), "mine");
  assert.equal(String((await scene.announce({ compact: 0 })).get("tracker id")), "mine");
});

test("a peer that is silent for the maximum age is purged, with its hash", async () => {
  await using scene = await TestApp.open({ settings: { age: 30 } });
  await scene.announce({ peer: "a" });
  await scene.clock.advance("20m");
  await scene.announce({ peer: "b" });
  await scene.clock.advance("9m");
  await scene.retracker.purge();
  assert.equal((await scene.retracker.statistics()).local_peers, 2);
  await scene.clock.advance("2m");
  await scene.retracker.purge();
  assert.equal((await scene.retracker.statistics()).local_peers, 1);
  await scene.clock.advance("30m");
  await scene.retracker.purge();
  assert.equal((await scene.retracker.statistics()).tracked_hashes, 0);
});

async function scrape(scene: TestApp, query: string): Promise<Answer> {
  return decode((await fetchBytes(`${scene.url}/scrape?${query}`)).body) as Answer;
}

const escaped = (name: string): string => `info_hash=${escapeBytes(hashOf(name))}`;

test("a scrape shows zeros for unknown hashes, and all hashes only when enabled", async () => {
  await using scene = await TestApp.open();
  await scene.announce({ peer: "a", left: 0, event: "completed" });
  await scene.announce({ peer: "a", left: 0, event: "completed" });
  await scene.announce({ peer: "b" });
  const files = (await scrape(scene, `${escaped("hash")}&${escaped("nobody")}`)).get(
    "files",
  ) as Answer;
  assert.deepEqual(Object.fromEntries(files.get(hashOf("hash")) as Answer), {
    complete: 1,
    downloaded: 1,
    incomplete: 1,
  });
  assert.deepEqual(Object.fromEntries(files.get(hashOf("nobody")) as Answer), {
    complete: 0,
    downloaded: 0,
    incomplete: 0,
  });
  assert.match(failureIn(await scrape(scene, "")), /not enabled/);
  const many = Array.from({ length: 75 }, (_, i) => escaped(`h${i}`)).join("&");
  assert.match(failureIn(await scrape(scene, many)), /at most 74 hashes a scrape, got 75/);
  await using open = await TestApp.open({ settings: { full_scrape: true } });
  await open.announce({ hash: "one" });
  await open.announce({ hash: "two" });
  assert.equal(((await scrape(open, "")).get("files") as Answer).size, 2);
});

test("numbers of forwarders are merged into a scrape on request", async () => {
  await using up = await HttpUpstream.open(() => told({ complete: 40, incomplete: 2, peers: "" }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  const counts = async (more: string): Promise<unknown> => {
    const files = (await scrape(scene, escaped("hash") + more)).get("files") as Answer;
    return (files.get(hashOf("hash")) as Answer).get("complete");
  };
  assert.equal(await counts(""), 0);
  assert.equal(await counts("&upstream=1"), 40);
});

test("hashes are allowed and denied by lists", async () => {
  const hex = (name: string): string => Buffer.from(hashOf(name), "latin1").toString("hex");
  await using allowing = await TestApp.open({ settings: { allow: [hex("good")] } });
  assert.equal(failureIn(await allowing.announce({ hash: "good" })), "");
  assert.match(failureIn(await allowing.announce({ hash: "else" })), /not among those allowed/);
  await using denying = await TestApp.open({ settings: { deny: [hex("bad")] } });
  assert.match(failureIn(await denying.announce({ hash: "bad" })), /denied/);
  assert.equal(failureIn(await denying.announce({ hash: "else" })), "");
});

test("statistics have the names they should, in text, JSON and metrics", async () => {
  await using scene = await TestApp.open();
  await scene.announce();
  const get = async (path: string) => String((await fetchBytes(scene.url + path)).body);
  const json = JSON.parse(await get("/stats?format=json"));
  for (const name of [
    "queue_depth queue_capacity queue_fill_pct dropped_full rate_limited throttled_forwarders",
    "active_workers max_workers pending_jobs tracked_hashes active_forwarders disabled_forwarders",
  ].flatMap((names) => names.split(" "))) {
    assert.equal(typeof json[name], "number", name);
    assert.match(await get("/stats"), new RegExp(`^${name}: `, "m"));
  }
  assert.deepEqual(json.scheduled_announces, []);
  const metrics = await get("/metrics");
  for (const name of [
    "queue_depth queue_capacity queue_fill_pct queue_dropped_full queue_rate_limited",
    "queue_throttled_forwarders forwarder_workers",
  ].flatMap((names) => names.split(" "))) {
    assert.match(metrics, new RegExp(`^retracker_${name} \\d`, "m"));
  }
  assert.equal(await get("/healthz"), "ok\n");
});

test("statistics are served to the loopback without a proxy, or with the token", async () => {
  await using open = await TestApp.open();
  assert.equal((await fetchBytes(`${open.url}/stats`, { "x-real-ip": "127.0.0.1" })).status, 403);
  await using closed = await TestApp.open({
    settings: { stats_token: "s3cret", metrics_prefix: "" },
  });
  assert.equal((await fetchBytes(`${closed.url}/stats`)).status, 403);
  assert.equal((await fetchBytes(`${closed.url}/stats?token=wrong`)).status, 403);
  assert.equal((await fetchBytes(`${closed.url}/stats?token=s3cret`)).status, 200);
  const shown = await fetchBytes(`${closed.url}/metrics`, { authorization: "Bearer s3cret" });
  assert.match(String(shown.body), /^queue_depth 0$/m);
  await using apart = await TestApp.open({ settings: { stats_listen: "127.0.0.1:0" } });
  assert.equal((await fetchBytes(`${apart.url}/stats`)).status, 404);
  const url = `http://127.0.0.1:${apart.retracker.ports.stats}`;
  assert.equal((await fetchBytes(`${url}/stats`)).status, 200);
  assert.equal((await fetchBytes(`${url}/announce?${queryOf({})}`)).status, 404);
});
