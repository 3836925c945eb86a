import assert from "node:assert/strict";
import { test } from "node:test";
import { isPublic, pinned, publicAddresses } from "./address.ts";

test("public and not", () => {
  for (const address of ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "2a00:1450::1"]) {
    assert.equal(isPublic(address), true, address);
  }
  for (const address of [
    ...["127.0.0.1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254"],
    ...["0.0.0.0", "100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.9"],
    ...["::1", "::", "fe80::1", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8"],
    ...["64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001::1", "nonsense"],
  ]) {
    assert.equal(isPublic(address), false, address);
  }
});

test("a link from outside: plain HTTP, usual ports, every address public", async () => {
  const resolve =
    (...addresses: string[]) =>
    async () =>
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const check = (url: string, ...addresses: string[]) =>
    publicAddresses(new URL(url), resolve(...addresses));
  assert.equal((await check("https://x.example/a", "1.1.1.1")).length, 1);
  for (const [url, ...addresses] of [
    ["ftp://x.example/", "1.1.1.1"],
    ["http://u:p@x.example/", "1.1.1.1"],
    ["http://x.example:8080/", "1.1.1.1"],
    ["http://x.example/", "1.1.1.1", "10.0.0.1"],
    ["http://x.example/"],
    ["http://0x7f000001/"],
    ["http://2130706433/"],
    ["http://[::ffff:127.0.0.1]/"],
    ["http://127.1/"],
  ] as [string, ...string[]][]) {
    await assert.rejects(check(url, ...addresses), { kind: "address" }, url);
  }
});

test("the connection uses the addresses that were checked, and asks no second time", async () => {
  const answers = ["1.1.1.1", "127.0.0.1"];
  const resolve = async () => [{ address: answers.shift()!, family: 4 }];
  const lookup = pinned(await publicAddresses(new URL("http://x.example/"), resolve));
  for (const all of [true, false]) {
    lookup("x.example", { all }, (error, address) => {
      assert.equal(error, null);
      const first = typeof address === "string" ? address : address[0]!.address;
      assert.equal(first, "1.1.1.1");
    });
  }
  assert.deepEqual(answers, ["127.0.0.1"]);
});
