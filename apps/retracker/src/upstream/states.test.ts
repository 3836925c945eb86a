import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { failing, HttpUpstream, told } from "../testing/http-upstream.ts";
import { hashOf, specsOf, TestApp } from "../testing/scene.ts";
import { Forwarder } from "./forwarder.ts";

for (const status of [429, 503]) {
  test(`${status} suspends for the configured time at least, and jobs wait`, async () => {
    await using up = await HttpUpstream.open(() => ({ status }));
    await using scene = await TestApp.open({ forwarders: [up.uri] });
    await scene.announce();
    await scene.settled();
    assert.equal((await scene.forwarder("up0")).state, "suspended");
    // New announces make no jobs, and those that are there wait.
    await scene.announce({ peer: "other" });
    await scene.settled();
    up.answer = () => told({ peers: "" });
    await scene.advance("299s");
    assert.equal(up.asked.length, 1);
    await scene.advance("1s");
    assert.equal(up.asked.length, 2);
    assert.equal((await scene.forwarder("up0")).state, "active");
  });
}

test("Retry-After prolongs a suspension, up to an hour", async () => {
  await using up = await HttpUpstream.open(() => ({
    status: 429,
    headers: { "retry-after": "99999" },
  }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  await scene.advance("3599s");
  assert.equal(up.asked.length, 1);
  await scene.advance("1s");
  assert.equal(up.asked.length, 2);
});

test("a temporary failure is retried with growing delays, and no worker waits for it", async () => {
  await using up = await HttpUpstream.open(() => ({ status: 500 }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.retracker.statistics()).scheduled_announces.length, 1);
  for (const [delayMs, tries] of [
    [500, 2],
    [1000, 3],
    [2000, 4],
    [4000, 5],
  ] as const) {
    await scene.advance(delayMs - 1);
    assert.equal(up.asked.length, tries - 1);
    await scene.advance(1);
    assert.equal(up.asked.length, tries);
  }
  // Five attempts in all, then the announce has failed.
  assert.equal((await scene.forwarder("up0")).failures, 1);
  assert.equal((await scene.retracker.statistics()).pending_jobs, 0);
});

test("a time-out is a temporary failure", async () => {
  await using up = await HttpUpstream.open(() => new Promise(() => {}));
  await using scene = await TestApp.open({ forwarders: [{ uri: up.uri, timeout: 1 }] });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.retracker.statistics()).scheduled_announces.length, 1);
});

test("a due retry that finds the queue full comes ten seconds later", async () => {
  await using failingOnce = await HttpUpstream.open(() => ({ status: 500 }));
  await using scene = await TestApp.open({
    forwarders: [failingOnce.uri],
    settings: {
      forwarder_workers: 1,
      max_forwarder_workers: 1,
      forwarder_queue_size: 1,
      queue_rate_limit_threshold: 0,
    },
  });
  await scene.announce({ peer: "a" });
  await scene.settled();
  failingOnce.answer = () => new Promise(() => {});
  await scene.announce({ peer: "b" });
  await scene.announce({ peer: "c" });
  assert.equal((await scene.retracker.statistics()).queue_fill_pct, 100);
  await scene.clock.advance(500);
  const [scheduled] = (await scene.retracker.statistics()).scheduled_announces;
  assert.equal(scheduled?.time_to_exec, 10);
  await scene.clock.advance("10s");
  assert.equal((await scene.retracker.statistics()).scheduled_announces.length, 1);
});

for (const status of [400, 403, 404]) {
  test(`${status} disables at once, with a reason and a probe`, async () => {
    await using up = await HttpUpstream.open(() => ({ status }));
    await using scene = await TestApp.open({ forwarders: [up.uri] });
    await scene.announce();
    await scene.settled();
    const forwarder = await scene.forwarder("up0");
    assert.equal(forwarder.state, "disabled");
    assert.equal(forwarder.reason, `HTTP ${status}`);
    assert.equal(forwarder.next_probe_seconds, 300);
  });
}

