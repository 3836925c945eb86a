import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { HttpUpstream } from "../testing/http-upstream.ts";
import { peersIn, specsOf, TestApp } from "../testing/scene.ts";
import { UdpProxy } from "../testing/udp-proxy.ts";
import { good, UdpUpstream } from "../testing/udp-upstream.ts";
import { associateBySocks, targetOf, unwrapPacket, wrapPacket } from "./socks.ts";

/** A SOCKS5 proxy that notes where it is asked to go, and goes to a port of the loopback. */
async function openProxy(target: number, password: string | undefined) {
  const asked: string[] = [];
  const serve = async (socket: Socket): Promise<void> => {
    const read = async (): Promise<Buffer> => ((await once(socket, "data")) as [Buffer])[0];
    await read();
    socket.write(Buffer.from([5, password === undefined ? 0 : 2]));
    if (password !== undefined) {
      const said = await read();
      const user = said.subarray(2, 2 + said[1]!);
      const isGood = said.subarray(3 + user.length).toString() === password;
      socket.write(Buffer.from([1, isGood ? 0 : 1]));
    }
    const request = await read();
    asked.push(
      `${request.subarray(5, 5 + request[4]!)}:${request.readUInt16BE(request.length - 2)}`,
    );
    const other = connect(target, "127.0.0.1");
    other.on("error", () => socket.destroy());
    socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
    socket.pipe(other).pipe(socket);
  };
  const server = createServer((socket) => {
    socket.on("error", () => {});
    void serve(socket).catch(() => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return { asked, port, close: () => server.close() };
}

for (const password of [undefined, "p:w"]) {
  test(`a forwarder is reached by SOCKS5 ${password ? "with a password" : "alone"}`, async () => {
    await using up = await HttpUpstream.open();
    const proxy = await openProxy(Number(new URL(up.uri).port), password);
    const login = password === undefined ? "" : `user:${encodeURIComponent(password)}@`;
    // The name is not known here: only the proxy looks it up.
    const uri = "http://tracker.invalid:8080/announce";
    const entry = { uri, proxy: `socks5://${login}127.0.0.1:${proxy.port}` };
    await using scene = await TestApp.open({ forwarders: [entry] });
    await scene.announce();
    await scene.settled();
    assert.deepEqual(proxy.asked, ["tracker.invalid:8080"]);
    assert.equal(up.asked.length, 1);
    assert.equal((await scene.forwarder("up0")).answers, 1);
    proxy.close();
  });
}

for (const password of [undefined, "p:w"]) {
  test(`UDP goes through SOCKS5 ${password ? "with a password" : "alone"}`, async () => {
    await using up = await UdpUpstream.open();
    await using proxy = await UdpProxy.open(up.port, password);
    const login = password === undefined ? "" : `user:${encodeURIComponent(password)}@`;
    // The name is not known here: only the proxy looks it up.
    const uri = "udp://tracker.invalid:8080/announce";
    const entry = { uri, proxy: `socks5://${login}127.0.0.1:${proxy.port}` };
    await using scene = await TestApp.open({ forwarders: [entry] });
    await scene.announce({ peer: "first" });
    await scene.settled();
    await scene.announce({ peer: "other" });
    await scene.settled();
    assert.deepEqual([...new Set(proxy.targets)], ["tracker.invalid:8080"]);
    // One relay and one connection id serve both announces.
    assert.deepEqual([proxy.relays, up.connects, up.announces.length], [1, 1, 2]);
    assert.equal(peersIn(await scene.announce()).includes("10.1.1.1:6881"), true);
  });
}

test("a UDP forwarder is announced to again when the proxy has ended its relay", async () => {
  await using up = await UdpUpstream.open();
  await using proxy = await UdpProxy.open(up.port);
  const uri = "udp://tracker.invalid:8080/announce";
  const entry = { uri, proxy: `socks5://127.0.0.1:${proxy.port}` };
  await using scene = await TestApp.open({ forwarders: [entry] });
  up.answer = () => {
    up.answer = (_packet, transaction) => [good(transaction)];
    proxy.endRelays();
    return [];
  };
  await scene.announce();
  await scene.settled();
  assert.match((await scene.forwarder("up0")).last_failure, /proxy ended its relay/);
  await scene.advance(1000);
  assert.equal((await scene.forwarder("up0")).answers, 1);
  assert.equal(proxy.relays, 2);
});

test("a proxy that relays no UDP fails the announce, with that reason", async () => {
  await using proxy = await UdpProxy.open(1);
  proxy.reply = 7;
  const uri = "udp://tracker.invalid:8080/announce";
  const entry = { uri, proxy: `socks5://127.0.0.1:${proxy.port}` };
  await using scene = await TestApp.open({ forwarders: [entry] });
  await scene.announce();
  await scene.settled();
  assert.match((await scene.forwarder("up0")).last_failure, /the proxy does not relay UDP/);
});

test("a proxy that never answers ends the call when its time is over", async () => {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const time = new AbortController();
  const call = associateBySocks(new URL(`socks5://127.0.0.1:${port}`), time.signal);
  const [socket] = (await once(server, "connection")) as [Socket];
  time.abort(new Error("time is over"));
  await assert.rejects(call, /aborted/);
  await once(socket, "close");
  server.close();
});

test("packets of a relay are unwrapped by their address, and fragments are dropped", () => {
  const packet = Buffer.from("packet");
  for (const [host, isV4] of [
    ["192.0.2.7", true],
    ["[2001:db8::1]", false],
    ["name.test", undefined],
  ] as const) {
    const bytes = wrapPacket(targetOf(host, 8080), packet);
    assert.deepEqual(unwrapPacket(bytes), { isV4, packet });
    for (let end = 0; end < bytes.length - packet.length; end++) {
      assert.equal(unwrapPacket(bytes.subarray(0, end)), undefined);
    }
    bytes[2] = 1;
    assert.equal(unwrapPacket(bytes), undefined);
  }
});

test("a UDP forwarder with an HTTP proxy is refused, because such a proxy carries no UDP", () => {
  const uri = "udp://tracker.example.org:1/announce";
  assert.throws(() => specsOf([{ uri, proxy: "http://127.0.0.1:1" }]), /a socks5 address/);
});

test("an HTTP proxy gets the login of its address, and the forwarder does not", async () => {
  const shown: (string | undefined)[] = [];
  const proxy = createHttpServer((request, response) => {
    shown.push(request.headers["proxy-authorization"], request.headers.authorization);
    response.end("d8:intervali1800e5:peers0:e");
  });
  proxy.on("connect", (request, socket) => {
    shown.push(request.headers["proxy-authorization"], request.headers.authorization);
    socket.on("error", () => {});
    socket.end("HTTP/1.1 200 OK\r\n\r\nno TLS here");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as { port: number };
  const login = `Basic ${Buffer.from("user:p:w").toString("base64")}`;
  for (const scheme of ["http", "https"]) {
    const uri = `${scheme}://tracker.invalid/announce`;
    const entry = { uri, proxy: `http://user:p%3Aw@127.0.0.1:${port}` };
    await using scene = await TestApp.open({ forwarders: [entry] });
    await scene.announce();
    await scene.settled();
  }
  assert.deepEqual(shown, [login, undefined, login, undefined]);
  proxy.close();
});

test("a forwarder of HTTPS is reached by an HTTP proxy, and not past it", async () => {
  const asked: string[] = [];
  const proxy = createHttpServer();
  proxy.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    socket.on("error", () => {});
    socket.end("HTTP/1.1 200 OK\r\n\r\nno TLS here");
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const { port } = proxy.address() as { port: number };
  const entry = {
    uri: "https://tracker.invalid/announce",
    proxy: `http://127.0.0.1:${port}`,
  };
  await using scene = await TestApp.open({ forwarders: [entry] });
  await scene.announce();
  await scene.settled();
  assert.deepEqual(asked, ["tracker.invalid:443"]);
  proxy.close();
});
