import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { queryOf, TestApp } from "../testing/scene.ts";

/** Sends pieces over one connection, and answers all that comes until it ends. */
async function talk(scene: TestApp, pieces: readonly string[]): Promise<string> {
  const socket = connect(scene.retracker.ports.http!, "127.0.0.1");
  let text = "";
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
  });
  await once(socket, "connect");
  for (const piece of pieces) await new Promise((done) => socket.write(piece, "latin1", done));
  await once(socket, "close");
  return text;
}

const announce = (peer: string, connection: string): string =>
  `GET /announce?${queryOf({ peer })} HTTP/1.1\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`;

const count = (text: string, part: string): number => text.split(part).length - 1;

test("several requests of one connection are answered in order", async () => {
  await using scene = await TestApp.open();
  const text = await talk(scene, [
    announce("a", "keep-alive") + announce("b", "keep-alive") + announce("c", "close"),
  ]);
  assert.equal(count(text, "HTTP/1.1 200 OK"), 3);
  assert.deepEqual(
    [...text.matchAll(/incompletei(\d)e/g)].map(([, n]) => n),
    ["1", "2", "3"],
  );
});

test("an answer that takes a moment keeps its place among the others", async () => {
  await using scene = await TestApp.open();
  const completed = announce("a", "keep-alive").replace("&left=1", "&left=0&event=completed");
  const text = await talk(scene, [completed + announce("b", "close")]);
  assert.deepEqual(
    [...text.matchAll(/incompletei(\d)e/g)].map(([, n]) => n),
    ["0", "1"],
  );
});

test("a request may come in pieces", async () => {
  await using scene = await TestApp.open();
  const text = await talk(scene, [...announce("a", "close")]);
  assert.equal(count(text, "HTTP/1.1 200 OK"), 1);
});

test("HTTP/1.0 is answered and the connection closed", async () => {
  await using scene = await TestApp.open();
  const text = await talk(scene, [`GET /announce?${queryOf({})} HTTP/1.0\r\n\r\n`]);
  assert.match(text, /Connection: close/);
});

const BAD: readonly (readonly [string, number])[] = [
  ["POST /announce HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 405],
  ["GET /announce HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", 413],
  ["GET /announce HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413],
  ["GET /announce HTTP/2.0\r\n\r\n", 400],
  ["GET announce HTTP/1.1\r\n\r\n", 400],
  ["nonsense\r\n\r\n", 405],
  [`GET /${"x".repeat(17_000)}`, 431],
  [`GET / HTTP/1.1\r\nX-Long: ${"x".repeat(60_000)}\r\n\r\n`, 431],
];

for (const [request, status] of BAD) {
  test(`${JSON.stringify(request.slice(0, 40))} is refused with ${status}`, async () => {
    await using scene = await TestApp.open();
    assert.match(await talk(scene, [request]), new RegExp(`^HTTP/1.1 ${status} `));
    assert.deepEqual(scene.errors, []);
  });
}
