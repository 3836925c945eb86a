import assert from "node:assert/strict";
import { test } from "node:test";
import { filterOf, filterQuery } from "./job-filter.ts";

test("an address is a filter, and a filter the query of a call", () => {
  const query = {
    queue: "orders.*, mail",
    state: "dead,failed,nonsense",
    lane: '["acme","ann"]',
    attempts: "3",
    range: "1h",
    error: "timeout",
    gate: "",
  };
  const filter = filterOf(query, 10_000_000);
  assert.deepEqual(filter, {
    queues: ["orders.*", "mail"],
    states: ["dead", "failed"],
    lane: ["acme", "ann"],
    attempts: 3,
    since: 6_400_000,
    error: "timeout",
  });
  const { queues, states, lane } = filterQuery(filter);
  assert.deepEqual([queues, states, lane], ["orders.*,mail", "dead,failed", '["acme","ann"]']);
});

test("an empty address filters nothing", () => {
  assert.deepEqual(filterOf({}, 0), {});
});