test("a closed port disables a forwarder, and a later probe finds it again", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await up.stop();
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).reason, "ECONNREFUSED");
  for (const minutes of [5, 15]) {
    const { next_probe_seconds, state } = await scene.forwarder("up0");
    assert.deepEqual([state, next_probe_seconds], ["disabled", minutes * 60]);
    if (minutes === 15) await up.start();
    await scene.advance(minutes * 60_000);
  }
  assert.equal((await scene.forwarder("up0")).state, "active");
  const count = up.asked.length;
  await scene.announce({ peer: "other" });
  await scene.settled();
  assert.equal(up.asked.length, count + 1);
});

test("probes come after 5, 15 and 60 minutes, then every 6 hours", () => {
  const forwarder = new Forwarder(specsOf(["http://tracker.example.org/announce"])[0]!);
  const minutes: number[] = [];
  let now = 1_000_000;
  for (let i = 0; i < 6; i++) {
    forwarder.disable("ENOTFOUND", now, true);
    minutes.push((forwarder.probeAt - now) / 60_000);
    now = forwarder.probeAt;
  }
  assert.deepEqual(minutes, [5, 15, 60, 360, 360, 360]);
  forwarder.enable(now);
  forwarder.disable("ENOTFOUND", now);
  assert.equal(forwarder.probeAt - now, 5 * 60_000);
});

test("without local peers the next announce is the probe", async () => {
  await using up = await HttpUpstream.open(() => ({ status: 404 }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  await scene.announce({ event: "stopped" });
  up.answer = () => told({ peers: "" });
  await scene.advance("10m");
  assert.equal((await scene.forwarder("up0")).state, "disabled");
  await scene.announce({ peer: "new" });
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).state, "active");
});

test("jobs of a forwarder that becomes disabled are cancelled", async () => {
  const { promise, resolve } = Promise.withResolvers<{ status: number }>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_workers: 1, max_forwarder_workers: 1 },
  });
  for (const peer of ["a", "b", "c"]) await scene.announce({ peer });
  assert.equal((await scene.retracker.statistics()).pending_jobs, 3);
  resolve({ status: 403 });
  await scene.settled();
  assert.equal((await scene.retracker.statistics()).pending_jobs, 0);
  assert.equal(up.asked.length, 1);
});

test("ten failed announces in a row disable, and a good one resets the count", async () => {
  await using up = await HttpUpstream.open(() => failing("no"));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  const announce = async (hash: string): Promise<void> => {
    await scene.announce({ hash });
    await scene.settled();
  };
  for (let i = 0; i < 9; i++) await announce(`h${i}`);
  up.answer = () => told({ peers: "" });
  await announce("good");
  up.answer = () => failing("no");
  for (let i = 10; i < 19; i++) await announce(`h${i}`);
  assert.equal((await scene.forwarder("up0")).state, "active");
  await announce("h19");
  const { state, reason } = await scene.forwarder("up0");
  assert.equal(state, "disabled");
  assert.match(reason, /^10 failed announces in a row, the last: no$/);
});

test("other 4xx answers count as a failed announce, and peers from forwarders stay", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: "\x0a\x01\x01\x01\x1a\xe1" }));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  up.answer = () => ({ status: 418 });
  await scene.advance("1800s");
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).failures, 1);
  const answer = await scene.announce();
  assert.equal((answer.get("peers") as Buffer).length, 6);
  // They age with the peers.
  await scene.advance("179m");
  await scene.announce();
  await scene.retracker.purge();
  assert.equal(((await scene.announce()).get("peers") as Buffer).length, 0);
});

test("a forwarder is switched off and on by hand", async () => {
  await using up = await HttpUpstream.open();
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  assert.equal(await scene.retracker.switchForwarder("up0", false), true);
  assert.equal(await scene.retracker.switchForwarder("nobody", false), false);
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 0);
  assert.equal((await scene.forwarder("up0")).state, "off");
  await scene.retracker.switchForwarder("up0", true);
  await scene.announce();
  await scene.settled();
  assert.equal(up.asked.length, 1);
});

test("a server that is not TLS disables a forwarder of https", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).end("no TLS here\n"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await using scene = await TestApp.open({ forwarders: [`https://127.0.0.1:${port}/announce`] });
  await scene.announce();
  await scene.settled();
  const { state, reason } = await scene.forwarder("up0");
  assert.equal(state, "disabled");
  assert.match(reason, /TLS/);
  server.close();
});

