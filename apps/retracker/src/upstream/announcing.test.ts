import assert from "node:assert/strict";
import { test } from "node:test";
import { failing, HttpUpstream, told } from "../testing/http-upstream.ts";
import { failureIn, peersIn, TestApp } from "../testing/scene.ts";
import { UdpClient } from "../testing/udp-client.ts";

const PEER_A = "\x0a\x01\x01\x01\x1a\xe1";
const PEER_B = "\x0a\x01\x01\x02\x1a\xe2";

test("a first announce is answered at once and queued for every forwarder", async () => {
  await using one = await HttpUpstream.open(() => told({ peers: PEER_A }));
  await using two = await HttpUpstream.open(() => told({ peers: PEER_B }));
  await using scene = await TestApp.open({ forwarders: [one.uri, two.uri] });
  assert.deepEqual(peersIn(await scene.announce({ event: "started" })), []);
  await scene.settled();
  assert.deepEqual([one.events, two.events], [["started"], ["started"]]);
  const later = await scene.announce();
  assert.deepEqual(peersIn(later), ["10.1.1.1:6881", "10.1.1.2:6882"]);
  assert.deepEqual(scene.errors, []);
});

test("an announce before its time is not forwarded, a due one is", async () => {
  await using up = await HttpUpstream.open(() => told({ interval: 900, peers: "" }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  await scene.advance("899s");
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 1);
  await scene.clock.advance("1s");
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 2);
});

test("each local peer is registered upstream by itself", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  for (const peer of ["a", "b", "c"]) await scene.announce({ peer });
  await scene.settled();
  assert.equal(new Set(up.asked.map(({ fields }) => fields.get("peer_id"))).size, 3);
});

test("a timer announces again before a registration lapses, without the client", async () => {
  await using up = await HttpUpstream.open(() => told({ interval: 1800, peers: "" }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  await scene.advance("1799s");
  assert.equal(up.asked.length, 1);
  // The jitter is at most a minute.
  await scene.advance("70s");
  assert.equal(up.asked.length, 2);
  assert.equal(up.events[1], "");
});

test("every answer has the interval, first and stopped included", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { announce_interval: 777 },
  });
  for (const event of ["started", undefined, "completed", "stopped"]) {
    const answer = await scene.announce(event === undefined ? {} : { event });
    assert.equal(answer.get("interval"), 777);
    assert.equal(answer.get("min interval"), 777);
  }
});

test("a fan-out is bounded, and what is passed over is counted", async () => {
  const ups = await Promise.all(Array.from({ length: 5 }, () => HttpUpstream.open()));
  await using scene = await TestApp.open({
    forwarders: ups.map(({ uri }) => uri),
    settings: { max_forwarders_per_announce: 3 },
  });
  await scene.announce();
  await scene.settled();
  assert.equal(ups.filter(({ asked }) => asked.length === 1).length, 3);
  assert.equal((await scene.retracker.statistics()).throttled_forwarders, 2);
  // The others come with the next look at the peer, ten seconds later at the least.
  await scene.advance("9s");
  assert.equal(ups.filter(({ asked }) => asked.length === 1).length, 3);
  await scene.advance("11s");
  assert.ok(ups.every(({ asked }) => asked.length === 1));
  for (const up of ups) await up.stop();
});

test("the forwarders of an announce are chosen at random", async () => {
  const ups = await Promise.all(Array.from({ length: 3 }, () => HttpUpstream.open()));
  await using scene = await TestApp.open({
    forwarders: ups.map(({ uri }) => uri),
    settings: { max_forwarders_per_announce: 1 },
  });
  // That one of three is never chosen in 60 turns happens once in ten thousand million times.
  for (let i = 0; i < 60; i++) await scene.announce({ hash: `hash${i}` });
  await scene.settled();
  assert.ok(ups.every(({ asked }) => asked.length > 0));
  for (const up of ups) await up.stop();
});

/** A forwarder that never answers, so that the queue fills up behind the one worker. */
async function busy(settings: object, forwarders = 1) {
  const ups = await Promise.all(
    Array.from({ length: forwarders }, () => HttpUpstream.open(() => new Promise(() => {}))),
  );
  const scene = await TestApp.open({
    forwarders: ups.map(({ uri }) => uri),
    settings: {
      forwarder_workers: 1,
      max_forwarder_workers: 1,
      forwarder_queue_size: 10,
      ...settings,
    },
  });
  // One job runs and the others wait.
  const fill = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await scene.announce({ hash: "known", peer: `fill${i}` });
  };
  const dispose = async (): Promise<void> => {
    await scene[Symbol.asyncDispose]();
    for (const up of ups) await up.stop();
  };
  return { scene, fill, [Symbol.asyncDispose]: dispose };
}

