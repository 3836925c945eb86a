import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { fetchBytes, TestApp } from "../testing/scene.ts";
import { type HttpLimits, type HttpServerOptions, LIMITS } from "./http-connection.ts";
import { textResponse } from "./response.ts";
import { HttpServer } from "./server.ts";

class Served implements AsyncDisposable {
  readonly server: HttpServer;
  readonly errors: unknown[] = [];
  port = 0;

  private constructor(answer: HttpServerOptions["answer"], limits: Partial<HttpLimits>) {
    const onError = (error: unknown): void => void this.errors.push(error);
    this.server = new HttpServer({ answer, onError, limits: { ...LIMITS, ...limits } });
  }

  static async open(
    limits: Partial<HttpLimits> = {},
    answer: HttpServerOptions["answer"] = ({ path }) => textResponse(200, path),
  ): Promise<Served> {
    const served = new Served(answer, limits);
    served.port = await served.server.listen("127.0.0.1", 0);
    return served;
  }

  async connect(): Promise<Client> {
    const socket = connect({ port: this.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return new Client(socket);
  }

  /** Resolves when the server has let go of all connections. */
  async emptied(): Promise<void> {
    while (this.server.connections > 0) await new Promise(setImmediate);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

class Client {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  text = "";

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("error", () => {});
    socket.on("data", (bytes: Buffer) => {
      this.text += bytes.toString("latin1");
    });
    socket.on("end", () => socket.end());
    // `once` would reject for a connection that is reset.
    this.closed = new Promise((resolve) => socket.on("close", resolve));
  }

  get answers(): number {
    return this.text.split("HTTP/1.1 ").length - 1;
  }
}

const GET = "GET /here HTTP/1.1\r\nHost: x\r\n\r\n";

test("if a handler throws, answers 500, reports the error and keeps serving", async () => {
  let isBroken = true;
  await using served = await Served.open({}, () => {
    if (isBroken) throw new RangeError("a bug");
    return textResponse(200, "well");
  });
  const client = await served.connect();
  client.socket.write(GET);
  await once(client.socket, "data");
  assert.match(client.text, /^HTTP\/1.1 500 /);
  assert.match(String(served.errors[0]), /a bug/);
  isBroken = false;
  client.socket.write(GET.replace("Host: x", "Connection: close"));
  await client.closed;
  assert.match(client.text, /HTTP\/1.1 200 /);
});

test("answers a client that closes its side after the request, at once or later", async () => {
  for (const isLater of [false, true]) {
    await using served = await Served.open({}, ({ path }) => {
      const response = textResponse(200, path);
      return isLater ? new Promise((resolve) => setImmediate(resolve, response)) : response;
    });
    const client = await served.connect();
    client.socket.end(GET + GET);
    await client.closed;
    assert.equal(client.answers, 2, `later: ${isLater}`);
  }
});

test("slow heads, idle connections and those that never ask are closed", async () => {
  await using served = await Served.open({ headMs: 20, idleMs: 20 });
  const [slow, idle, silent] = await Promise.all([
    served.connect(),
    served.connect(),
    served.connect(),
  ]);
  slow.socket.write("GET /he");
  // Single bytes do not keep a connection alive: the time limit applies to the whole head.
  const drip = setInterval(() => slow.socket.write("x"), 5).unref();
  idle.socket.write(GET);
  await Promise.all([slow.closed, idle.closed, silent.closed]);
  clearInterval(drip);
  assert.deepEqual([slow.answers, idle.answers, silent.answers], [0, 1, 0]);
  await served.emptied();
});

test("connections are bounded in all and per address, and a closed one makes room", async () => {
  for (const limits of [{ socketsMax: 2 }, { socketsPerAddressMax: 2 }]) {
    await using served = await Served.open(limits);
    const [first] = [await served.connect(), await served.connect()];
    const third = await served.connect();
    await third.closed;
    assert.equal(served.server.refused, 1);
    first.socket.end(GET);
    await first.closed;
    const fourth = await served.connect();
    fourth.socket.end(GET);
    await fourth.closed;
    assert.equal(fourth.answers, 1);
  }
});

test("a proxy may have more connections than one client", async () => {
  await using scene = await TestApp.open({ settings: { x_real_ip: ["127.0.0.0/8"] } });
  await using other = await TestApp.open();
  for (const [{ url }, status] of [
    [scene, 200],
    [other, 0],
  ] as const) {
    const { port } = new URL(url);
    const sockets = await Promise.all(
      Array.from({ length: LIMITS.socketsPerAddressMax }, async () => {
        const socket = connect(Number(port), "127.0.0.1");
        await once(socket, "connect");
        return socket;
      }),
    );
    const { status: got } = await fetchBytes(`${url}/healthz`).catch(() => ({ status: 0 }));
    assert.equal(got, status);
    for (const socket of sockets) socket.destroy();
  }
});

test("a connection ends with the last request that it may make", async () => {
  await using served = await Served.open({ requestsPerSocketMax: 3 });
  const client = await served.connect();
  client.socket.write(GET.repeat(5));
  await client.closed;
  assert.equal(client.answers, 3);
  assert.equal(client.text.split("Connection: close").length - 1, 1);
});

test("a client that does not read its answers is disconnected", async () => {
  const body = "x".repeat(1_000_000);
  await using served = await Served.open({ unsentBytesMax: 1_000 }, () => textResponse(200, body));
  const client = await served.connect();
  client.socket.pause();
  // More than any socket buffers hold.
  client.socket.write(GET.repeat(100));
  await served.emptied();
  client.socket.destroy();
});

test("a large answer arrives whole although the connection is closed behind it", async () => {
  const body = "y".repeat(5_000_000);
  await using served = await Served.open({}, () => textResponse(200, body));
  const client = await served.connect();
  client.socket.write(GET.replace("Host: x", "Connection: close"));
  await client.closed;
  assert.ok(client.text.endsWith(`\r\n\r\n${body}\n`));
});

test("a client that never closes its side does not keep the server from closing", async () => {
  const served = await Served.open({ idleMs: 20 });
  const socket = connect({ port: served.port, host: "127.0.0.1", allowHalfOpen: true });
  socket.write("POST / HTTP/1.1\r\n\r\n");
  await once(socket, "data");
  await served.server.close();
  await served.emptied();
  socket.destroy();
});

test("a refusal arrives although the rest of the request is still coming", async () => {
  await using served = await Served.open();
  const client = await served.connect();
  const head = "GET / HTTP/1.1\r\nContent-Length: 500000\r\n\r\n";
  client.socket.write(head + "z".repeat(500_000));
  await client.closed;
  assert.match(client.text, /^HTTP\/1.1 413 /);
});

test("requests of an address that asks too much wait, one after the other", async () => {
  const waits = [0, 1, 1, 0];
  const served = new HttpServer({
    answer: ({ path }) => textResponse(200, path),
    onError: (error) => assert.fail(String(error)),
    hold: () => waits.shift()!,
  });
  const port = await served.listen("127.0.0.1", 0);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const client = new Client(socket);
  socket.end(["/a", "/b", "/c", "/d"].map((path) => GET.replace("/here", path)).join(""));
  await client.closed;
  assert.deepEqual(client.text.match(/\/[a-d]$/gm), ["/a", "/b", "/c", "/d"]);
  assert.deepEqual(waits, []);
  await served.close();
});

test("a server that closes does not wait for requests that are held back", async () => {
  const served = new HttpServer({
    answer: () => textResponse(200, "ok"),
    onError: (error) => assert.fail(String(error)),
    hold: () => 60_000,
  });
  const port = await served.listen("127.0.0.1", 0);
  const client = new Client(connect(port, "127.0.0.1"));
  client.socket.write(GET);
  while (served.connections === 0) await new Promise(setImmediate);
  await served.close();
  await client.closed;
  assert.equal(client.text, "");
});
