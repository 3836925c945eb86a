import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { HttpUpstream, told } from "../testing/http-upstream.ts";
import { TestApp } from "../testing/scene.ts";
import { call } from "./http-call.ts";
import { loadRemote, unite } from "./load-forwarders.ts";

const SHARED = {
  headers: {},
  proxy: undefined,
  isPublicOnly: false,
  ownPorts: new Set<number>(),
};

function get(url: string, bytesMax = 1000, proxy?: string): ReturnType<typeof call> {
  return call({ ...SHARED, url, bytesMax, proxy, signal: AbortSignal.timeout(5000) });
}

test("three redirects to public addresses are followed, a fourth is not", async () => {
  // The proxy takes the place of the public addresses, which a test must not call.
  const way = ["http://1.1.1.1/a", "http://8.8.8.8:6969/b", "http://[2606:4700::1]/c"];
  const places = [...way, "http://9.9.9.9/d", "http://1.0.0.1/e"];
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    const location = places[places.indexOf(request.url ?? "") + 1];
    if (location === undefined) response.end("there");
    else response.writeHead(302, { location }).end();
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
  await assert.rejects(get(places[0]!, 1000, address), { code: "EANSWER", message: /3 redirects/ });
  assert.deepEqual(asked.splice(0), places.slice(0, 4));
  const { status, body } = await get(places[1]!, 1000, address);
  assert.deepEqual([status, body.toString()], [200, "there"]);
  assert.deepEqual(asked, places.slice(1));
  proxy.close();
  proxy.closeAllConnections();
});

test("a redirect to a private address is not followed, however it is written", async () => {
  for (const location of [
    "http://127.0.0.1:9/",
    "http://0x7f000001:9/",
    "http://[::ffff:127.0.0.1]:9/",
    "http://169.254.169.254/",
    "http://localhost:9/",
    "http://user:word@8.8.8.8/",
    "ftp://8.8.8.8/",
  ]) {
    await using up = await HttpUpstream.open(() => ({ status: 302, headers: { location } }));
    await assert.rejects(get(up.uri), { code: "EANSWER" }, location);
    assert.equal(up.asked.length, 1);
  }
});

test("an answer that is too long is cut off", async () => {
  await using up = await HttpUpstream.open(() => ({ body: Buffer.alloc(1001) }));
  await assert.rejects(get(up.uri), /more than 1000 bytes/);
  up.answer = () => ({ body: Buffer.alloc(1000) });
  assert.equal((await get(up.uri)).body.length, 1000);
});

test("a forwarder behind a proxy is asked through it", async () => {
  await using up = await HttpUpstream.open(() => told({ peers: "" }));
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    void get(request.url!).then(({ body }) => response.end(body));
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as { port: number };
  await using scene = await TestApp.open({
    forwarders: [{ uri: up.uri, proxy: `http://127.0.0.1:${port}` }],
  });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).answers, 1);
  assert.ok(asked[0]?.startsWith(up.uri));
  proxy.close();
  proxy.closeAllConnections();
});

test("a remote list may only lead to public addresses, and through no proxy", async () => {
  await using inside = await HttpUpstream.open();
  const udp = createSocket("udp4").bind(0, "127.0.0.1");
  await once(udp, "listening");
  udp.on("message", () => assert.fail("it was called"));
  const entries = [
    `- uri: ${inside.uri}\n  name: http`,
    `- uri: udp://127.0.0.1:${udp.address().port}/announce\n  name: udp`,
    `- uri: http://1.1.1.1/announce\n  proxy: ${new URL(inside.uri).origin}`,
  ];
  await using list = await HttpUpstream.open(() => ({ body: Buffer.from(entries.join("\n")) }));
  await using scene = await TestApp.open({ settings: { forwarder_lists: [list.uri] } });
  assert.match(String(scene.errors[0]), /:5: a remote list may name no proxy/);
  await scene.announce();
  await scene.settled();
  for (const name of ["http", "udp"]) assert.equal((await scene.forwarder(name)).failures, 1);
  assert.equal(inside.asked.length, 0);
  udp.close();
});

test("a list that cannot be read or is all wrong leaves the last one in use", async () => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-retracker-"));
  const forwarders = join(dir, "list.yml");
  writeFileSync(forwarders, "- uri: udp://127.0.0.1:9/announce\n");
  await using list = await HttpUpstream.open(() => ({ body: Buffer.from("udp://a.example:80/") }));
  await using scene = await TestApp.open({ settings: { forwarders, forwarder_lists: [list.uri] } });
  assert.equal(scene.retracker.forwarderCount, 2);
  for (const text of ["- uri: [", "<html>", "- uri: nonsense\n"]) {
    writeFileSync(forwarders, text);
    list.answer = () => ({ body: Buffer.from(text) });
    assert.equal((await scene.retracker.reload()).length, 2, text);
    assert.equal(scene.retracker.forwarderCount, 2, text);
  }
  rmSync(forwarders);
  assert.match((await scene.retracker.reload())[0]!, /list\.yml cannot be read/);
  assert.equal(scene.retracker.forwarderCount, 2);
  writeFileSync(forwarders, "");
  list.answer = () => ({ body: Buffer.from("") });
  assert.deepEqual(await scene.retracker.reload(), []);
  assert.equal(scene.retracker.forwarderCount, 0);
  rmSync(dir, { recursive: true });
});

test("remote lists are YAML or plain lines, and one may fail", async () => {
  const plain = "udp://a.example:80/announce\n\nhttp://b.example/announce\nwss://c.example\n";
  await using up = await HttpUpstream.open(() => ({ body: Buffer.from(plain) }));
  const { specs } = await loadRemote(up.uri);
  assert.deepEqual(
    specs?.map(({ name }) => name),
    ["a.example", "b.example"],
  );
  up.answer = () => ({ status: 500 });
  const failed = await loadRemote(up.uri);
  assert.equal(failed.specs, undefined);
  assert.match(failed.problems[0]!, /cannot be read: HTTP 500/);
  const twice = unite([
    { source: "one", specs: specs! },
    { source: "two", specs: [{ ...specs![0]!, uri: "udp://other.example:1/" }, specs![1]!] },
  ]);
  assert.equal(twice.specs.length, 2);
  assert.deepEqual(twice.problems, ["two: the name a.example is in use; the entry is ignored"]);
});
