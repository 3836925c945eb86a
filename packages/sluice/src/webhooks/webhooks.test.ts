import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { serveHttp } from "@sluice/server/testing/loopback";
import { Sluice } from "../sluice.ts";
import { newWebhookSecret, signWebhook, verifyWebhook } from "../webhooks.ts";
import { type WebhookOptions, Webhooks } from "./webhooks.ts";

const SECRET = newWebhookSecret();

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Scene {
  readonly url: string;
  readonly sluice: Sluice;
  readonly hooks: Webhooks;
  readonly received: Received[];
  answer: (response: ServerResponse) => void;
}

async function scene(t: TestContext, options: Partial<WebhookOptions> = {}): Promise<Scene> {
  const received: Received[] = [];
  const address = await serveHttp(t, async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    made.answer(response);
  });
  const sluice = await Sluice.open({ durability: "memory" });
  const hooks = await Webhooks.open(sluice, {
    secretOf: () => SECRET,
    chooser: () => "operator",
    ...options,
  });
  t.after(() => sluice.close({ timeout: 0 }));
  const url = `${address}/hook`;
  const made: Scene = { url, sluice, hooks, received, answer: (response) => void response.end() };
  return made;
}

test("a webhook arrives signed, and its receiver can tell that it was not changed", async (t) => {
  const { url, hooks, received } = await scene(t);
  const job = await hooks.send({
    url,
    type: "job.finished",
    data: { n: 1 },
    signer: "a",
    id: "m1",
  });
  assert.equal(await job.finished(), 200);
  const [{ headers, body }] = received as [Received];
  assert.equal(headers["webhook-id"], "m1");
  const { type, data, timestamp } = JSON.parse(body);
  assert.deepEqual([type, data], ["job.finished", { n: 1 }]);
  assert.ok(Math.abs(Date.parse(timestamp) - Date.now()) < 60_000);
  verifyWebhook(headers, body, SECRET);
  const refused = { code: "UNAUTHORIZED" };
  assert.throws(() => verifyWebhook(headers, `${body} `, SECRET), refused);
  assert.throws(() => verifyWebhook(headers, body, newWebhookSecret()), refused);
  assert.throws(() => verifyWebhook({ ...headers, "webhook-id": "m2" }, body, SECRET), refused);
  assert.throws(() => verifyWebhook({}, body, SECRET), refused);
  const late = Date.now() + 6 * 60_000;
  assert.throws(() => verifyWebhook(headers, body, SECRET, { now: late }), refused);
});

test("the signature is the one of the public specification", () => {
  const body = '{"test": 2432232314}';
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  verifyWebhook(headers, body, secret, { now: 1614265330_000 });
});

test("a failed delivery is tried again, with the same id, until it is taken", async (t) => {
  const made = await scene(t);
  const { url, hooks, sluice, received } = made;
  await sluice.queue("webhooks", { retry: { min: 1, max: 1, factor: 1, jitter: 0 } });
  await sluice.gate("webhooks.receiver:*").set({ ladder: [1] });
  made.answer = (response) => {
    response.statusCode = received.length < 3 ? 500 : 204;
    response.end();
  };
  const job = await hooks.send({ url, type: "x", data: null, signer: "a" });
  assert.equal(await job.finished(), 204);
  assert.equal(received.length, 3);
  assert.equal(new Set(received.map(({ headers }) => headers["webhook-id"])).size, 1);
});

test("a webhook with the id of another one is not sent twice", async (t) => {
  const { url, hooks, received } = await scene(t);
  const same = { url, type: "x", data: 1, signer: "a", id: "once", repeats: "10m" } as const;
  const first = await hooks.send(same);
  await first.finished();
  const second = await hooks.send(same);
  assert.equal(second.duplicate, true);
  assert.equal(received.length, 1);
});

test("410 ends a webhook, and what is given up is a dead letter", async (t) => {
  const made = await scene(t);
  const { url, hooks, sluice } = made;
  made.answer = (response) => {
    response.statusCode = 410;
    response.end();
  };
  const job = await hooks.send({ url, type: "x", data: 1, signer: "a" });
  await assert.rejects(job.finished(), /HTTP 410/);
  assert.equal((await job.info()).queue, "webhooks.dlq");
  assert.equal((await sluice.job(job.id).info()).state, "dead");
});

test("Retry-After cools the receiver's gate down, and no other", async (t) => {
  const made = await scene(t);
  const { url, hooks, sluice } = made;
  made.answer = (response) => {
    response.writeHead(429, { "retry-after": "60" }).end();
  };
  const cooled = sluice.events({ events: ["cooled"] });
  await hooks.send({ url, type: "x", data: 1, signer: "a" });
  const { value } = await cooled.next();
  assert.equal(value?.gate, `webhooks:${new URL(url).host}`);
  await cooled.return?.();
  const other = url.replace("127.0.0.1", "localhost");
  made.answer = (response) => void response.end();
  const job = await hooks.send({ url: other, type: "x", data: 1, signer: "a" });
  assert.equal(await job.finished(), 200);
});

test("strangers' addresses must be public, also when they are called", async (t) => {
  const lookup: LookupFunction = (_name, _options, callback) =>
    callback(null, [{ address: "10.0.0.1", family: 4 }]);
  const { hooks, received } = await scene(t, { chooser: undefined, lookup });
  for (const url of [
    "http://127.0.0.1/",
    "http://169.254.169.254/latest",
    "http://[::1]/",
    "file:///etc/passwd",
    "http://a:b@example.com/",
    "http://example.com:22/",
    "nowhere",
    `http://example.com/${"x".repeat(3000)}`,
  ]) {
    await assert.rejects(hooks.send({ url, type: "x", data: 1, signer: "a" }), { code: "INVALID" });
  }
  const job = await hooks.send({ url: "http://inside.test/", type: "x", data: 1, signer: "a" });
  await assert.rejects(job.finished(), /10\.0\.0\.1, which is not a public address/);
  assert.equal(received.length, 0);
});

test("redirects are not followed", async (t) => {
  const made = await scene(t);
  const { url, hooks, sluice, received } = made;
  await sluice.queue("webhooks", { retry: { attempts: 1 } });
  made.answer = (response) => {
    response.writeHead(307, { location: "/elsewhere" }).end();
  };
  const job = await hooks.send({ url, type: "x", data: 1, signer: "a" });
  await assert.rejects(job.finished(), /redirects/);
  assert.equal(received.length, 1);
});

test("an empty secret signs nothing and accepts nothing", () => {
  const message = { id: "m", timestamp: Math.floor(Date.now() / 1000), body: "{}" };
  const forged = {
    "webhook-id": message.id,
    "webhook-timestamp": String(message.timestamp),
    "webhook-signature": `v1,${createHmac("sha256", "").update(`m.${message.timestamp}.{}`).digest("base64")}`,
  };
  for (const secret of ["", "whsec_", "whsec_ "]) {
    const field = { code: "INVALID", details: { field: "secret" } };
    assert.throws(() => verifyWebhook(forged, "{}", secret), field);
    assert.throws(() => signWebhook(message, secret), field);
  }
});

test("a body is checked byte by byte", () => {
  const message = { id: "m", timestamp: Math.floor(Date.now() / 1000), body: '"\ufffd"' };
  const headers = signWebhook(message, SECRET);
  verifyWebhook(headers, Buffer.from(message.body), SECRET);
  const changed = Buffer.from([0x22, 0xff, 0x22]);
  assert.throws(() => verifyWebhook(headers, changed, SECRET), { code: "UNAUTHORIZED" });
});
