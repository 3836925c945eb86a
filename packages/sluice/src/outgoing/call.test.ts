import assert from "node:assert/strict";
import type { LookupFunction } from "node:net";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { serveHttp } from "@sluice/server/testing/loopback";
import { callOutside, type OutgoingOptions } from "./call.ts";
import { OutgoingError } from "./errors.ts";
import { publicLookup } from "./target.ts";

const OPERATOR: OutgoingOptions = { chooser: "operator", timeout: "5s", bytesMax: 10_000 };
const STRANGER: OutgoingOptions = { ...OPERATOR, chooser: "stranger" };

function failsFor(reason: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof OutgoingError, String(error));
    assert.equal(error.reason, reason, error.message);
    return true;
  };
}

test("an operator's private address is called, and the answer comes whole", async (t) => {
  const address = await serveHttp(t, (request, response) => {
    response.writeHead(418, { "x-seen": request.headers["x-mine"] }).end("body");
  });
  const answer = await callOutside(`${address}/a?b=c`, { ...OPERATOR, headers: { "x-mine": "1" } });
  assert.equal(answer.status, 418);
  assert.equal(answer.headers["x-seen"], "1");
  assert.equal(Buffer.from(answer.body).toString(), "body");
  assert.equal(answer.url, `${address}/a?b=c`);
});

const REFUSED = [
  "ftp://example.com/",
  "file:///etc/passwd",
  "not a url",
  "http://user:secret@93.184.216.34/",
  "http://93.184.216.34:22/",
  "http://127.0.0.1/",
  "http://0x7f000001/",
  "http://2130706433/",
  "http://127.1/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::1]/",
  "http://169.254.169.254/latest/meta-data",
];
for (const address of REFUSED) {
  test(`a stranger's ${address} is not called`, async () => {
    await assert.rejects(callOutside(address, STRANGER), failsFor("address"));
  });
}

test("a stranger's name is not called when one of its addresses is private", async () => {
  const lookup: LookupFunction = (_name, _options, callback) => {
    callback(null, [
      { address: "93.184.216.34", family: 4 },
      { address: "10.0.0.1", family: 4 },
    ]);
  };
  const call = callOutside("http://mixed.example/", { ...STRANGER, lookup });
  await assert.rejects(call, failsFor("address"));
});

test("the address that was checked is the one that is connected to", () => {
  const answers = ["93.184.216.34", "127.0.0.1"];
  const lookup = publicLookup((_name, _options, callback) => {
    callback(null, [{ address: answers.shift() ?? "", family: 4 }]);
  });
  let connected: unknown;
  lookup("rebinding.example", {}, (_error, address) => {
    connected = address;
  });
  assert.equal(connected, "93.184.216.34");
  lookup("rebinding.example", {}, (error) => {
    assert.equal((error as unknown as OutgoingError).reason, "address");
  });
});

test("a redirect to the same origin is followed, one to a private address is not", async (t) => {
  const other = await serveHttp(t, (_request, response) => response.end("secret"));
  const address = await serveHttp(t, (request, response) => {
    if (request.url === "/moved") response.end("here");
    const location = request.url === "/near" ? "/moved" : other;
    if (!response.writableEnded) response.writeHead(302, { location }).end();
  });
  const near = await callOutside(`${address}/near`, OPERATOR);
  assert.equal(Buffer.from(near.body).toString(), "here");
  await assert.rejects(callOutside(`${address}/far`, OPERATOR), failsFor("address"));
});

test("redirects are followed three times, and not a fourth", async (t) => {
  const address = await serveHttp(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.end("there");
    else response.writeHead(301, { location: `/${left - 1}` }).end();
  });
  assert.equal((await callOutside(`${address}/3`, OPERATOR)).status, 200);
  await assert.rejects(callOutside(`${address}/4`, OPERATOR), failsFor("redirects"));
});

test("a redirect out of HTTP is not followed, it is the answer", async (t) => {
  const address = await serveHttp(t, (_request, response) => {
    response.writeHead(302, { location: "magnet:?xt=urn:btih:aa" }).end();
  });
  const { status, headers } = await callOutside(address, OPERATOR);
  assert.deepEqual([status, headers.location], [302, "magnet:?xt=urn:btih:aa"]);
});

