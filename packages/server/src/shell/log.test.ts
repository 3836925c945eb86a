import assert from "node:assert/strict";
import { test } from "node:test";
import { call, start } from "../testing/start.ts";
import { openLog } from "./log.ts";

test("no key, header, query or payload reaches the log, at any level", async (t) => {
  const lines: string[] = [];
  const to = { write: (line: string) => void lines.push(line) };
  const { server } = await start(t, { keys: true, log: { level: "trace", to } });
  const { key } = (await server.firstKey)!;
  const secret = "hunter2hunter2";
  const asked = [
    call(server.address, "PUT /v1/queues/q", { key, body: {} }),
    call(server.address, "POST /v1/queues/q/jobs", { key, body: { payload: secret } }),
    call(server.address, `GET /v1/queues?apikey=${secret}`, { key }),
    call(server.address, `GET /announce/${secret}`, { headers: { cookie: secret } }),
    call(server.address, "GET /v1/queues", { key: secret }),
    call(server.address, "POST /v1/queues/q/jobs", { key, body: `{"payload": "${secret}` }),
    call(server.address, `PUT /v1/config/${secret}`, { key, body: { value: secret } }),
    call(server.address, "POST /v1/keys", { key, body: { name: secret, grants: [] } }),
  ];
  await Promise.all(asked);
  const text = lines.join("");
  assert.ok(lines.length >= asked.length, "every answer is logged");
  assert.ok(!text.includes(secret), text);
  assert.ok(!text.includes(key.slice(-43)), text);
  assert.match(text, /"route":"\/v1\/queues\/:queue\/jobs","status":201/);
});

test("what an app logs under a telling name is redacted", () => {
  const lines: string[] = [];
  const log = openLog({ to: { write: (line) => void lines.push(line) } });
  log.info({ apikey: "hush", a: { token: "hush", b: { password: "hush" } } }, "fine");
  log.info({ headers: { authorization: "hush", cookie: "hush", "x-api-key": "hush" } });
  log.info({ request: { headers: { authorization: "hush", "set-cookie": "hush" } } });
  const text = lines.join("");
  assert.ok(!text.includes("hush"), text);
  assert.match(text, /\[secret\]/);
  assert.match(text, /fine/);
});
