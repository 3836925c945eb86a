import assert from "node:assert/strict";
import { test } from "node:test";
import { Engine, type Fact } from "@sluice/engine";
import { letterQueueConfig } from "@sluice/protocol";
import { FEATURE_LEVEL } from "./codec/levels.ts";
import { Features } from "./features.ts";

function featuresAt(level: number) {
  const facts: Fact[] = [];
  const engine = new Engine({ facts, letterQueue: letterQueueConfig });
  const allowed = { level, behind: () => ["b (0.0.9)", "c (0.0.9)"] };
  return { facts, allowed, features: new Features(engine, allowed, () => 7) };
}

test("refuses a call that needs a higher level, and names the nodes to upgrade", () => {
  const { features, facts } = featuresAt(1);
  features.need(1, "add");
  assert.throws(() => features.need(2, "a schedule"), {
    code: "UPGRADE_NEEDED",
    message:
      "a schedule needs feature level 2, and the cluster is at 1:" +
      " upgrade the nodes b (0.0.9), c (0.0.9) to Sluice 0.1.0 or newer",
  });
  assert.deepEqual(facts, []);
});

test("when the level has risen, the new level is logged first and the call passes", () => {
  const { features, facts, allowed } = featuresAt(1);
  allowed.level = 2;
  features.need(2, "a schedule");
  features.need(2, "a schedule");
  assert.deepEqual(facts, [{ at: 7, fact: "level", level: 2, needs: "0.1.0" }]);
});

test("a level that only others know is not written", () => {
  const { features, facts } = featuresAt(FEATURE_LEVEL + 5);
  features.raise();
  assert.deepEqual(
    facts.map((fact) => fact.fact === "level" && fact.level),
    [FEATURE_LEVEL],
  );
});
