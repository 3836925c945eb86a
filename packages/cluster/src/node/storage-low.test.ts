import assert from "node:assert/strict";
import { test } from "node:test";
import { storageLow } from "./storage-low.ts";

test("adds are refused from 90 % on, with a time after which to try again", () => {
  for (const share of [undefined, 0, 0.5, 0.8999]) assert.equal(storageLow(share), undefined);
  for (const share of [0.9, 0.95, 1.2]) {
    const refusal = storageLow(share)!;
    assert.equal(refusal.code, "STORAGE_LOW");
    assert.equal(refusal.isRetryable, true);
    assert.equal(refusal.details.percent, Math.floor(share * 100));
    assert.equal(refusal.details.retryAfterMs, 10_000);
  }
});
