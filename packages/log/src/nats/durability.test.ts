import assert from "node:assert/strict";
import { test } from "node:test";
import { describeDifference, describeDurability } from "./durability.ts";

test("one copy survives a crash of the process alone", () => {
  const text = describeDurability(1);
  assert.match(text, /is on 1 server: it survives a crash of the process, not the loss/);
  assert.match(text, /A power loss of the machine is survived only with "sync_interval: always"/);
});

test("two copies survive the loss of a disk, and confirm nothing alone", () => {
  const text = describeDurability(2);
  assert.match(text, /is on 2 of 2 servers: .* the loss of 1 disk, but nothing is confirmed while/);
  assert.match(text, /A power loss of 2 machines at once is survived only with/);
  assert.doesNotMatch(text, /\b0 machines|\b1 machines/);
});

test("three copies survive the loss of one machine, and of more when servers sync", () => {
  const text = describeDurability(3);
  assert.match(text, /is on 2 of 3 servers: .* the loss of 1 machine with its disk/);
  assert.match(
    text,
    /of 2 machines at once, or of 1 while others .*, is survived only with "sync_interval: always"/,
  );
});

test("five copies survive the loss of two machines", () => {
  const text = describeDurability(5);
  assert.match(text, /is on 3 of 5 servers: .* the loss of 2 machines with their disks/);
  assert.match(text, /of 3 machines at once, or of 1 while others .*, is survived only with/);
});

test("streams with other copies than the wanted ones are named, and how to change them", () => {
  const copies = new Map([
    ["KV_sluice", 3],
    ...Array.from({ length: 5 }, (_, i): [string, number] => [`sluice-${i}`, 1]),
  ]);
  assert.deepEqual(describeDifference(copies, 3), [
    "Not as wanted: 1 copy of sluice-0, sluice-1, sluice-2 and 2 more, not 3;" +
      ' "nats stream edit STREAM --replicas 3" changes one.',
  ]);
  assert.deepEqual(describeDifference(new Map([["KV_sluice", 3]]), 3), []);
});
