import assert from "node:assert/strict";
import { test } from "node:test";
import { indexer, Rig } from "../testing/rig.ts";
import { Fault } from "./fault.ts";
import { LADDER } from "./limits-of.ts";

const MINUTE = 60_000;

test("a limit cools for what was asked, or for the ladder's step if that is longer", async (t) => {
  for (const [askedMs, coolMs] of [
    [0, 1 * MINUTE],
    [10_000, 1 * MINUTE],
    [30 * MINUTE, 30 * MINUTE],
    [10 * 365 * 24 * 60 * MINUTE, 24 * 60 * MINUTE],
  ] as const) {
    const rig = await Rig.open(t);
    rig.answer = () => {
      throw new Fault(`HTTP 429, Retry-After "${askedMs}"`, {
        status: "rate_limited",
        penalty: "limit",
        retryAfterMs: askedMs,
      });
    };
    rig.submit();
    await rig.clock.advance(5);
    assert.deepEqual(rig.statuses, ["a rate_limited"]);
    const { cooldown, ladderStep, windows } = await rig.sluice.gate("indexer:a").info();
    assert.equal(ladderStep, 1);
    assert.ok(Math.abs(cooldown!.until - rig.clock.now() - coolMs) <= 1, `${askedMs}`);
    // The raw value stays readable, and no window is made up from it.
    assert.equal(cooldown!.reason, `HTTP 429, Retry-After "${askedMs}"`);
    assert.deepEqual(windows, []);
  }
});

test("failures climb the ladder to its end, each success steps back by one", async (t) => {
  const rig = await Rig.open(t);
  const indexers = [indexer("a", { interval: 0 })];
  let isBroken = true;
  rig.answer = () => {
    if (isBroken) throw new Fault("connection refused", { penalty: "ladder" });
    return { results: [] };
  };
  const cooledMs: number[] = [];
  for (let i = 0; i < LADDER.length + 1; i++) {
    rig.submit({ indexers });
    await rig.clock.advance(5);
    const { cooldown } = await rig.sluice.gate("indexer:a").info();
    cooledMs.push(Math.round((cooldown!.until - rig.clock.now()) / MINUTE));
    await rig.clock.advanceTo(cooldown!.until);
  }
  assert.deepEqual(cooledMs, [1, 5, 15, 30, 60, 180, 360, 720, 1440, 1440]);
  isBroken = false;
  for (let step = LADDER.length - 1; step >= 0; step--) {
    rig.submit({ indexers });
    await rig.clock.advance(5);
    assert.equal((await rig.sluice.gate("indexer:a").info()).ladderStep, step);
  }
});

test("a fault that is ours touches no limit", async (t) => {
  const rig = await Rig.open(t);
  await rig.sluice.gate("indexer:a").set({ ladder: LADDER });
  await rig.sluice.gate("indexer:a").report(false);
  rig.answer = () => {
    throw new Fault("code 201: incorrect parameter");
  };
  rig.submit();
  await rig.clock.advance("2m");
  assert.deepEqual(rig.statuses, ["a error"]);
  const { cooldown, ladderStep } = await rig.sluice.gate("indexer:a").info();
  assert.deepEqual([cooldown, ladderStep], [undefined, 1]);
});

test("a cooldown is reset by hand, and the ladder with it", async (t) => {
  const rig = await Rig.open(t);
  rig.answer = () => {
    throw new Fault("connection refused", { penalty: "ladder" });
  };
  rig.submit();
  await rig.clock.advance(5);
  rig.answer = () => ({ results: ["a"] });
  await rig.sluice.gate("indexer:a").clear();
  rig.submit({ priority: "interactive" });
  await rig.clock.advance("10s");
  assert.deepEqual(rig.statuses, ["a error", "a ok"]);
  assert.equal((await rig.sluice.gate("indexer:a").info()).ladderStep, 0);
});

test("downloads have a budget of their own", async (t) => {
  const rig = await Rig.open(t);
  const limits = {
    interval: 0,
    windows: [{ limit: 1, per: "1h" }],
    grabs: [{ limit: 2, per: "1h" }],
  };
  const indexers = [indexer("a", limits as object)];
  for (let i = 0; i < 3; i++) rig.submit({ indexers, budget: "grab", maxWait: 1_000 });
  for (let i = 0; i < 2; i++) rig.submit({ indexers, maxWait: 1_000 });
  await rig.clock.advance("1m");
  const counts = Object.groupBy(rig.statuses, (line) => line);
  assert.equal(counts["a ok"]?.length, 3);
  assert.equal(counts["a rate_limited"]?.length, 2);
});