test("nothing is forwarded to ourselves", async () => {
  await using scene = await TestApp.open({ settings: { listen: "127.0.0.1:0" } });
  const own = `http://localhost:${scene.retracker.ports.http}/announce`;
  const udp = `udp://127.0.0.1:${scene.retracker.ports.udp}/announce`;
  const { mkdtempSync, writeFileSync, rmSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const file = join(dir, "forwarders.yml");
  writeFileSync(file, `- uri: ${own}\n  name: http\n- uri: ${udp}\n  name: udp\n`);
  scene.retracker.settings.forwarders = file;
  assert.deepEqual(await scene.retracker.reload(), []);
  await scene.announce();
  await scene.settled();
  for (const name of ["http", "udp"]) {
    const { state, reason } = await scene.forwarder(name);
    assert.deepEqual([state, reason], ["disabled", "it is this tracker itself"]);
  }
  assert.equal((await scene.retracker.statistics()).announces, 1);
  rmSync(dir, { recursive: true });
});

test("announces that were under way when a forwarder failed do not skip a step", async () => {
  const { promise, resolve } = Promise.withResolvers<{ status: number }>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  for (let i = 0; i < 10; i++) await scene.announce({ hash: `h${i}` });
  await scene.sluice.drain();
  resolve({ status: 404 });
  await scene.settled();
  assert.equal(up.asked.length, 10);
  assert.equal((await scene.forwarder("up0")).next_probe_seconds, 300);
  // Each probe that fails is one step.
  await scene.advance("5m");
  assert.equal((await scene.forwarder("up0")).next_probe_seconds, 900);
});

test("more failures at once than the threshold are one step too", async () => {
  const { promise, resolve } = Promise.withResolvers<ReturnType<typeof failing>>();
  await using up = await HttpUpstream.open(() => promise);
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { forwarder_fail_threshold: 3 },
  });
  for (let i = 0; i < 8; i++) await scene.announce({ hash: `h${i}` });
  await scene.sluice.drain();
  resolve(failing("no"));
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).next_probe_seconds, 300);
});

test("a failure under way does not undo a switch by hand", async () => {
  const { promise, resolve } = Promise.withResolvers<{ status: number }>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  await using up = await HttpUpstream.open(() => {
    reach();
    return promise;
  });
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await reached;
  await scene.retracker.switchForwarder("up0", false);
  resolve({ status: 404 });
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).state, "off");
});

test("a probe shows only hashes that may leave", async () => {
  await using up = await HttpUpstream.open();
  const secret = Buffer.from(hashOf("\0private"), "latin1").toString("hex");
  await using scene = await TestApp.open({
    forwarders: [up.uri],
    settings: { never_forward: [secret] },
  });
  await up.stop();
  await scene.announce({ hash: "\0private" });
  await scene.announce({ hash: "public" });
  await scene.settled();
  await up.start();
  await scene.advance("5m");
  await scene.advance("2m");
  assert.equal((await scene.forwarder("up0")).state, "active");
  const hashes = new Set(up.asked.map(({ fields }) => fields.get("info_hash")));
  assert.deepEqual([...hashes], [hashOf("public")]);
});

test("the last failure of an active forwarder is shown, and the rest of a suspension", async () => {
  await using up = await HttpUpstream.open(() => failing("unregistered torrent"));
  await using scene = await TestApp.open({ forwarders: [up.uri] });
  await scene.announce();
  await scene.settled();
  await scene.advance("7s");
  const failed = await scene.forwarder("up0");
  assert.equal(failed.state, "active");
  assert.deepEqual([failed.last_failure, failed.last_failure_seconds], ["unregistered torrent", 7]);
  up.answer = () => ({ status: 429 });
  await scene.announce({ hash: "other" });
  await scene.settled();
  await scene.advance("20s");
  const suspended = await scene.forwarder("up0");
  assert.deepEqual([suspended.state, suspended.suspended_seconds], ["suspended", 280]);
});