test("at the throttle threshold an announce reaches only the top few", async () => {
  await using b = await busy({ queue_throttle_threshold: 60, queue_throttle_top_n: 1 }, 2);
  await b.fill(4);
  const before = await b.scene.retracker.statistics();
  assert.equal(before.queue_depth, 7);
  assert.equal(before.throttled_forwarders, 0);
  await b.scene.announce({ hash: "known", peer: "one more" });
  const after = await b.scene.retracker.statistics();
  assert.equal(after.queue_depth, 8);
  assert.equal(after.throttled_forwarders, 1);
});

test("without a top few there is no throttling", async () => {
  await using b = await busy({ queue_throttle_threshold: 60, queue_throttle_top_n: 0 }, 2);
  await b.fill(4);
  await b.scene.announce({ hash: "known", peer: "one more" });
  assert.equal((await b.scene.retracker.statistics()).throttled_forwarders, 0);
});

test("without a token a first announce is refused with a time and not queued", async () => {
  await using b = await busy({
    queue_rate_limit_threshold: 80,
    rate_limit_initial_per_sec: 1,
    rate_limit_initial_burst: 1,
  });
  await b.fill(9);
  assert.equal((await b.scene.retracker.statistics()).queue_depth, 8);
  assert.equal(failureIn(await b.scene.announce({ hash: "new1" })), "");
  const answer = await b.scene.announce({ hash: "new2" });
  assert.equal(failureIn(answer), "tracker busy, retry in 300 seconds");
  assert.equal(answer.get("retry in"), 5);
  assert.deepEqual([...answer.keys()], ["failure reason", "retry in"]);
  // A known hash is not limited.
  assert.equal(failureIn(await b.scene.announce({ hash: "new1" })), "");
  const statistics = await b.scene.retracker.statistics();
  assert.equal(statistics.rate_limited, 1);
  assert.equal(statistics.queue_depth, 9);
  // The peer is stored, and the hash is still first.
  assert.equal(statistics.tracked_hashes, 3);
  assert.match(failureIn(await b.scene.announce({ hash: "new2" })), /busy/);
  await b.scene.clock.advance("1s");
  assert.equal(failureIn(await b.scene.announce({ hash: "new2" })), "");
});

test("a threshold of 0 switches the rate limit off", async () => {
  await using b = await busy({ queue_rate_limit_threshold: 0, rate_limit_initial_burst: 1 });
  await b.fill(9);
  for (const hash of ["new1", "new2"]) {
    assert.equal(failureIn(await b.scene.announce({ hash })), "");
  }
});

test("a full queue refuses a first announce and drops a later one, per forwarder", async () => {
  await using b = await busy({ queue_rate_limit_threshold: 0, retry_period: 600 });
  await b.fill(11);
  const answer = await b.scene.announce({ hash: "new" });
  assert.equal(failureIn(answer), "tracker queue full, retry in 10 minutes");
  assert.equal(answer.get("retry in"), 10);
  assert.equal(failureIn(await b.scene.announce({ hash: "known", peer: "late" })), "");
  const statistics = await b.scene.retracker.statistics();
  assert.equal(statistics.queue_depth, 10);
  assert.equal(statistics.queue_fill_pct, 100);
  assert.equal(statistics.dropped_full, 1);
  assert.equal(statistics.forwarders[0]!.dropped_full, 1);
});

test("what fits into the queue is queued, the rest is dropped and counted", async () => {
  await using b = await busy({ queue_throttle_top_n: 0 }, 4);
  await b.fill(2);
  assert.equal((await b.scene.retracker.statistics()).queue_depth, 7);
  await b.scene.announce({ hash: "known", peer: "third" });
  const { queue_depth, dropped_full } = await b.scene.retracker.statistics();
  assert.deepEqual([queue_depth, dropped_full], [10, 1]);
});

test("a refused announce over UDP is an error packet", async () => {
  await using b = await busy({ queue_rate_limit_threshold: 0 });
  await b.fill(11);
  await using client = await UdpClient.open(b.scene.retracker.ports.udp!);
  await client.connect();
  const answer = await client.announce({ hash: "new" });
  assert.equal(answer.readUInt32BE(0), 3);
  assert.equal(answer.toString("latin1", 8), "tracker queue full, retry in 5 minutes");
});

