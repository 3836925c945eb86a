import assert from "node:assert/strict";
import { test } from "node:test";
import { reasonOf } from "./reasons.ts";
import { SYNCED, SYSTEMS } from "./systems.ts";

const ROWS = [
  ...[SYNCED, "relaxed"].flatMap((mode) => [
    `produce and drain at once, ${mode}`,
    `bulk produce, ${mode}`,
    `drain, ${mode}`,
    `add → handler, one at a time, ${mode}, p50`,
  ]),
  "one tenant floods: wait of the quiet, p99",
  "one tenant floods: its jobs served before a quiet one, p99",
  "one tenant floods: all jobs together",
  "a limit of 1,000/s over 100 tenants: share of the limit that was used",
  "a limit of 1,000/s over 100 tenants: most beyond it in any 990 ms",
  "a limit of 1,000/s over 100 tenants: most in any tenth of a second",
  "produce and drain at once beside a deep backlog",
  "a deep backlog: speed against an empty queue",
  "a deep backlog: memory of the server for a waiting job, once",
  "a deep backlog: filling it, once",
];

test("every row over the network has something to say of every peer", () => {
  for (const row of ROWS) {
    for (const { name } of SYSTEMS.slice(1)) {
      assert.doesNotMatch(reasonOf(row, name), /^no reason is known/, `${row}: ${name}`);
    }
  }
});

test("what holds for one kind of queue is not said of the other", () => {
  const row = `add → handler, one at a time, ${SYNCED}, p50`;
  assert.match(reasonOf(row, "RabbitMQ, classic queue"), /before it is on the disk/);
  assert.doesNotMatch(reasonOf(row, "RabbitMQ, quorum queue"), /before it is on the disk/);
});
