import assert from "node:assert/strict";
import { test } from "node:test";
import { start } from "../testing/start.ts";

test("the dashboard is served at / to everyone, under a strict policy", async (t) => {
  const { call } = await start(t, { keys: true });
  const { status, headers, body } = await call("GET /");
  assert.equal(status, 200);
  assert.match(headers.get("content-type") ?? "", /^text\/html/);
  const policy = headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|data:/);
  assert.equal(headers.get("cache-control"), "no-cache");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  const [script] = /assets\/[\w.-]+\.js/.exec(body) ?? [];
  const file = await call(`GET /${script}`);
  assert.equal(file.status, 200);
  assert.match(file.headers.get("cache-control") ?? "", /immutable/);
  assert.equal(file.headers.get("content-encoding"), "gzip");
  const etag = file.headers.get("etag")!;
  const again = await call(`GET /${script}`, { headers: { "if-none-match": etag } });
  assert.equal(again.status, 304);
  const plain = await call(`GET /${script}`, { headers: { "accept-encoding": "identity" } });
  assert.equal(plain.headers.get("content-encoding"), null);
  assert.equal(plain.body, file.body);
});

test("there are no files but the dashboard's", async (t) => {
  const { call } = await start(t);
  for (const path of ["nothing.js", "..%2f..%2fpackage.json", "%2e%2e/%2e%2e/package.json"]) {
    assert.equal((await call(`GET /assets/${path}`)).status, 404, path);
  }
});
