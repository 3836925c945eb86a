import assert from "node:assert/strict";
import { test } from "node:test";
import { open } from "./testing/opened.ts";

test("a broker that is no cluster takes a spread of 1, and refuses any other", async () => {
  const { broker } = await open();
  const { config } = await broker.setQueue("q", { spread: 1, lease: 7000 });
  assert.equal(config.lease, 7000);
  for (const spread of [0, 2, "3" as unknown as number]) {
    await assert.rejects(broker.setQueue("q", { spread, lease: 1 }), (error) => {
      const { code, details } = error as { code: string; details: { field: string } };
      return code === "INVALID" && details.field === "queue.spread";
    });
  }
  assert.equal((await broker.queue("q")).config.lease, 7000);
});