test("a packed body that breaks off is an error, and not a wait", async (t) => {
  const address = await serveHttp(t, (_request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": "1000" });
    response.write(gzipSync("x").subarray(0, 5), () => response.destroy());
  });
  await assert.rejects(callOutside(address, OPERATOR), failsFor("encoding"));
});

test("a redirect to nowhere is an error of its own", async (t) => {
  const address = await serveHttp(t, (_request, response) => response.writeHead(302).end());
  await assert.rejects(callOutside(address, OPERATOR), failsFor("redirects"));
});

test("a body of the wanted size is taken, one byte more is not", async (t) => {
  const address = await serveHttp(t, (request, response) => {
    response.end(Buffer.alloc(Number(request.url?.slice(1))));
  });
  assert.equal((await callOutside(`${address}/10000`, OPERATOR)).body.length, 10_000);
  await assert.rejects(callOutside(`${address}/10001`, OPERATOR), failsFor("size"));
});

test("a body that never ends is cut off at the wanted size", async (t) => {
  const address = await serveHttp(t, (_request, response) => {
    response.on("error", () => undefined);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1_000)));
      response.once("drain", more);
    };
    more();
  });
  await assert.rejects(callOutside(address, OPERATOR), failsFor("size"));
});

for (const [name, pack] of [
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const) {
  test(`a ${name} body is unpacked, and a bomb is cut off`, async (t) => {
    const small = pack(Buffer.alloc(500, "a"));
    const large = pack(Buffer.alloc(50_000_000, "a"));
    const address = await serveHttp(t, (request, response) => {
      const body = request.url === "/bomb" ? large : small;
      response.writeHead(200, { "content-encoding": name }).end(body);
    });
    assert.equal((await callOutside(address, OPERATOR)).body.length, 500);
    const bomb = callOutside(`${address}/bomb`, { ...OPERATOR, bytesMax: 100_000 });
    await assert.rejects(bomb, failsFor("size"));
  });
}

test("reports a damaged or unknown packing", async (t) => {
  const address = await serveHttp(t, (request, response) => {
    const encoding = request.url === "/unknown" ? "zzz" : "gzip";
    response.writeHead(200, { "content-encoding": encoding }).end("not packed");
  });
  await assert.rejects(callOutside(address, OPERATOR), failsFor("encoding"));
  await assert.rejects(callOutside(`${address}/unknown`, OPERATOR), failsFor("encoding"));
});

test("an answer that does not come, and a body that stalls, are given up in time", async (t) => {
  const address = await serveHttp(t, (request, response) => {
    if (request.url === "/stall") response.write("a");
  });
  const brief = { ...OPERATOR, timeout: 30 };
  await assert.rejects(callOutside(address, brief), failsFor("time"));
  await assert.rejects(callOutside(`${address}/stall`, brief), failsFor("time"));
});

test("the caller can give a call up, before it and while it waits", async (t) => {
  const over = new AbortController();
  const address = await serveHttp(t, () => over.abort());
  const call = callOutside(address, { ...OPERATOR, signal: over.signal });
  await assert.rejects(call, failsFor("aborted"));
  await assert.rejects(
    callOutside(address, { ...OPERATOR, signal: over.signal }),
    failsFor("aborted"),
  );
});

test("credentials stay at the origin they were meant for", async (t) => {
  const seen: (string | undefined)[] = [];
  const address = await serveHttp(t, (request, response) => {
    seen.push(request.headers.authorization);
    if (request.url === "/") response.writeHead(307, { location: "/next" }).end();
    else response.end();
  });
  await callOutside(address, { ...OPERATOR, headers: { Authorization: "Bearer x" } });
  assert.deepEqual(seen, ["Bearer x", "Bearer x"]);
});

test("a refused connection is an error of the network that names no path", async () => {
  await assert.rejects(callOutside("http://127.0.0.1:1/?apikey=secret", OPERATOR), (error) => {
    assert.ok(failsFor("network")(error));
    assert.doesNotMatch((error as Error).message, /secret/);
    return true;
  });
});
