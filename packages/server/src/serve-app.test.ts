import assert from "node:assert/strict";
import { test } from "node:test";
import { Counter } from "prom-client";
import type { AppPage } from "./app-page.ts";
import { serveApp } from "./serve-app.ts";
import { call } from "./testing/start.ts";

const KEY = "an-operator-has-made-this-long-key";

const page: AppPage = {
  name: "demo",
  title: "Demo",
  view: () => ({
    sections: [{ kind: "facts", title: "Now", facts: [{ label: "peers", value: 3 }] }],
    actions: [{ name: "flush", title: "Flush" }],
  }),
  act: async (action, values) => `${action} ${values.what ?? "nothing"}`,
};

test("an app has its own routes, health, metrics, description and page", async (t) => {
  const app = await serveApp({
    title: "Demo",
    log: "silent",
    pages: [page],
    health: () => ({ isReady: false, text: "warming up" }),
    routes: (http, { registry }) => {
      const hits = new Counter({ name: "demo_hits_total", help: "Hits", registers: [registry] });
      http.get("/hello/:name", (request) => {
        hits.inc();
        return { hello: (request.params as { name: string }).name };
      });
    },
  });
  t.after(() => app.close());
  const ask = (line: string, body?: unknown) =>
    call(app.address, line, body === undefined ? {} : { body });
  assert.deepEqual((await ask("GET /hello/you")).body, { hello: "you" });
  const ready = await ask("GET /readyz");
  assert.deepEqual([ready.status, ready.body.text], [503, "warming up"]);
  assert.equal((await ask("GET /healthz")).status, 200);
  assert.match((await ask("GET /metrics")).body, /demo_hits_total 1/);
  assert.ok((await ask("GET /openapi.json")).body.paths["/hello/{name}"]);
  assert.deepEqual((await ask("GET /v1/apps")).body, { items: [{ name: "demo", title: "Demo" }] });
  const { view } = (await ask("GET /v1/apps/demo")).body;
  assert.equal(view.sections[0].facts[0].value, 3);
  const done = await ask("POST /v1/apps/demo/actions/flush", { values: { what: "all" } });
  assert.deepEqual(done.body, { message: "flush all" });
  assert.equal((await ask("POST /v1/apps/demo/actions/flush")).body.message, "flush nothing");
  assert.equal((await ask("POST /v1/apps/demo/actions/other", {})).body.error.code, "NOT_FOUND");
  assert.equal((await ask("GET /v1/apps/other")).body.error.code, "NOT_FOUND");
});

test("an app with keys asks for one, but for what it says is public", async (t) => {
  const app = await serveApp({
    title: "Demo",
    log: "silent",
    keys: [KEY],
    pages: [page],
    routes: (http) => {
      http.get("/open", { config: { isPublic: true } }, () => ({ open: true }));
      http.get("/shut", () => ({ open: true }));
    },
  });
  t.after(() => app.close());
  assert.equal((await call(app.address, "GET /open")).status, 200);
  for (const line of ["GET /shut", "GET /metrics", "GET /v1/apps"]) {
    assert.equal((await call(app.address, line)).status, 401, line);
    assert.equal((await call(app.address, line, { key: KEY })).status, 200, line);
    const plain = await call(app.address, line, { headers: { "x-api-key": KEY } });
    assert.equal(plain.status, 200, line);
  }
  assert.equal((await call(app.address, "GET /readyz")).status, 200);
});

test("callers with keys of the app's own are named to its routes", async (t) => {
  const app = await serveApp({
    title: "Demo",
    log: "silent",
    keys: [KEY],
    callers: (key) => (key === "alice's key" ? "alice" : undefined),
    pages: [page],
    routes: (http) => {
      http.get("/who", ({ principal }) => ({ who: principal.id }));
    },
  });
  t.after(() => app.close());
  const as = (key: string, line: string) =>
    call(app.address, line, { headers: { "x-api-key": key } });
  assert.deepEqual((await as("alice's key", "GET /who")).body, { who: "alice" });
  assert.deepEqual((await as(KEY, "GET /who")).body, { who: "operator" });
  assert.equal((await as("another key", "GET /who")).status, 401);
  for (const line of ["GET /metrics", "GET /v1/apps"]) {
    assert.equal((await as("alice's key", line)).status, 403, line);
  }
});

test("a public address needs keys, and a key must be long", async () => {
  const refused = (options: object) =>
    assert.rejects(serveApp({ title: "Demo", log: "silent", ...options }), { code: "INVALID" });
  await refused({ host: "0.0.0.0" });
  await refused({ keys: ["short"] });
  await refused({ port: 70_000 });
  await refused({ bogus: 1 });
  await refused({ limits: { bodyBytesMax: 1e9 } });
  await refused({ limits: { bodyByteMax: 1 } });
  await refused({ limits: { connectionsMax: -1 } });
});
