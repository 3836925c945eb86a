import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import type { FastifyInstance } from "fastify";
import { serveApp } from "../serve-app.ts";
import { start } from "../testing/start.ts";

const LIMITS = { headersTimeout: 100, requestTimeout: 200 };

/** Texts after which the server ends the connection by itself. */
const BROKEN: readonly [string, RegExp][] = [
  ["GET /healthz HTTP/1.1\r\nhost: localhost\r\n", /^HTTP\/1.1 408/],
  [
    "POST /v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
    /^HTTP\/1.1 408/,
  ],
  ["EHLO me\r\n\r\n", /^HTTP\/1.1 400/],
  [
    "GET /v1/elsewhere HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    /^HTTP\/1.1 404/,
  ],
  [
    "GET /v1/stream HTTP/1.1\r\nhost: localhost\r\norigin: http://evil.example\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
    /^HTTP\/1.1 403/,
  ],
];

/** Clients that say this and never close their side; answers what each got until it was cut off. */
function stubborn(app: FastifyInstance, port: number, texts: readonly string[]): Promise<string[]> {
  const cutOff = new Map<number, () => void>();
  app.server.on("connection", (socket: Socket) => {
    const { remotePort } = socket;
    socket.once("close", () => cutOff.get(remotePort!)?.());
  });
  const answers = texts.map(async (text) => {
    const client = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    client.on("error", () => {});
    let answer = "";
    client.on("data", (chunk) => {
      answer += chunk;
    });
    await once(client, "connect");
    const isCutOff = new Promise<void>((resolve) => cutOff.set(client.localPort!, resolve));
    client.write(text);
    await isCutOff;
    client.destroy();
    return answer;
  });
  return Promise.all(answers);
}

async function checkBroken(
  app: FastifyInstance,
  port: number,
  broken: typeof BROKEN,
): Promise<void> {
  const answers = await stubborn(
    app,
    port,
    broken.map(([text]) => text),
  );
  for (const [i, [text, wanted]] of broken.entries()) assert.match(answers[i]!, wanted, text);
}

test("a refused connection is destroyed when its client does not close it", async (t) => {
  let app: FastifyInstance | undefined;
  const { server } = await start(t, {
    limits: LIMITS,
    routes: (made) => {
      app = made;
    },
  });
  await checkBroken(app!, server.port, BROKEN);
});

test("the server of an app destroys them too", async (t) => {
  let app: FastifyInstance | undefined;
  const server = await serveApp({
    title: "An app",
    limits: LIMITS,
    log: "silent",
    routes: (made) => {
      app = made;
    },
  });
  t.after(() => server.close());
  await checkBroken(app!, server.port, BROKEN.slice(0, 3));
});
