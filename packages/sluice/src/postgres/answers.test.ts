import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Added,
  type Broker,
  type ErrorCode,
  type Outcome,
  SluiceError,
} from "@sluice/protocol";
import { send } from "./answers.ts";
import type { Batch, Result } from "./batches.ts";

const sending = { isLast: false, signal: new AbortController().signal };

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
  return send({ add }, batch, sending);
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
  const results = await send({ add }, batch, sending);
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ["refused", "refused", "moved", "refused"],
  );
  assert.deepEqual(sent, [1]);
});

/** A repeated batch of two rows whose first send has reached the broker, or has not. */
async function repeated(answer: () => Promise<Outcome<Added>[]>, isKnown: boolean) {
  const asked: string[] = [];
  const add: Broker["add"] = async (_, jobs, { operationId } = {}) => {
    if (jobs.length > 0) return answer();
    asked.push(operationId!);
    if (!isKnown) return [];
    throw new SluiceError("CONFLICT", "was already used", { field: "operationId" });
  };
  const row = { queue: "q", payload: Buffer.from("x"), options: {} };
  const rows = ["1", "2"].map((id) => ({ id, ...row }));
  const operationId = "numbered:s:1";
  const batch: Batch = { shard: 0, number: 1n, rows, operationId, isRepeated: true };
  const results = await send({ add }, batch, sending);
  assert.deepEqual(asked, [operationId]);
  return results.map(({ kind }) => kind);
}

test("a batch that the broker has is not refused when it is sent again", async () => {
  for (const code of ["FORBIDDEN", "INVALID", "PAYLOAD_TOO_LARGE", "QUEUE_NOT_FOUND"] as const) {
    const whole = async (): Promise<never> => {
      throw new SluiceError(code, "no");
    };
    await assert.rejects(repeated(whole, true), { code });
    assert.deepEqual(await repeated(whole, false), ["refused", "refused"]);
  }
  const error = new SluiceError("FORBIDDEN", "no").toJSON();
  const rows = async (): Promise<Outcome<Added>[]> => [{ error }, { error }];
  await assert.rejects(repeated(rows, true), { code: "FORBIDDEN" });
  assert.deepEqual(await repeated(rows, false), ["refused", "refused"]);
});

test("a batch whose key may not even ask is kept under its number", async () => {
  await assert.rejects(refused("FORBIDDEN", "whole", true), { code: "FORBIDDEN" });
  const first = await refused("FORBIDDEN", "whole", false);
  assert.deepEqual(
    first.map(({ kind }) => kind),
    ["refused", "refused"],
  );
});

test("a batch that a key may no longer send as a whole is kept under its number", async () => {
  const details = { field: "operationId", forbidden: "this key may not use gate x" };
  const add: Broker["add"] = async () => {
    throw new SluiceError("CONFLICT", "was already used, with other contents", details);
  };
  const rows = [{ id: "1", queue: "q", payload: Buffer.from("x"), options: {} }];
  const batch = { shard: 0, number: 1n, rows, operationId: "numbered:s:1" };
  const again = send({ add }, { ...batch, isRepeated: true }, sending);
  await assert.rejects(again, { code: "FORBIDDEN", message: details.forbidden });
  const first = await send({ add }, { ...batch, isRepeated: false }, sending);
  assert.deepEqual(first, [{ kind: "later", newest: 0 }]);
});
