import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Broker, FakeClock, type SluiceError, SystemClock } from "@sluice/protocol";
import { memoryBroker } from "../testing/start.ts";
import type { Grant } from "./grant.ts";
import { KeyRing, type KeyRingOptions } from "./key-ring.ts";
import { ANYONE } from "./principal.ts";
import { KEYS_STORE } from "./rights.ts";

const ALL: Grant[] = [{ action: "admin", on: "*" }];
const ORDERS: Grant[] = [{ action: "admin", on: "orders.*" }];

const openRing = (broker: Broker, options: Partial<KeyRingOptions> = {}): Promise<KeyRing> =>
  KeyRing.open(broker, { clock: new SystemClock(), ...options });

async function open(t: TestContext, options: Partial<KeyRingOptions> = {}) {
  const broker = await memoryBroker(t);
  return { broker, ring: await openRing(broker, options) };
}

const refused = { code: "UNAUTHORIZED" };

test("a key opens what it was made for, after a restart too; its secret is nowhere", async (t) => {
  const { broker, ring } = await open(t);
  assert.ok(ring.isEmpty);
  const { key, id } = await ring.create({ name: "ops", grants: ALL }, ANYONE);
  assert.deepEqual(ring.verify(key).grants(), ALL);
  const again = await openRing(broker);
  assert.equal(again.verify(key).id, id);
  assert.ok(!again.isEmpty);
  const stored = JSON.stringify(await broker.storeScan(KEYS_STORE));
  assert.ok(!stored.includes(key.slice(-43)), "only a hash is kept");
  assert.ok(!JSON.stringify(ring.list(ANYONE)).includes("hash"));
});

test("no key, a wrong one and an unknown one are refused", async (t) => {
  const { ring } = await open(t);
  const { key } = await ring.create({ grants: ALL }, ANYONE);
  const other = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const unknown = key.replace(/_(.)/, (_, first) => `_${first === "0" ? "1" : "0"}`);
  for (const text of [undefined, "", "x", other, unknown, `${key} `]) {
    assert.throws(() => ring.verify(text), refused, String(text));
  }
});

test("a key is changed in place: at once, for good, with the same secret", async (t) => {
  const { broker, ring } = await open(t);
  const { key, id } = await ring.create({ name: "web", grants: ALL, expiresAt: 9e15 }, ANYONE);
  const held = ring.verify(key);
  let looks = 0;
  held.watch!(() => looks++);
  const changed = await ring.set(id, { grants: ORDERS, requestsPerSecond: 5 }, ANYONE);
  assert.deepEqual(held.grants(), ORDERS, "who holds it has the new grants");
  assert.ok(looks > 0, "calls that wait look again");
  assert.deepEqual([changed.name, changed.expiresAt, changed.requestsPerSecond], ["web", 9e15, 5]);
  assert.ok(!JSON.stringify(changed).includes("hash"));
  const again = await openRing(broker);
  assert.deepEqual(again.verify(key).grants(), ORDERS);
  assert.equal((await ring.set(id, { grants: ALL, name: "api" }, ANYONE)).name, "api");
  for (const bad of [{}, { grants: [] }, { grants: ALL, expiresAt: 9e15 }, { grants: ALL, x: 1 }]) {
    await assert.rejects(ring.set(id, bad, ANYONE), { code: "INVALID" });
  }
});

test("a key is changed only by those who could have made it, to what they have", async (t) => {
  const { ring } = await open(t);
  const make = async (grants: Grant[], more = {}) => {
    const made = await ring.create({ grants, ...more }, ANYONE);
    return { ...made, principal: ring.verify(made.key) };
  };
  const admin = await make(ORDERS);
  const above = await make(ALL);
  const beside = await make([{ action: "produce", on: "payments" }]);
  const below = await make([{ action: "produce", on: "orders.eu" }]);
  const { principal } = admin;
  for (const { id } of [above, beside]) {
    await assert.rejects(ring.set(id, { grants: ORDERS }, principal), { code: "NOT_FOUND" });
  }
  const refused = { code: "FORBIDDEN" };
  await assert.rejects(ring.set(below.id, { grants: ALL }, principal), refused);
  await assert.rejects(ring.set(admin.id, { grants: ALL }, principal), refused);
  const withGates = [{ action: "produce", on: "orders.eu", gates: ["smtp"] }];
  await assert.rejects(ring.set(below.id, { grants: withGates }, principal), refused);
  await ring.set(below.id, { grants: [{ action: "consume", on: "orders.*" }] }, principal);
  await assert.rejects(ring.set(below.id, { grants: ORDERS }, below.principal), {
    code: "NOT_FOUND",
  });
  await ring.revoke(below.id, principal);
  await assert.rejects(ring.set(below.id, { grants: ORDERS }, principal), { code: "NOT_FOUND" });
});

