import assert from "node:assert/strict";
import { test } from "node:test";
import { packAddress } from "../wire/address.ts";
import { SocketCounts } from "./socket-counts.ts";

const packed = (text: string): string => packAddress(text)!;

test("connections from all addresses of a /64 count together, those of IPv4 each alone", () => {
  const counts = new SocketCounts();
  for (const address of ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1", "192.0.2.1"]) {
    counts.opened(packed(address));
  }
  assert.equal(counts.of(packed("2001:db8::2")), 2);
  assert.equal(counts.of(packed("2001:db8:0:1::2")), 1);
  assert.equal(counts.of(packed("192.0.2.1")), 1);
  assert.equal(counts.of(packed("192.0.2.2")), 0);
  counts.closed(packed("2001:db8::1"));
  assert.equal(counts.of(packed("2001:db8::2")), 1);
  counts.closed(packed("2001:db8::ffff:1"));
  assert.equal(counts.of(packed("2001:db8::2")), 0);
});
