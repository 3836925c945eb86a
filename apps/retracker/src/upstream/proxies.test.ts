import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { HttpUpstream } from "../testing/http-upstream.ts";
import { specsOf, TestApp } from "../testing/scene.ts";

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

test("a forwarder of UDP with a proxy is refused: it would be passed by", () => {
  const uri = "udp://tracker.example.org:1/announce";
  assert.throws(() => specsOf([{ uri, proxy: "socks5://127.0.0.1:1" }]), /cannot have a proxy/);
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
