import assert from "node:assert/strict";
import { test } from "node:test";
import type { StreamConfig } from "@nats-io/jetstream";
import { describeDurability } from "./durability.ts";

const streamOf = (num_replicas: number) => ({ config: { num_replicas } as StreamConfig });

test("one copy survives a crash of the process alone", () => {
  const text = describeDurability({ version: "2.9.10" }, streamOf(1));
  assert.match(text, /is on 1 server: it survives a crash of the process, not the loss/);
  assert.match(text, /A power loss of the machine may lose up to 2 minutes: nats-server 2\.9\.10/);
});

test("three copies survive the loss of one machine, and a newer server can be told to sync", () => {
  for (const version of ["2.10.0", "2.12.1-preview.1", "3.0.0"]) {
    const text = describeDurability({ version }, streamOf(3));
    assert.match(text, /is on 2 of 3 servers: .* the loss of 1 machine with its disk/);
    assert.match(text, /of 2 machines at once is survived only with "sync_interval: always"/);
  }
});

test("five copies survive the loss of two machines", () => {
  const text = describeDurability({ version: "2.9.25" }, streamOf(5));
  assert.match(text, /is on 3 of 5 servers: .* the loss of 2 machines with their disks/);
  assert.match(text, /of 3 machines at once may lose up to 2 minutes/);
});
