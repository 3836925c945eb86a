import assert from "node:assert/strict";
import { test } from "node:test";
import type { NatsConnection } from "@nats-io/transport-node";
import { type NatsLogOptions, parseNatsOptions } from "./options.ts";

const connected = (cluster?: string): NatsConnection =>
  ({ info: { cluster } }) as unknown as NatsConnection;
const connection = connected();

test("a new stream has three copies in a cluster of servers, else one", () => {
  assert.equal(parseNatsOptions({ connection, stream: "p-1" }).replicas, 1);
  const inCluster = { connection: connected("c"), stream: "p-1" };
  assert.equal(parseNatsOptions(inCluster).replicas, 3);
  assert.equal(parseNatsOptions({ ...inCluster, replicas: 5 }).replicas, 5);
  assert.equal(parseNatsOptions(inCluster).subject, "sluice.log.p-1");
});

test("an option that makes no sense is refused with its name", () => {
  const cases: [keyof NatsLogOptions, unknown, shown?: string][] = [
    ["stream", ""],
    ["stream", "a.b"],
    ["stream", "a b"],
    ["stream", 7],
    ["subject", "a.>"],
    ["subject", "a..b"],
    ["replicas", 0],
    ["replicas", 6],
    ["segmentBytes", 1],
    ["readCacheBytes", -1],
    ["deadlineMs", 60_001],
    ["deadlineMs", Number.NaN, "NaN"],
    ["ackWaitMs", 0],
    ["ackWaitMs", 31_000],
  ];
  for (const [field, value, shown = value] of cases) {
    const options = { connection, stream: "s", [field]: value } as NatsLogOptions;
    const details = { field, value: shown };
    assert.throws(() => parseNatsOptions(options), { code: "INVALID", details });
  }
});