test("over UDP the text of the error says when to retry after a rate limit", async () => {
  const none = { rate_limit_initial_per_sec: 1, rate_limit_initial_burst: 1 };
  await using b = await busy({ queue_rate_limit_threshold: 80, retry_period: 120, ...none });
  await b.fill(9);
  await using client = await UdpClient.open(b.scene.retracker.ports.udp!);
  await client.connect();
  assert.equal((await client.announce({ hash: "new1" })).readUInt32BE(0), 1);
  const answer = await client.announce({ hash: "new2" });
  assert.equal(answer.readUInt32BE(0), 3);
  assert.equal(answer.toString("latin1", 8), "tracker busy, retry in 120 seconds");
});

test("workers grow with the fill of the queue, one a second, and shrink again", async () => {
  const open: (() => void)[] = [];
  await using up = await HttpUpstream.open(
    () => new Promise((resolve) => open.push(() => resolve(told({ peers: "" })))),
  );
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 2, max_forwarder_workers: 4, forwarder_queue_size: 10 },
  });
  for (let i = 0; i < 10; i++) await scene.announce({ peer: `p${i}` });
  const workers = async () => (await scene.retracker.statistics()).active_workers;
  assert.equal(await workers(), 2);
  await scene.clock.advance("1s");
  assert.equal(await workers(), 3);
  await scene.clock.advance("1s");
  assert.equal(await workers(), 4);
  await scene.clock.advance("5s");
  assert.equal(await workers(), 4);
  up.answer = () => told({ peers: "" });
  for (const one of open) one();
  await scene.settled();
  await scene.clock.advance("1s");
  assert.equal(await workers(), 3);
  await scene.clock.advance("10s");
  assert.equal(await workers(), 2);
});

test("'retry in' below ten minutes is followed, at most five times in a row", async () => {
  await using up = await HttpUpstream.open(() => failing("busy", 5));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  const [scheduled] = (await scene.retracker.statistics()).scheduled_announces;
  assert.equal(scheduled?.time_to_exec, 300);
  assert.equal(scheduled?.forwarder, "up0");
  await scene.advance("299s");
  assert.equal(up.asked.length, 1);
  await scene.advance("1s");
  assert.equal(up.asked.length, 2);
  for (let i = 0; i < 4; i++) await scene.advance("300s");
  assert.equal(up.asked.length, 6);
  // The sixth wish is a failed announce, which is tried again after a minute.
  assert.deepEqual((await scene.retracker.statistics()).scheduled_announces, []);
  assert.equal((await scene.forwarder("up0")).failures, 1);
});

test("'retry in' may be text, and from ten minutes on it is the next announce", async () => {
  await using up = await HttpUpstream.open(() => failing("busy", "10"));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  const statistics = await scene.retracker.statistics();
  assert.deepEqual(statistics.scheduled_announces, []);
  assert.equal(statistics.forwarders[0]!.state, "active");
  assert.equal(statistics.forwarders[0]!.failures, 0);
  await scene.advance("599s");
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 1);
  await scene.advance("1s");
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 2);
});

test("'never' ends the hash there, and three within an hour the forwarder", async () => {
  await using up = await HttpUpstream.open(() => failing("go away", "never"));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce({ hash: "h1" });
  await scene.settled();
  await scene.advance("2h");
  await scene.announce({ hash: "h1" });
  await scene.settled();
  assert.equal(up.asked.length, 1);
  await scene.announce({ hash: "h2" });
  await scene.settled();
  await scene.announce({ hash: "h3" });
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).state, "active");
  await scene.announce({ hash: "h4" });
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).state, "disabled");
});

test("a failure without 'retry in' is retried after one minute, then after two", async () => {
  await using up = await HttpUpstream.open(() => failing("not registered"));
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { announce_interval: 200, age: 600 },
  });
  await scene.announce();
  await scene.settled();
  const times: number[] = [];
  let count = up.asked.length;
  for (let second = 1; second <= 800; second++) {
    await scene.advance(1000);
    await scene.announce();
    await scene.settled();
    if (up.asked.length > count) times.push(second);
    count = up.asked.length;
  }
  assert.deepEqual(times, [60, 180, 380, 580, 780]);
});
