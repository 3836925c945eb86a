import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError } from "sluice";
import { TorznabFault } from "../client/torznab-fault.ts";
import { Fault } from "../scheduler/fault.ts";
import { RateLimitWaitError } from "../scheduler/outcome.ts";
import { downloadError } from "./download-error.ts";

test("each reason why a download did not come has its code", () => {
  const times = { wait: 5_000, maxWait: 1_000, priority: undefined };
  const limit = { status: "rate_limited", penalty: "limit", retryAfterMs: 9_000 } as const;
  for (const [error, code, retryAfterMs] of [
    [new RateLimitWaitError({ id: "a", name: "A" }, times), "RATE_LIMITED", 5_000],
    [new Fault("HTTP 429", limit), "RATE_LIMITED", 9_000],
    [new Fault("slow", { status: "timeout" }), "TIMEOUT", undefined],
    [new Fault("the indexer is paused", { status: "skipped" }), "CONFLICT", undefined],
    [new TorznabFault("gone", { kind: "code", code: 300 }), "NOT_FOUND", undefined],
    [new TorznabFault("gone", { kind: "http", httpStatus: 404 }), "NOT_FOUND", undefined],
    [new TorznabFault("broken", { kind: "network" }), "DISCONNECTED", undefined],
  ] as const) {
    const said = downloadError(error) as SluiceError;
    assert.deepEqual([said.code, said.retryAfterMs], [code, retryAfterMs], error.message);
  }
  const other = new TypeError("a bug");
  assert.equal(downloadError(other), other);
});
