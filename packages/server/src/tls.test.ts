import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:https";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { type Certificate, Certificates } from "./testing/certificates.ts";
import { start } from "./testing/start.ts";

interface Client {
  ca: string;
  cert?: string;
  key?: string;
}

async function get(port: number, client: Client): Promise<number> {
  const asked = request({ host: "127.0.0.1", port, path: "/healthz", agent: false, ...client });
  asked.end();
  const [response] = await once(asked, "response");
  response.resume();
  await once(response, "end");
  return response.statusCode;
}

async function secured(t: TestContext, tls: Certificate & { ca?: string }): Promise<number> {
  return (await start(t, { tls })).server.port;
}

test("TLS: the right authority is served; a wrong one and plain text are not", async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  const other = certificates.authority("other").cert;
  const port = await secured(t, certificates.signed("server", "ca"));
  assert.equal(await get(port, { ca }), 200);
  await assert.rejects(get(port, { ca: other }), { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
  const plain = connect(port, "127.0.0.1");
  plain.on("error", () => {});
  plain.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
  let answer = "";
  plain.on("data", (chunk) => {
    answer += chunk.toString("latin1");
  });
  await once(plain, "close");
  assert.ok(!answer.includes("200 OK"), answer);
  assert.equal(await get(port, { ca }), 200, "and the server continues");
});

test("TLS: an expired certificate is refused", async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  const port = await secured(t, certificates.signed("server", "ca", { isExpired: true }));
  await assert.rejects(get(port, { ca }), { code: "CERT_HAS_EXPIRED" });
});

test("mTLS: a client shows a certificate of our own authority, or is refused", async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  certificates.authority("other");
  const port = await secured(t, { ...certificates.signed("server", "ca"), ca });
  assert.equal(await get(port, { ca, ...certificates.signed("client", "ca") }), 200);
  await assert.rejects(get(port, { ca }), "no certificate");
  const stranger = certificates.signed("stranger", "other");
  await assert.rejects(get(port, { ca, ...stranger }), "a stranger's");
  const expired = certificates.signed("late", "ca", { isExpired: true });
  await assert.rejects(get(port, { ca, ...expired }), "an expired one");
});
