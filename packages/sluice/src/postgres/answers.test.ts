import assert from "node:assert/strict";
import { test } from "node:test";
import { type Broker, type ErrorCode, SluiceError } from "@sluice/protocol";
import { send } from "./answers.ts";
import type { Batch, Result } from "./batches.ts";

const { signal } = new AbortController();

/** What it means when the broker refuses a batch of two rows as a whole, or the second of them. */
function refused(code: ErrorCode, how: "whole" | "row", isRepeated: boolean): Promise<Result[]> {
  const error = { code, message: "try again later" };
  const add: Broker["add"] = async () => {
    if (how === "whole") throw SluiceError.fromJSON(error);
    return [{ ok: { id: "1", tier: 0 } }, { error }];
  };
  const row = { queue: "q", payload: Buffer.from("x"), options: {} };
  const rows = [
    { id: "1", ...row },
    { id: "2", ...row },
  ];
  const batch: Batch = { shard: 0, number: 1n, rows, operationId: "numbered:s:1", isRepeated };
  return send({ add }, batch, signal);
}

test("a batch that may be in the broker keeps its number when the call is not let in", async () => {
  for (const code of ["RATE_LIMITED", "STORAGE_LOW"] as const) {
    await assert.rejects(refused(code, "whole", true), { code });
    const first = await refused(code, "whole", false);
    assert.deepEqual(first, [{ kind: "later" }, { kind: "later" }]);
  }
  await assert.rejects(refused("STORAGE_LOW", "row", true), { code: "STORAGE_LOW" });
});

test("a row that the queue has no room for waits for another number", async () => {
  for (const code of ["QUEUE_FULL", "RATE_LIMITED"] as const) {
    const results = await refused(code, "row", true);
    assert.deepEqual(results, [{ kind: "moved", job: "1" }, { kind: "later" }]);
  }
});

test("a row that no broker takes is not sent, and the others of its batch are moved", async () => {
  let deep: unknown = "x";
  // The stream refuses such a call as a whole.
  for (let level = 0; level < 700; level++) deep = [deep];
  const sent: number[] = [];
  const add: Broker["add"] = async (_, jobs) => {
    sent.push(jobs.length);
    return jobs.map((_job, i) => ({ ok: { id: String(i + 1), tier: 0 } }));
  };
  const options = [{ headers: { deep } }, { weight: 0 }, {}, { fairnessKey: "x".repeat(2000) }];
  const rows = options.map((of, i) => {
    return { id: String(i), queue: "q", payload: Buffer.from("x"), options: of };
  });
  const operationId = "numbered:s:1";
  const batch: Batch = { shard: 0, number: 1n, rows, operationId, isRepeated: false };
  const results = await send({ add }, batch, signal);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ["refused", "refused", "moved", "refused"],
  );
  assert.deepEqual(sent, [1]);
});
