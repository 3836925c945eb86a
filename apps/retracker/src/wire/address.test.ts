import assert from "node:assert/strict";
import { test } from "node:test";
import { isLoopback, isPublic, isWithin, packAddress, ranges, showAddress } from "./address.ts";

test("addresses are packed and shown again, and IPv4 inside IPv6 is IPv4", () => {
  for (const text of [
    "1.2.3.4",
    "255.255.255.255",
    "2001:4860::8888",
    "2001:db8:0:1:1:1:1:1",
    "::1",
    "::",
    "1::",
    "1:0:0:2::3",
  ]) {
    assert.equal(showAddress(packAddress(text)!), text);
  }
  assert.equal(packAddress("::ffff:1.2.3.4"), "\x01\x02\x03\x04");
  assert.equal(packAddress("::1")?.length, 16);
  assert.equal(packAddress("fe80::1%eth0")?.length, 16);
  for (const text of [
    "",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "0x7f000001",
    "1.2.3.0004",
    "a",
    "::g",
  ]) {
    assert.equal(packAddress(text), undefined, text);
  }
});

test("only public unicast is public, however it is written", () => {
  for (const text of ["8.8.8.8", "172.15.0.1", "172.32.0.1", "223.255.255.1", "2a00:1450::1"]) {
    assert.equal(isPublic(packAddress(text)!), true, text);
  }
  for (const text of [
    "0.0.0.0 10.1.1.1 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255",
    "192.168.1.1 198.18.0.1 203.0.113.1 224.0.0.1 255.255.255.255",
    ":: ::1 ::ffff:127.0.0.1 fe80::1 fd00::1 ff02::1 2001:db8::1 2002:7f00:1:: 64:ff9b::7f00:1",
  ].flatMap((line) => line.split(" "))) {
    assert.equal(isPublic(packAddress(text)!), false, text);
  }
});

test("ranges hold their addresses, and what is none is named", () => {
  const list = ranges(["10.0.0.0/8", "::1", "192.0.2.7"]);
  for (const [text, isIn] of [
    ["10.255.0.1", true],
    ["11.0.0.1", false],
    ["::1", true],
    ["192.0.2.7", true],
    ["192.0.2.8", false],
  ] as const) {
    assert.equal(isWithin(list, packAddress(text)!), isIn, text);
  }
  assert.throws(() => ranges(["10.0.0.0/33"]), /"10.0.0.0\/33" is not a range/);
  assert.throws(() => ranges(["localhost"]), RangeError);
  assert.ok(isLoopback(packAddress("127.9.9.9")!) && isLoopback(packAddress("::1")!));
});
