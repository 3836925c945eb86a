import assert from "node:assert/strict";
import { test } from "node:test";
import { natsAccess, parseNatsAddress, withoutLogin } from "./nats-address.ts";

const plain = { login: {}, isTls: false, stream: undefined };

for (const [text, wanted] of [
  ["nats://a", { ...plain, servers: ["nats://a"], shown: "nats://a" }],
  ["a:4222", { ...plain, servers: ["nats://a:4222"], shown: "nats://a:4222" }],
  [
    "nats://a, b:4223 ,[::1]:4224/",
    {
      ...plain,
      servers: ["nats://a", "nats://b:4223", "nats://[::1]:4224"],
      shown: "nats://a,b:4223,[::1]:4224",
    },
  ],
  [
    "tls://ann:p%40ss%2Fword@a,b/sluice-0",
    {
      servers: ["tls://a", "tls://b"],
      login: { user: "ann", pass: "p@ss/word" },
      isTls: true,
      stream: "sluice-0",
      shown: "tls://a,b/sluice-0",
    },
  ],
  [
    "nats://t0ken@a",
    { ...plain, login: { token: "t0ken" }, servers: ["nats://a"], shown: "nats://a" },
  ],
  [
    "nats://u:p@a,nats://u:p@b",
    {
      ...plain,
      login: { user: "u", pass: "p" },
      servers: ["nats://a", "nats://b"],
      shown: "nats://a,b",
    },
  ],
] as const) {
  test(`${text} is read`, () => assert.deepEqual(parseNatsAddress(text), wanted));
}

for (const text of [
  "",
  "http://a",
  "nats://",
  "nats://a,,b",
  "nats://a b",
  "nats://a:port",
  "nats://a/b/c",
  "nats://a/b c",
  "nats://u:p@a,nats://w:p@b",
  "nats://u:p:q@a",
  "nats://%zz@a",
]) {
  test(`${JSON.stringify(text)} is no address of NATS`, () => {
    assert.equal(parseNatsAddress(text), undefined);
  });
}

test("what cannot be read is shown without what may be a login", () => {
  for (const text of ["nats://u:secret@a b", "nats://u:sec/ret@a,x:secret@b", "u:sec,ret@a"]) {
    assert.doesNotMatch(withoutLogin(text), /sec|ret/);
  }
  assert.equal(withoutLogin("nats://a b"), "nats://a b");
  const shown = withoutLogin("postgres://a/b?user=me&password=secret&sslmode=require");
  assert.equal(shown, "postgres://a/b?user=***&password=***&sslmode=require");
});

test("tls:// asks for TLS also without files, nats:// leaves it to the server", () => {
  assert.deepEqual(natsAccess(parseNatsAddress("tls://a")!, {}), { tls: {} });
  assert.deepEqual(natsAccess(parseNatsAddress("nats://t@a")!, {}), { token: "t" });
});

test("files that do not go together, and those that are not there, are refused", () => {
  const address = parseNatsAddress("nats://u:p@a")!;
  assert.throws(() => natsAccess(address, { natsCert: "x" }), { code: "INVALID" });
  assert.throws(() => natsAccess(address, { natsCreds: "x" }), /use either .* not both/);
  assert.throws(() => natsAccess(address, { natsCa: "/no/such" }), /^SluiceError: nats-ca: /);
});
