import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Certificates } from "@sluice/server/testing";
import { Sluice } from "sluice";
import { job } from "../testing/jobs.ts";
import { newDir, runSluice, spawnServe } from "../testing/spawn-serve.ts";

const UNREACHABLE = 3;

/** Writes texts into files, and answers where. */
function files(): (name: string, text: string) => string {
  const dir = newDir();
  return (name, text) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
}

test("TLS: who trusts the server's authority is served, others and text are not", async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  const other = certificates.authority("other").cert;
  const { cert, key } = certificates.signed("server", "ca");
  const late = certificates.signed("late", "ca", { isExpired: true });
  const file = files();
  const pair = ["--tls-cert", file("cert", cert), "--tls-key", file("key", key)];
  const usual = ["--durability", "memory"];
  const server = await spawnServe(t, [...usual, ...pair]);
  assert.match(server.address, /^https:/);

  const sluice = await Sluice.connect(server.address, { tls: { ca } });
  await sluice.broker.setQueue("q", {});
  assert.ok((await sluice.broker.add("q", [job("x")]))[0]!.ok);
  await sluice.close();
  const refused = { code: "DISCONNECTED" };
  await assert.rejects(Sluice.connect(server.address, { tls: { ca: other } }), refused);
  await assert.rejects(Sluice.connect(server.address), /tls\.ca \(--ca FILE\)/);
  await assert.rejects(Sluice.connect(server.address.replace("https", "http")), refused);
  await assert.rejects(fetch(server.address.replace("https", "http")));
  const env = { SLUICE_URL: server.address };
  const trusting = await runSluice(["queue", "--json"], { ...env, SLUICE_CA: file("ca", ca) });
  assert.match(trusting.out, /"name":"q"/);
  const unknown = await runSluice(["queue"], env);
  assert.equal(unknown.code, UNREACHABLE);
  assert.match(unknown.err, /--ca FILE/);

  const old = ["--tls-cert", file("old", late.cert), "--tls-key", file("old-key", late.key)];
  const expired = await spawnServe(t, [...usual, ...old]);
  await assert.rejects(Sluice.connect(expired.address, { tls: { ca } }), /expired/);
});

test("mTLS: a client shows a certificate that the server's authority has signed", async (t) => {
  const certificates = new Certificates(t);
  const ca = certificates.authority("ca").cert;
  certificates.authority("other");
  const { cert, key } = certificates.signed("server", "ca");
  const mine = certificates.signed("client", "ca");
  const stranger = certificates.signed("stranger", "other");
  const file = files();
  const authority = file("ca", ca);
  const pair = ["--tls-cert", file("cert", cert), "--tls-key", file("key", key)];
  const words = ["--durability", "memory", "--keys", "--tls-ca", authority, ...pair];
  const server = await spawnServe(t, words);

  const apiKey = server.key!;
  await (await Sluice.connect(server.address, { apiKey, tls: { ca, ...mine } })).close();
  const refused = { code: "DISCONNECTED" };
  await assert.rejects(
    Sluice.connect(server.address, { apiKey, tls: { ca } }),
    /demands a certificate: give tls\.cert and tls\.key/,
  );
  const half = { code: "INVALID", details: { field: "connect.tls.key" } };
  const onlyCert = { ca, cert: mine.cert };
  await assert.rejects(Sluice.connect(server.address, { apiKey, tls: onlyCert }), half);
  await assert.rejects(
    Sluice.connect(server.address, { apiKey, tls: { ca, ...stranger } }),
    refused,
  );
  const env = { SLUICE_URL: server.address, SLUICE_API_KEY: apiKey, SLUICE_CA: authority };
  const shown = ["--cert", file("mine", mine.cert), "--cert-key", file("my-key", mine.key)];
  assert.equal((await runSluice(["keys", "list", ...shown], env)).code, 0, "over HTTP too");
  const without = await runSluice(["keys", "list"], env);
  assert.equal(without.code, UNREACHABLE);
  assert.match(without.err, /--cert and --cert-key FILE/);
  const onlyKey = await runSluice(["keys", "list", ...shown.slice(2)], env);
  assert.match(onlyKey.err, /--cert-key needs --cert/);
});
