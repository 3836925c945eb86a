import assert from "node:assert/strict";
import { test } from "node:test";
import { AddressPace } from "./address-pace.ts";
import { packAddress } from "./wire/address.ts";

const ANN = packAddress("192.0.2.1")!;
const BOB = packAddress("192.0.2.2")!;

test("a second's worth is served at once, and then one after the other", () => {
  const pace = new AddressPace(10);
  for (let i = 0; i < 10; i++) assert.equal(pace.wait(ANN, 5_000), 0);
  assert.deepEqual([pace.wait(ANN, 5_000), pace.wait(ANN, 5_000)], [100, 200]);
  assert.equal(pace.wait(BOB, 5_000), 0);
  assert.equal(pace.wait(ANN, 6_300), 0);
});

test("what is not taken is not counted", () => {
  const pace = new AddressPace(10);
  for (let i = 0; i < 10; i++) assert.ok(pace.take(ANN, 5_000));
  for (let i = 0; i < 100; i++) assert.ok(!pace.take(ANN, 5_099));
  assert.ok(pace.take(ANN, 5_100));
  assert.ok(!pace.take(ANN, 5_100));
  assert.ok(pace.take(BOB, 5_100));
});

test("an address that was silent for long is as good as a new one", () => {
  const pace = new AddressPace(10);
  for (let i = 0; i < 100; i++) pace.wait(ANN, 5_000);
  assert.equal(pace.wait(ANN, 14_000), 100);
  for (let i = 0; i < 10; i++) assert.equal(pace.wait(ANN, 60_000), 0);
  assert.equal(pace.wait(ANN, 60_000), 100);
});

test("all addresses of one /64 share a pace", () => {
  const pace = new AddressPace(1);
  assert.ok(pace.take(packAddress("2001:db8::1")!, 5_000));
  assert.ok(!pace.take(packAddress("2001:db8::2")!, 5_000));
  assert.ok(pace.take(packAddress("2001:db8:0:1::1")!, 5_000));
});
