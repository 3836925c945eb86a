import assert from "node:assert/strict";
import { test } from "node:test";
import { failing, HttpUpstream, type Said, told } from "../testing/http-upstream.ts";
import { hashOf, peerOf, peersIn, TestApp } from "../testing/scene.ts";

const PEER_A = "\x0a\x01\x01\x01\x1a\xe1";

test("stopped goes to the forwarders that know the peer, and the peer is gone", async () => {
  await using knows = await HttpUpstream.open(() => told({ peers: PEER_A }));
  await using knowsNot = await HttpUpstream.open(() => ({ status: 418 }));
  await using scene = await TestApp.open({ forwarders: [knows.uri, knowsNot.uri] });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.announce({ event: "stopped" })).get("interval"), 1800);
  await scene.settled();
  assert.deepEqual(knows.events, ["", "stopped"]);
  assert.deepEqual(knowsNot.events, [""]);
  assert.equal((await scene.retracker.statistics()).local_peers, 0);
});

test("forgets a forwarder's peers when the last local peer has stopped", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: PEER_A }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce({ peer: "a" });
  await scene.announce({ peer: "b" });
  await scene.settled();
  await scene.announce({ peer: "a", event: "stopped" });
  await scene.settled();
  assert.deepEqual(peersIn(await scene.announce({ peer: "b" })), ["10.1.1.1:6881"]);
  await scene.announce({ peer: "b", event: "stopped" });
  await scene.settled();
  assert.deepEqual(peersIn(await scene.announce({ peer: "c" })), []);
});

test("stopped cancels queued announces, and is sent after a running one", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using slow = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [slow.uri],
    settings: { forwarder_workers: 2, max_forwarder_workers: 2 },
  });
  for (const peer of ["a", "b", "c", "d"]) await scene.announce({ peer });
  await scene.sluice.drain();
  // Two run, two wait.
  assert.equal((await scene.retracker.statistics()).queue_depth, 2);
  await scene.announce({ peer: "d", event: "stopped" });
  assert.equal((await scene.retracker.statistics()).queue_depth, 1);
  await scene.announce({ peer: "a", event: "stopped" });
  resolve(told({ peers: "" }));
  await scene.settled();
  const of = (peer: string): string[] =>
    slow.asked
      .filter(({ fields }) => fields.get("peer_id") === peerOf(peer))
      .map(({ fields }) => fields.get("event") ?? "");
  assert.deepEqual(of("a"), ["", "stopped"]);
  assert.deepEqual(of("d"), []);
  assert.deepEqual(of("c"), [""]);
});

test("an event behind a running announce stays here when the answer is never", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 2, max_forwarder_workers: 2 },
  });
  await scene.announce();
  await scene.sluice.drain();
  await scene.announce({ event: "stopped" });
  await scene.sluice.drain();
  resolve(failing("no", "never"));
  await scene.settled();
  assert.deepEqual(up.events, [""]);
});

test("an event behind an announce stays here when the answer disables the forwarder", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 2, max_forwarder_workers: 2 },
  });
  await scene.announce();
  await scene.sluice.drain();
  await scene.announce({ event: "completed", left: 0 });
  await scene.sluice.drain();
  resolve({ status: 404 });
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).state, "disabled");
  assert.deepEqual(up.events, [""]);
});

test("completed is stored, counted, sent to all forwarders and answered with peers", async () => {
  await using one = await HttpUpstream.open();
  await using two = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [one.uri, two.uri] });
  await scene.announce({ peer: "other", port: 7000 });
  await scene.announce({ peer: "me" });
  await scene.settled();
  const answer = await scene.announce({ peer: "me", event: "completed", left: 0 });
  assert.deepEqual(peersIn(answer), ["127.0.0.1:7000"]);
  assert.equal(answer.get("complete"), 1);
  await scene.settled();
  assert.deepEqual(
    [one.events, two.events].map((events) => events.at(-1)),
    ["completed", "completed"],
  );
});

test("completed is sent before stopped, even when that comes right behind it", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 1, max_forwarder_workers: 1 },
  });
  await scene.announce();
  await scene.announce({ event: "completed", left: 0 });
  await scene.announce({ event: "stopped", left: 0 });
  resolve(told({ peers: "" }));
  await scene.settled();
  assert.deepEqual(up.events, ["", "completed", "stopped"]);
});

