import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublicAddress } from "./addresses.ts";

const PRIVATE = [
  "0.0.0.0",
  "10.255.255.255",
  "100.64.0.1",
  "127.0.0.1",
  "169.254.169.254",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.19.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:8.8.8.8",
  "64:ff9b::a00:1",
  "2001:db8::1",
  "2002:7f00:1::",
  "fc00::1",
  "fe80::1",
  "fe80::1%eth0",
  "ff02::1",
];

const PUBLIC = [
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "223.255.255.255",
  "2606:4700::1111",
  "2a00:1450:4001::1",
];

for (const address of PRIVATE) {
  test(`${address} is not public`, () => assert.equal(isPublicAddress(address), false));
}

for (const address of PUBLIC) {
  test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));
}

for (const text of ["", "localhost", "127.1", "0x7f000001", "1.1.1.1:80", "1.1.1"]) {
  test(`${JSON.stringify(text)} is no address, so it is not public`, () => {
    assert.equal(isPublicAddress(text), false);
  });
}
