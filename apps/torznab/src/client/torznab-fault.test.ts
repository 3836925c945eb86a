import assert from "node:assert/strict";
import { test } from "node:test";
import { faultOfCode, faultOfStatus } from "./torznab-fault.ts";

const ANY_STATUS = [200, 201, 302, 400, 401, 403, 404, 410, 418, 500, 502, 504];
const at = (httpStatus: number, retryAfter?: string) => ({ httpStatus, retryAfter, now: 0 });

test("an error element means the same under any HTTP status", () => {
  for (const [codes, status, penalty, reaction] of [
    [[100, 101, 102, 103, 107], "error", "none", "disable"],
    [[200, 201, 202, 203], "error", "none", "refetch-caps"],
    [[300], "error", "none", "none"],
    [[429, 500, 501, 910], "rate_limited", "limit", "none"],
    [[0, 99, 108, 199, 204, 310, 410, 900, 999, undefined], "error", "ladder", "none"],
  ] as const) {
    for (const code of codes) {
      for (const httpStatus of ANY_STATUS) {
        const fault = faultOfCode({ code, description: "said" }, at(httpStatus));
        const { status: got, penalty: cost, reaction: then } = fault;
        assert.deepEqual([got, cost, then], [status, penalty, reaction], `${code} ${httpStatus}`);
      }
    }
  }
});

test("429 and 503 ask for time whatever the element says, and so do the words for it", () => {
  for (const httpStatus of [429, 503]) {
    for (const code of [100, 201, 300, 900, undefined]) {
      const fault = faultOfCode({ code, description: "" }, at(httpStatus, "60"));
      assert.deepEqual([fault.penalty, fault.retryAfterMs], ["limit", 60_000], `${code}`);
    }
  }
  for (const description of [
    "Request limit reached (100/100)",
    "Query limit exceeded",
    "You have reached your API limits: rate limit",
    "Too many requests",
  ]) {
    assert.equal(faultOfCode({ code: 900, description }, at(200)).penalty, "limit", description);
  }
  const other = faultOfCode({ code: 900, description: "speed unlimited" }, at(200));
  assert.equal(other.penalty, "ladder");
});

test("an HTTP error without an element: time, trouble, or our mistake", () => {
  for (const [httpStatus, penalty] of [
    [429, "limit"],
    [503, "limit"],
    [500, "ladder"],
    [502, "ladder"],
    [504, "ladder"],
    [401, "ladder"],
    [403, "ladder"],
    [410, "ladder"],
    [400, "none"],
    [404, "ladder"],
  ] as const) {
    const fault = faultOfStatus(at(httpStatus), "");
    assert.equal(fault.penalty, penalty, `${httpStatus}`);
    assert.match(fault.message, new RegExp(`^HTTP ${httpStatus}`));
  }
});