test("an event needs no room in a full queue and no token", async () => {
  const { promise, resolve } = Promise.withResolvers<Said>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 1, max_forwarder_workers: 1, forwarder_queue_size: 2 },
  });
  for (const peer of ["a", "b", "c"]) await scene.announce({ peer });
  assert.equal((await scene.retracker.statistics()).queue_fill_pct, 100);
  await scene.announce({ peer: "a", event: "completed" });
  const statistics = await scene.retracker.statistics();
  assert.equal(statistics.queue_fill_pct, 100);
  assert.equal(statistics.pending_jobs, 4);
  resolve(told({ peers: "" }));
  await scene.settled();
  // It was added last and did not wait for all: the workers are shared by events and announces.
  assert.deepEqual(up.events, ["", "", "completed", ""]);
});

test("announces carry the client's values, with the forwarder's address and host", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: "", "tracker id": "t\x00\xff" }));
  const entry = { uri: `${up.uri}?passkey=secret`, ip: "203.0.113.9", host: "tracker.example.org" };
  await using scene = await TestApp.open({ forwarders: [entry] });
  const left = 2n ** 64n - 1n;
  await scene.announce({ hash: "\x00+&%", left, uploaded: 5, downloaded: 6, port: 51413 });
  await scene.settled();
  const { fields, headers, path } = up.asked[0]!;
  assert.equal(path, "/announce");
  assert.equal(fields.get("passkey"), "secret");
  assert.equal(fields.get("info_hash"), hashOf("\x00+&%"));
  assert.equal(fields.get("peer_id"), peerOf("peer"));
  assert.equal(fields.get("left"), String(left));
  assert.deepEqual(
    ["uploaded", "downloaded", "port", "compact", "ip", "ipv4"].map((name) => fields.get(name)),
    ["5", "6", "51413", "1", "203.0.113.9", "203.0.113.9"],
  );
  assert.equal(headers.host, "tracker.example.org");
  await scene.announce({ hash: "\x00+&%", port: 51413, event: "stopped" });
  await scene.settled();
  assert.equal(up.asked[1]!.fields.get("trackerid"), "t\x00\xff");
});

test("a hash that is never to be forwarded stays here", async () => {
  await using up = await HttpUpstream.open();
  const secret = Buffer.from(hashOf("private"), "latin1").toString("hex").toUpperCase();
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { never_forward: [secret] },
  });
  for (const event of ["started", "completed", "stopped"]) {
    await scene.announce({ hash: "private", event });
  }
  await scene.announce({ hash: "public" });
  await scene.settled();
  assert.deepEqual(
    up.asked.map(({ fields }) => fields.get("info_hash")),
    [hashOf("public")],
  );
});

test("shows the greatest counts of forwarders, and counts their peers as no seeders", async () => {
  await using one = await HttpUpstream.open(() =>
    told({ complete: 5, incomplete: 1, peers: PEER_A }),
  );
  await using two = await HttpUpstream.open(() =>
    told({ complete: 3, incomplete: 7, peers: PEER_A }),
  );
  await using none = await HttpUpstream.open(() => told({ peers: PEER_A }));
  await using scene = await TestApp.open({ forwarders: [one.uri, two.uri, none.uri] });
  await scene.announce({ left: 0 });
  await scene.settled();
  const answer = await scene.announce({ left: 0 });
  assert.equal(answer.get("complete"), 5);
  assert.equal(answer.get("incomplete"), 7);
  assert.deepEqual(peersIn(answer), ["10.1.1.1:6881"]);
});

test("a first answer may wait briefly for a forwarder, and no longer", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: PEER_A }));
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { first_announce_wait_ms: 1500 },
  });
  assert.deepEqual(peersIn(await scene.announce()), ["10.1.1.1:6881"]);
  const { promise, resolve } = Promise.withResolvers<Said>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  up.answer = () => {
    reach();
    return promise;
  };
  const waiting = scene.announce({ hash: "slow" });
  await reached;
  await scene.clock.advance(1499);
  let isAnswered = false;
  void waiting.then(() => (isAnswered = true));
  await scene.sluice.drain();
  assert.equal(isAnswered, false);
  await scene.clock.advance(1);
  assert.deepEqual(peersIn(await waiting), []);
  resolve(told({ peers: "" }));
  await scene.settled();
});

test("an answer never lists the requester, whatever address a forwarder has for it", async () => {
  const external = "\xc6\x33\x64\x07";
  const self = `${external}\x1a\xe1`;
  const local = "\x7f\x00\x00\x01\x1a\xe1";
  await using up = await HttpUpstream.open(() =>
    told({ peers: self + local + PEER_A, "external ip": external }),
  );
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce({ port: 6881 });
  await scene.settled();
  assert.deepEqual(peersIn(await scene.announce({ port: 6881 })), ["10.1.1.1:6881"]);
});
