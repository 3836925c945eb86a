import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterStatus } from "@sluice/protocol";
import { clusterPage } from "./cluster-page.ts";

test("times are sent as moments, which the page shows in the zone of its reader", async () => {
  const startedAt = Date.UTC(2026, 10, 19, 18);
  const status = {
    self: "a",
    nodes: [{ id: "a", address: "http://a", owned: 1, version: "0.1.0", startedAt, isAlive: true }],
    partitions: [],
    moves: [{ at: startedAt + 5, partition: 3, from: "", to: "a", isHandedOver: false }],
  };
  const page = clusterPage({
    status: () => status as unknown as ClusterStatus,
    drain: async () => undefined as never,
  });
  const { sections } = (await page.view({} as never)) as {
    sections: { title: string; rows?: unknown[][] }[];
  };
  const rowOf = (title: string) => sections.find((one) => one.title === title)?.rows?.[0];
  assert.deepEqual(rowOf("Nodes")?.at(-1), { at: startedAt });
  assert.deepEqual(rowOf("Moves")?.[0], { at: startedAt + 5 });
});
