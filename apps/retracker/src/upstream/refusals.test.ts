import assert from "node:assert/strict";
import { test } from "node:test";
import { Sluice } from "sluice";
import { hashOf } from "../testing/scene.ts";
import { Refusals } from "./refusals.ts";

test("remembers the newest refusals when there are too many, also after a restart", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const refusals = await Refusals.open(sluice, 2);
  await refusals.add(hashOf("z"), "up", 1);
  await refusals.add(hashOf("b"), "up", 2);
  await refusals.add(hashOf("a"), "up", 3);
  const known = (all: Refusals): boolean[] => ["z", "b", "a"].map((h) => all.has(hashOf(h), "up"));
  assert.deepEqual(known(refusals), [false, true, true]);
  const reopened = await Refusals.open(sluice, 2);
  assert.deepEqual(known(reopened), [false, true, true]);
  await reopened.add(hashOf("c"), "up", 4);
  assert.deepEqual(known(reopened), [false, false, true]);
});
