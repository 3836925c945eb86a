import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../testing/start.ts";

test("a browser logs in with a cookie that no script reads, and out again", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  assert.equal((await call("GET /v1/session")).status, 401);
  assert.equal((await call("POST /v1/session", { key: "sk_wrong" })).status, 401);
  const { status, headers } = await call("POST /v1/session", { key });
  assert.equal(status, 204);
  const set = headers.get("set-cookie") ?? "";
  assert.match(set, new RegExp(`^sluice_key_${server.port}=`));
  assert.match(set, /; Path=\/; HttpOnly; SameSite=Strict$/);
  const cookie = set.split(";")[0]!;
  const session = await call("GET /v1/session", { headers: { cookie: `other=1; ${cookie}` } });
  assert.deepEqual(session.body, {
    hasKeys: true,
    hasWebhooks: false,
    hasBroker: true,
    isReadOnly: false,
    grants: [{ action: "admin", on: "*" }],
  });
  const out = await call("DELETE /v1/session", { headers: { cookie } });
  assert.match(out.headers.get("set-cookie") ?? "", /^sluice_key_\d+=; Max-Age=0; Path=\//);
});

test("another server's cookie, a broken one and a stranger's page get nothing", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  const ask = async (headers: Record<string, string>) =>
    (await call("GET /v1/queues", { headers })).status;
  const name = `sluice_key_${server.port}`;
  assert.equal(await ask({ cookie: `sluice_key_${server.port + 1}=${key}` }), 401);
  assert.equal(await ask({ cookie: `${name}=%E0%A4%A` }), 401);
  assert.equal(await ask({ cookie: `${name}=${key}` }), 200);
  assert.equal(await ask({ cookie: `${name}=${key}`, origin: "http://evil.example" }), 403);
});

test("a key that is revoked is worth nothing in a cookie either", async (t) => {
  const { call, server } = await start(t, { keys: true });
  const { key } = (await server.firstKey)!;
  const body = { name: "short", grants: [{ action: "admin", on: "*" }] };
  const made = (await call("POST /v1/keys", { key, body })).body;
  const headers = { cookie: `sluice_key_${server.port}=${made.key}` };
  assert.equal((await call("GET /v1/queues", { headers })).status, 200);
  await call(`DELETE /v1/keys/${made.id}`, { key });
  assert.equal((await call("GET /v1/queues", { headers })).status, 401);
});

test("without keys the server asks for none and sets no cookie", async (t) => {
  const { call } = await start(t);
  const { body } = await call("GET /v1/session");
  assert.equal(body.hasKeys, false);
  const { headers } = await call("POST /v1/session", { key: "anything" });
  assert.equal(headers.get("set-cookie"), null);
});
