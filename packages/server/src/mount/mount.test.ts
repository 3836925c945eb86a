import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import { serveHttp } from "../testing/loopback.ts";
import { call, memoryBroker } from "../testing/start.ts";
import { type Dashboard, mountDashboard } from "./mount.ts";
import type { DashboardOptions } from "./options.ts";

type Options = Partial<DashboardOptions<IncomingMessage>>;

const full: Options = { user: () => "ann", role: "full" };

async function mounted(
  t: TestContext,
  options: Options = full,
): Promise<Dashboard<IncomingMessage>> {
  const broker = await memoryBroker(t, "mail");
  const user = () => "ann";
  const page = mountDashboard<IncomingMessage>(broker, {
    basePath: "/ops",
    log: "silent",
    user,
    ...options,
  });
  t.after(() => page.close());
  return page;
}

const JOB = { body: { payload: 1 } };
const ADD = "POST /ops/v1/queues/mail/jobs";

test("a request of no user is refused, for the page and its health too", async (t) => {
  const address = await serveHttp(t, await mounted(t, { user: () => undefined }));
  for (const path of ["/ops/", "/ops/healthz", "/ops/v1/queues", "/ops/openapi.json"]) {
    const { status, body } = await call(address, `GET ${path}`);
    assert.deepEqual([path, status, body.error.code], [path, 401, "UNAUTHORIZED"]);
  }
});

test("users may only look unless the role says more, asked with each request", async (t) => {
  let role: "read-only" | "full" = "read-only";
  const address = await serveHttp(t, await mounted(t, { role: async () => role }));
  assert.equal((await call(address, "GET /ops/v1/queues/mail")).status, 200);
  assert.equal((await call(address, ADD, JOB)).body.error.code, "FORBIDDEN");
  assert.equal((await call(address, "PUT /ops/v1/queues/more", { body: {} })).status, 403);
  role = "full";
  assert.equal((await call(address, ADD, JOB)).status, 201);
  const bare = await serveHttp(t, await mounted(t, {}));
  assert.equal((await call(bare, ADD, JOB)).status, 403, "read-only is the default");
});

test("an error of the user function is an error of the server, and tells nothing", async (t) => {
  const user = () => Promise.reject(new Error("the session store at 10.0.0.1 is away"));
  const address = await serveHttp(t, await mounted(t, { user }));
  const { status, body } = await call(address, "GET /ops/v1/queues");
  assert.deepEqual([status, body.error.code], [500, "INTERNAL"]);
  assert.doesNotMatch(body.error.message, /10\.0\.0\.1/);
});

test("pages of other origins are refused; TLS that ends at a proxy is not another", async (t) => {
  const address = await serveHttp(
    t,
    await mounted(t, { ...full, allowOrigins: ["https://ops.a.org"] }),
  );
  const from = (origin: string, site: string) =>
    call(address, ADD, { ...JOB, headers: { origin, "sec-fetch-site": site } });
  assert.equal((await from("https://evil.example", "cross-site")).status, 403);
  assert.equal((await from(address.replace("http:", "https:"), "same-origin")).status, 201);
  assert.equal((await from(address.replace("http:", "https:"), "cross-site")).status, 403);
  assert.equal((await from("https://ops.a.org", "same-origin")).status, 201);
});

test("addresses outside of the base path go to the next handler, or are not found", async (t) => {
  const page = await mounted(t);
  const address = await serveHttp(t, (request, response) =>
    page(request, response, () => response.end("next")),
  );
  assert.equal((await call(address, "GET /opsy")).body, "next");
  assert.equal((await call(address, "GET /")).body, "next");
  const alone = await serveHttp(t, page);
  assert.equal((await call(alone, "GET /opsy/v1/queues")).body.error.code, "NOT_FOUND");
});

test("a body that another parser has read is taken from it, within the limit", async (t) => {
  const page = await mounted(t);
  const address = await serveHttp(t, async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    Object.assign(request, { body: text === "" ? undefined : JSON.parse(text) });
    page(request, response);
  });
  const { status, body } = await call(address, ADD, { body: { payload: { to: "a" } } });
  assert.equal(status, 201);
  const { payload } = (await call(address, `GET /ops/v1/jobs/${body.id}`)).body;
  assert.deepEqual(payload, { to: "a" });
  const long = { body: { weight: 1, filler: "x".repeat(70_000) } };
  const refused = await call(address, "PUT /ops/v1/queues/mail/lanes/a", long);
  assert.equal(refused.body.error.code, "PAYLOAD_TOO_LARGE");
});

test("a reader by fetch that goes away ends its stream", async (t) => {
  const page = await mounted(t);
  const gone = new AbortController();
  const pulse = () => page.fetch(new Request("http://a/ops/v1/pulse", { signal: gone.signal }));
  const { body } = await pulse();
  const reader = body!.getReader();
  await reader.read();
  gone.abort();
  await assert.rejects(async () => {
    for (;;) if ((await reader.read()).done) throw new Error("ended");
  });
  assert.equal((await page.fetch(new Request("http://a/ops/v1/queues"))).status, 200);
});

test("a logout ends the streams of a user, of events and of the pulse", async (t) => {
  const clock = turningClock(5);
  let user: string | undefined = "ann";
  const page = await mounted(t, { user: () => user, role: "read-only", clock });
  let ended = 0;
  const streams = ["pulse", "events"].map(async (name) => {
    const { body } = await page.fetch(new Request(`http://a/ops/v1/${name}`));
    for await (const _ of body as unknown as AsyncIterable<Uint8Array>);
    ended++;
  });
  await clock.advance(30_000);
  assert.equal(ended, 0);
  user = undefined;
  await clock.advance(6_000);
  await Promise.all(streams);
});

const REFUSED: [options: unknown, message: RegExp][] = [
  [undefined, /dashboard must be an object/],
  [{}, /dashboard.user must be a function/],
  [{ user: () => "a", role: "admin" }, /dashboard.role must be one of read-only, full/],
  [{ user: () => "a", basePath: "ops" }, /dashboard.basePath must be a path such as \/ops\/queues/],
  [{ user: () => "a", path: "/ops" }, /dashboard.path is not a known field; known are basePath/],
];

test("options that make no sense are refused by their names", async (t) => {
  const broker = await memoryBroker(t);
  for (const [options, message] of REFUSED) {
    assert.throws(() => mountDashboard(broker, options as never), { code: "INVALID", message });
  }
});
