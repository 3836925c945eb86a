import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { checkOrigin, isLoopback, type OriginRules } from "./origin.ts";

const LOCAL: OriginRules = {
  hosts: [],
  origins: [],
  hasKeys: false,
  isLoopback: true,
  isTls: false,
};

function isLetIn(headers: Record<string, string>, rules: Partial<OriginRules> = {}): boolean {
  try {
    checkOrigin({ headers } as unknown as IncomingMessage, { ...LOCAL, ...rules });
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "FORBIDDEN");
    return false;
  }
}

test("a keyless server on loopback answers to local names alone", () => {
  for (const host of ["localhost", "localhost:7070", "127.0.0.1:7070", "[::1]:7070", "LocalHost"]) {
    assert.ok(isLetIn({ host }), host);
  }
  for (const host of [
    "evil.example",
    "localhost.evil.example",
    "10.0.0.1",
    "127.0.0.1.nip.io",
    "",
  ]) {
    assert.ok(!isLetIn({ host }), host);
  }
  assert.ok(!isLetIn({}), "no Host at all");
  assert.ok(isLetIn({ host: "box.lan:7070" }, { hosts: ["box.lan"] }), "a listed name");
});

test("a keyless server that others can reach answers to addresses, which cannot be rebound", () => {
  const open = { isLoopback: false };
  assert.ok(isLetIn({ host: "192.168.1.4:7070" }, open));
  assert.ok(isLetIn({ host: "[fe80::1]:7070" }, open));
  assert.ok(!isLetIn({ host: "evil.example" }, open));
});

test("with keys any name will do, unless some are listed", () => {
  const keys = { hasKeys: true };
  assert.ok(isLetIn({ host: "queue.example.org" }, keys));
  const listed = { ...keys, hosts: ["queue.example.org"] };
  assert.ok(isLetIn({ host: "queue.example.org" }, listed));
  assert.ok(!isLetIn({ host: "other.example.org" }, listed));
});

test("a page of another origin is refused, with or without keys", () => {
  const host = "localhost:7070";
  assert.ok(isLetIn({ host, origin: "http://localhost:7070" }));
  for (const hasKeys of [true, false]) {
    for (const origin of [
      "http://evil.example",
      "null",
      "http://localhost:3000",
      "https://localhost:7070",
    ]) {
      assert.ok(!isLetIn({ host, origin }, { hasKeys }), origin);
    }
  }
  assert.ok(isLetIn({ host, origin: "https://localhost:7070" }, { isTls: true }));
  const origins = ["https://ops.example.org"];
  assert.ok(isLetIn({ host, origin: "https://ops.example.org" }, { origins }));
});

test("what a browser says of a page without an origin counts too", () => {
  const host = "localhost:7070";
  const site = "sec-fetch-site";
  for (const from of ["cross-site", "same-site"]) assert.ok(!isLetIn({ host, [site]: from }), from);
  assert.ok(isLetIn({ host, [site]: "same-origin" }));
  assert.ok(isLetIn({ host, [site]: "none" }));
  assert.ok(isLetIn({ host, [site]: "cross-site", "sec-fetch-mode": "navigate" }), "a link");
});

test("loopback is an address, not a name that looks like one", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) assert.ok(isLoopback(host));
  for (const host of ["127.evil.example", "127.0.0.1.nip.io", "127.", "128.0.0.1", "::", ""]) {
    assert.ok(!isLoopback(host), host);
  }
});
