import assert from "node:assert/strict";
import { test } from "node:test";
import type { Why, WhyGated } from "@sluice/protocol";
import { whyText } from "@sluice/protocol";
import { seenWhy } from "./seen.ts";

const GATED: WhyGated = {
  state: "waiting",
  reason: "gated",
  queue: "own",
  place: 0,
  urgent: 0,
  workers: 1,
  running: 0,
  gate: "shared",
  part: "line",
  until: undefined,
  lanes: 2,
};

function whyOf(facts: WhyGated): Why {
  return { ...facts, asOf: 5, text: whyText(facts, 5) };
}

const none = async (ids: readonly string[]): Promise<undefined[]> => ids.map(() => undefined);

/** Each job that the answer may name, and what is left of it for a key without rights. */
const NAMED: readonly [Partial<WhyGated>, Partial<WhyGated>][] = [
  [{ first: { id: "b77", tier: 0 } }, {}],
  [{ keptFor: { id: "b77", gate: "other", part: "rate", until: 9 } }, {}],
  [{ holders: { count: 3, id: "b77", worker: "w77" } }, { holders: { count: 3 } }],
  [{ holders: { count: 3, worker: "w77" } }, { holders: { count: 3 } }],
];

test("jobs of other queues are left out, in data and in words", async () => {
  for (const [given, left] of NAMED) {
    const part = given.holders === undefined ? "line" : "concurrency";
    const seen = await seenWhy(whyOf({ ...GATED, ...given, part }), none);
    assert.deepEqual(seen, whyOf({ ...GATED, ...left, part }));
    assert.doesNotMatch(JSON.stringify(seen), /77/);
  }
});

test("jobs of queues with rights stay", async () => {
  for (const [given] of NAMED.slice(0, 3)) {
    const why = whyOf({ ...GATED, ...given });
    assert.deepEqual(await seenWhy(why, async (ids) => ids.map(() => "seen")), why);
  }
});

test("an answer that names no other job is as it was", async () => {
  const running: Why = { state: "running", worker: "w", until: 9, asOf: 5, text: "It runs." };
  assert.equal(await seenWhy(running, none), running);
});
