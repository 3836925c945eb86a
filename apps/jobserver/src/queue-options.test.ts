import assert from "node:assert/strict";
import { test } from "node:test";
import { readConfig } from "./config.ts";
import { queueOptions } from "./queue-options.ts";

function orderFor(share: string, tiers = "fast:1,slow:1"): unknown {
  const config = readConfig({ PRIORITY_SLOW_SHARE: share, PRIORITY_TIERS: tiers });
  return queueOptions(config, config.tiers).tierOrder;
}

test("a share is the smallest weights that come near it", () => {
  assert.equal(orderFor("0"), "strict");
  assert.deepEqual(orderFor("0.25"), [3, 1]);
  assert.deepEqual(orderFor("0.1"), [9, 1]);
  assert.deepEqual(orderFor("0.5", "a:1,b:1,c:1"), [2, 1, 1]);
  assert.deepEqual(orderFor("0.001"), [999, 1]);
  assert.deepEqual(orderFor("1"), [1, 100]);
});

test("one submitter may have its share of each tier, and any with a share of 0", () => {
  const config = readConfig({});
  const [fast, slow] = queueOptions(config, config.tiers).tiers as { perLane?: number }[];
  assert.deepEqual([fast?.perLane, slow?.perLane], [500, 2500]);
  const open = readConfig({ PRIORITY_SUBMITTER_SHARE: "0" });
  const tiers = queueOptions(open, open.tiers).tiers as { perLane?: number }[];
  assert.deepEqual(
    tiers.map(({ perLane }) => perLane),
    [undefined, undefined],
  );
});