test("a key ends when it is revoked, and when its time has come", async (t) => {
  const clock = new FakeClock({ now: 1_000 });
  const { broker, ring } = await open(t, { clock });
  const made = await ring.create({ grants: ALL, expiresAt: 2_000 }, ANYONE);
  const held = ring.verify(made.key);
  await clock.advance(1_000);
  assert.throws(() => held.grants(), refused);
  assert.throws(() => ring.verify(made.key), refused);
  const { key, id } = await ring.create({ grants: ALL }, ANYONE);
  const open2 = ring.verify(key);
  await ring.revoke(id, ANYONE);
  assert.throws(() => open2.grants(), refused);
  assert.throws(() => ring.verify(key), refused);
  assert.throws(() => ring.verify(key), refused);
  const again = await openRing(broker, { clock });
  assert.throws(() => again.verify(key), refused);
  await assert.rejects(ring.revoke(id, ANYONE), { code: "NOT_FOUND" });
});

test("a key cannot create a key with more grants, a later expiry or a higher rate", async (t) => {
  const { ring } = await open(t, { clock: new FakeClock({ now: 1_000 }) });
  const spec = { grants: ORDERS, expiresAt: 9_000, requestsPerSecond: 10 };
  const scoped = ring.verify((await ring.create(spec, ANYONE)).key);
  const same = { expiresAt: 9_000, requestsPerSecond: 10 };
  await ring.create({ ...same, grants: [{ action: "consume", on: "orders.eu" }] }, scoped);
  const more = [
    { ...same, grants: ALL },
    { ...same, grants: [{ action: "admin", on: "orders*" }] },
    { ...same, grants: [...ORDERS, { action: "produce", on: "payments" }] },
    { grants: ORDERS, requestsPerSecond: 10 },
    { grants: ORDERS, expiresAt: 9_001, requestsPerSecond: 10 },
    { grants: ORDERS, expiresAt: 9_000 },
    { grants: ORDERS, expiresAt: 9_000, requestsPerSecond: 11 },
  ];
  for (const asked of more) await assert.rejects(ring.create(asked, scoped), { code: "FORBIDDEN" });
});

test("an admin of some queues sees and revokes the keys of those queues", async (t) => {
  const { ring } = await open(t);
  const root = await ring.create({ name: "root", grants: ALL }, ANYONE);
  const scoped = ring.verify((await ring.create({ name: "orders", grants: ORDERS }, ANYONE)).key);
  const names = ring.list(scoped).map(({ name }) => name);
  assert.deepEqual(names, ["orders"]);
  await assert.rejects(ring.revoke(root.id, scoped), { code: "NOT_FOUND" });
});

test("a mistake in a new key is named", async (t) => {
  const { ring } = await open(t);
  const on = { action: "admin", on: "*" };
  const wrong: [unknown, string][] = [
    [1, "key"],
    [{ grants: [] }, "grants"],
    [{ grants: [1] }, "grants[0]"],
    [{ grants: [on, { action: "sudo", on: "*" }] }, "grants[1].action"],
    [{ grants: [{ action: "admin", on: "a b" }] }, "grants[0].on"],
    [{ grants: [on], expiresAt: 5 }, "expiresAt"],
    [{ grants: [on], requestsPerSecond: 0 }, "requestsPerSecond"],
    [{ grants: [on], name: "x".repeat(101) }, "name"],
    [{ grants: [on], scope: 1 }, "scope"],
  ];
  for (const [input, field] of wrong) {
    await assert.rejects(ring.create(input, ANYONE), ({ details }: SluiceError) => {
      assert.equal(details.field, field);
      return true;
    });
  }
});

test("a key of the operator's own opens everything and is not stored", async (t) => {
  const rootKey = "0123456789abcdef0123456789abcdef";
  const { ring } = await open(t, { rootKey });
  assert.ok(!ring.isEmpty);
  assert.deepEqual(ring.verify(rootKey).grants(), ALL);
  assert.deepEqual(ring.list(ANYONE), []);
});

test("a key over its requests per second is refused with the time to retry after", async (t) => {
  const { ring } = await open(t, { requestsPerSecond: 10 });
  const { key } = await ring.create({ grants: ALL }, ANYONE);
  ring.verify(key).charge();
  assert.throws(
    () => ring.verify(key).charge(),
    (error: Error & { code?: string; retryAfterMs?: number }) =>
      error.code === "RATE_LIMITED" && (error.retryAfterMs ?? 0) > 0,
    "one bucket for all connections of a key",
  );
});

test("a key that cannot be stored is not made", async () => {
  const broker = {
    storeScan: async () => ({ items: [] }),
    storeWrite: async () => {
      throw new Error("disk");
    },
  } as unknown as Broker;
  const ring = await openRing(broker);
  await assert.rejects(ring.create({ grants: ALL }, ANYONE), /disk/);
  assert.ok(ring.isEmpty);
});

test("a key is made with a role, on all queues or on some", async (t) => {
  const { ring } = await open(t);
  const { key, id } = await ring.create({ role: "operator" }, ANYONE);
  const all = [{ action: "operate", on: "*", gates: ["*"] }];
  assert.deepEqual(ring.verify(key).grants(), all);
  await ring.set(id, { role: "viewer", on: "orders.*" }, ANYONE);
  assert.deepEqual(ring.verify(key).grants(), [{ action: "view", on: "orders.*" }]);
  const bad = [{ role: "boss" }, { role: "viewer", grants: ALL }, { grants: ALL, on: "a" }];
  for (const asked of [...bad, { role: "viewer", on: 7 }]) {
    await assert.rejects(ring.create(asked, ANYONE), { code: "INVALID" });
  }
});
