import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { test } from "node:test";
import { HttpUpstream, told } from "../testing/http-upstream.ts";
import { Scene } from "../testing/scene.ts";
import { call } from "./http-call.ts";
import { loadRemote, unite } from "./load-forwarders.ts";

const SHARED = { headers: {}, proxy: undefined, ownPorts: new Set<number>() };

function get(url: string, bytesMax = 1000): ReturnType<typeof call> {
  return call({ ...SHARED, url, bytesMax, signal: AbortSignal.timeout(5000) });
}

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
  await using scene = await Scene.open({
    forwarders: [{ uri: up.uri, proxy: `http://127.0.0.1:${port}` }],
  });
  await scene.announce();
  await scene.settled();
  assert.equal((await scene.forwarder("up0")).answers, 1);
  assert.ok(asked[0]?.startsWith(up.uri));
  proxy.close();
  proxy.closeAllConnections();
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
  assert.deepEqual(twice.problems, ["two: there is a forwarder called a.example already"]);
});
