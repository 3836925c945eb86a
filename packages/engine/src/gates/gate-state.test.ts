import assert from "node:assert/strict";
import { test } from "node:test";
import { newLot } from "../lending/ledger.ts";
import { Stock } from "../lending/stock.ts";
import type { GateConfig } from "./gate-state.ts";
import { GateState } from "./gate-state.ts";

function gateOf(config: GateConfig | undefined, now = 0): GateState {
  const gate = new GateState("g");
  gate.configure(config, now);
  return gate;
}

test("a gate without configuration is open and counts what is leased", () => {
  const gate = gateOf(undefined);
  for (let i = 0; i < 5; i++) gate.take(1000, 3, i);
  assert.equal(gate.opensAt(1, 0, 5.5), 5.5);
  assert.equal(gate.part(1, 0, 5), undefined);
  assert.equal(gate.tokens(5), undefined);
  assert.deepEqual(gate.windowUse(5), []);
  assert.equal(gate.costMax(), Infinity);
  gate.configure({ concurrency: 5 }, 5);
  assert.equal(gate.hasRoom(1, 0, 0), false);
  gate.configure({ concurrency: 6 }, 5);
  assert.equal(gate.hasRoom(1, 0, 0), true);
});

test("concurrency: no room and no known time until one is released", () => {
  const gate = gateOf({ concurrency: 2 });
  gate.take(1, 0, 0);
  assert.equal(gate.passes(1, 0, 0), true);
  gate.take(1, 0, 0);
  assert.equal(gate.passes(1, 0, 0), false);
  assert.equal(gate.opensAt(1, 0, 0), Infinity);
  assert.equal(gate.timedAt(1, 0, 0), 0);
  assert.equal(gate.part(1, 0, 0), "concurrency");
  gate.release(5);
  assert.equal(gate.opensAt(1, 0, 5), 5);
});

test("release never goes below zero, and a held lease is released like one that was taken", () => {
  const gate = gateOf({ concurrency: 1 });
  gate.release(0);
  assert.equal(gate.inFlight, 0);
  gate.hold();
  assert.equal(gate.hasRoom(1, 0, 0), false);
  gate.release(1);
  assert.equal(gate.inFlight, 0);
});

test("an interval from the start spaces jobs by the factor of the later one", () => {
  const gate = gateOf({
    interval: { ms: 1000, from: "start", factors: [0.1, 0.55, 1], floorMs: 200 },
  });
  assert.equal(gate.opensAt(1, 2, 0), 0);
  gate.take(1, 2, 0);
  assert.equal(gate.opensAt(1, 0, 0), 200, "no tier goes below the floor");
  assert.equal(gate.opensAt(1, 1, 0), 550);
  assert.equal(gate.opensAt(1, 2, 0), 1000);
  assert.equal(gate.opensAt(1, 9, 0), 1000, "a tier beyond the list uses the last");
  assert.equal(gate.part(1, 1, 549), "interval");
  assert.equal(gate.part(1, 1, 550), undefined);
  assert.equal(gate.hasRoom(1, 0, 0), true);
});

test("an interval from the end lets one job in at a time and counts from its release", () => {
  const gate = gateOf({ interval: { ms: 100, from: "end" }, concurrency: 5 });
  gate.take(1, 0, 0);
  assert.equal(gate.hasRoom(1, 0, 0), false);
  assert.equal(gate.opensAt(1, 0, 50), Infinity);
  assert.equal(gate.part(1, 0, 50), "interval");
  gate.release(70);
  assert.equal(gate.opensAt(1, 0, 70), 170);
  assert.equal(gate.passes(1, 0, 169), false);
  assert.equal(gate.passes(1, 0, 170), true);
});

test("times between two milliseconds count as the later one", () => {
  const gate = gateOf({ interval: { ms: 100, from: "start" } });
  gate.take(1, 0, 0.25);
  assert.equal(gate.timedAt(1, 0, 1), 101);
  assert.equal(gate.timedAt(1, 0, 101.5), 101.5);
});

test("the part that opens last is the one that blocks", () => {
  const gate = gateOf({
    rate: 1,
    burst: 1,
    windows: [{ limit: 1, perMs: 5000 }],
    interval: { ms: 300, from: "start" },
    concurrency: 1,
  });
  gate.take(1, 0, 0);
  assert.equal(gate.part(1, 0, 0), "window");
  gate.configure({ ...gate.config, windows: [{ limit: 1, perMs: 500 }] }, 0);
  assert.equal(gate.part(1, 0, 0), "rate");
  gate.cool(9000, "busy", 0);
  assert.equal(gate.part(1, 0, 0), "cooldown");
  assert.equal(gate.part(1, 0, 9000), "concurrency");
  gate.release(9000);
  assert.equal(gate.part(1, 0, 9000), undefined);
  gate.configure({ rate: 0 }, 9000);
  assert.equal(gate.part(1, 0, 9000), "rate");
  assert.equal(gate.opensAt(1, 0, 9000), Infinity);
});

test("a change keeps the level, and an opened gate starts full again", () => {
  const gate = gateOf({ rate: 1, burst: 10, windows: [{ limit: 9, perMs: 60_000 }] });
  gate.take(8, 0, 0);
  gate.configure({ rate: 2, burst: 5, windows: [{ limit: 10, perMs: 30_000 }] }, 0);
  assert.equal(gate.tokens(0), 2);
  assert.deepEqual(gate.windowUse(0), [{ limit: 10, perMs: 30_000, used: 8 }]);
  assert.equal(gate.costMax(), 5);
  gate.cool(70, "busy", 0);
  gate.configure(undefined, 0);
  assert.equal(gate.opensAt(100, 0, 0), 0, "deleting a gate opens it, cooldown and all");
  gate.configure({ rate: 2, windows: [{ limit: 10, perMs: 30_000 }] }, 0);
  assert.equal(gate.tokens(0), 2, "the default burst is max(1, rate)");
  assert.equal(gate.windowUse(0)[0]!.used, 0);
  gate.configure({ rate: 0.5, windows: [] }, 0);
  assert.equal(gate.costMax(), 1);
});

test("a part at rest counts as new, so that forgetting it makes no difference", () => {
  const gate = gateOf({ rate: 1, burst: 5 });
  gate.configure({ rate: 1, burst: 10 }, 0);
  assert.equal(gate.tokens(0), 10);
  gate.take(1, 0, 0);
  gate.configure({ rate: 1, burst: 20 }, 0);
  assert.equal(gate.tokens(0), 9);
  const spaced = gateOf({ interval: { ms: 100, from: "start" } });
  spaced.take(1, 0, 0);
  spaced.configure({ interval: { ms: 500, from: "start" } }, 99);
  assert.equal(spaced.timedAt(1, 0, 99), 500);
  spaced.configure({ interval: { ms: 900, from: "start" } }, 500);
  assert.equal(spaced.timedAt(1, 0, 500), 500);
});

test("a cooldown without a configuration lasts, also when one is set", () => {
  const gate = gateOf(undefined);
  gate.cool(100, "busy", 0);
  gate.configure(undefined, 10);
  assert.equal(gate.timedAt(1, 0, 10), 100);
  gate.configure({ rate: 1 }, 10);
  assert.equal(gate.timedAt(1, 0, 10), 100);
});

test("an interval counts from the first job after it was set, also when set again", () => {
  const gate = gateOf({ concurrency: 3 });
  gate.take(1, 0, 0);
  gate.configure({ interval: { ms: 100, from: "start" } }, 10);
  assert.equal(gate.opensAt(1, 0, 10), 10);
  gate.take(1, 0, 10);
  assert.equal(gate.opensAt(1, 0, 10), 110);
  gate.configure({ interval: { ms: 200, from: "start" } }, 10);
  assert.equal(gate.opensAt(1, 0, 10), 210, "a change keeps the last start");
  gate.configure({ concurrency: 3 }, 10);
  gate.configure({ interval: { ms: 200, from: "start" } }, 10);
  assert.equal(gate.opensAt(1, 0, 10), 10);
});

test("the ladder climbs with failures, stays at the last rung and steps back by one", () => {
  const gate = gateOf({ ladder: [10, 50, 150] });
  const waits: number[] = [];
  let now = 0;
  for (const ok of [0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0]) {
    gate.report(ok === 1, now);
    waits.push(ok === 1 ? 0 : gate.timedAt(1, 0, now) - now);
    now += 1000;
  }
  assert.deepEqual(waits, [10, 50, 150, 150, 0, 150, 0, 0, 50, 0, 0, 10]);
  assert.equal(gate.cooldownReason, "failure, step 1 of 3");
  assert.equal(gate.ladderStep, 1);
});

test("a gate without a ladder ignores reports, and a shorter ladder keeps its last rung", () => {
  const gate = gateOf({ ladder: [10, 50, 150] });
  for (let i = 0; i < 3; i++) gate.report(false, 0);
  gate.configure({ ladder: [10, 50] }, 0);
  assert.equal(gate.ladderStep, 2);
  gate.configure({ rate: 1 }, 0);
  assert.equal(gate.ladderStep, 0);
  gate.clearCooldown();
  gate.report(false, 0);
  assert.equal(gate.cooldown(0), undefined);
});

test("a cooldown is never shortened by a weaker signal, and clearing resets the ladder", () => {
  const gate = gateOf({ ladder: [10, 5000] });
  gate.cool(1000, "429", 0);
  gate.cool(500, "weaker", 0);
  gate.report(false, 0);
  assert.deepEqual(gate.cooldown(0), { until: 1000, reason: "429" });
  gate.cool(1000.5, "stronger", 0);
  assert.deepEqual(gate.cooldown(1000), { until: 1001, reason: "stronger" });
  assert.equal(gate.cooldown(1001), undefined);
  gate.cool(1000, "past", 2000);
  gate.cool(Number.NaN, "not a time", 2000);
  assert.equal(gate.cooldownUntil, 1001);
  gate.report(false, 2000);
  gate.clearCooldown();
  assert.equal(gate.passes(1, 0, 2000), true);
  assert.equal(gate.ladderStep, 0);
});

test("beside a claim: a place for both, and the timed parts at the claim's time", () => {
  const beside = (config: GateConfig, claimAt: number, cost = 1, claimCost = 1) =>
    gateOf(config).passesBeside(cost, claimCost, 1, claimAt, 0);
  assert.equal(beside({}, 0), true);
  assert.equal(beside({ concurrency: 1 }, Infinity), false);
  assert.equal(beside({ concurrency: 2 }, Infinity), true);
  assert.equal(beside({ rate: 0 }, Infinity), true);
  assert.equal(beside({ interval: { ms: 1, from: "end" } }, Infinity), false);
  assert.equal(beside({ interval: { ms: 100, from: "start", factors: [1, 2] } }, 199), false);
  assert.equal(beside({ interval: { ms: 100, from: "start", factors: [1, 2] } }, 200), true);
  assert.equal(beside({ rate: 1, burst: 3 }, 0, 1, 2), true);
  assert.equal(beside({ rate: 1, burst: 3 }, 0, 2, 2), false);
  assert.equal(beside({ windows: [{ limit: 3, perMs: 50 }] }, 49, 2, 2), false);
  assert.equal(beside({ windows: [{ limit: 3, perMs: 50 }] }, 50, 2, 2), true);
});

test("beside a claim: a cooldown beyond its time lets nothing pass", () => {
  const gate = gateOf({});
  gate.cool(100, "busy", 0);
  assert.equal(gate.passesBeside(1, 1, 0, 99, 0), false);
  assert.equal(gate.passesBeside(1, 1, 0, 100, 0), true);
});

test("a gate is pristine when a fresh one would answer the same", () => {
  const gate = gateOf({
    rate: 1,
    windows: [{ limit: 5, perMs: 3000 }],
    interval: { ms: 4000, from: "end", factors: [0.5, 1] },
    ladder: [10, 20],
  });
  assert.equal(gate.pristine(0), true);
  gate.take(1, 0, 0);
  assert.equal(gate.pristine(9000), false, "a job is leased");
  gate.release(500);
  assert.equal(gate.pristine(4499), false, "the interval of some tier has not passed");
  assert.equal(gate.pristine(4500), true);
  gate.report(false, 5000);
  assert.equal(gate.pristine(6000), false, "a rung was climbed");
  gate.report(true, 5000);
  assert.equal(gate.pristine(5009), false, "it cools down");
  assert.equal(gate.pristine(5010), true);
});

test("a gate is not pristine before its bucket is full and its windows are empty", () => {
  const gate = gateOf({ rate: 1, windows: [{ limit: 5, perMs: 3000 }] });
  gate.take(1, 0, 0);
  gate.release(0);
  assert.equal(gate.pristine(999), false);
  assert.equal(gate.pristine(2999), false);
  assert.equal(gate.pristine(3000), true);
  assert.equal(gateOf(undefined).pristine(0), true);
});

test("a save has only what differs from a fresh gate, and no leases", () => {
  assert.deepEqual(gateOf(undefined).save(0), {});
  const gate = gateOf({ rate: 1, windows: [{ limit: 5, perMs: 100 }], ladder: [10, 20] });
  gate.take(1, 0, 3);
  gate.release(7);
  gate.report(false, 7);
  assert.deepEqual(gate.save(7), {
    bucket: { level: 4, carry: 0, at: 7 },
    takes: { times: [3], costs: [1] },
    ladderStep: 1,
    cooldown: { until: 17, reason: "failure, step 1 of 2" },
  });
  gate.configure({ interval: { ms: 10, from: "start" } }, 7);
  gate.take(1, 0, 8);
  gate.release(9);
  assert.deepEqual(gate.save(17), { last: 8 });
  assert.deepEqual(gate.save(18), {});
});

test("an interval that changes from start to end continues from what it knows", () => {
  const gate = gateOf({ interval: { ms: 100, from: "start" } });
  gate.take(1, 0, 0);
  gate.release(30);
  gate.configure({ interval: { ms: 100, from: "end" } }, 40);
  assert.equal(gate.opensAt(1, 0, 40), 100);
  gate.take(1, 0, 100);
  gate.release(130);
  assert.equal(gate.opensAt(1, 0, 130), 230);
});

test("a load leaves out what the gate is no longer configured for", () => {
  const gate = gateOf({ rate: 1, windows: [{ limit: 5, perMs: 100 }], ladder: [10, 20] });
  gate.take(1, 0, 3);
  gate.report(false, 7);
  const save = gate.save(7);
  const open = gateOf(undefined);
  open.load(save, 7);
  assert.equal(open.ladderStep, 0);
  assert.equal(open.timedAt(1, 0, 7), 17, "the cooldown stays");
  const fresh = gateOf({ rate: 1, windows: [{ limit: 5, perMs: 100 }] });
  fresh.load({}, 7);
  assert.equal(fresh.pristine(7), true);
});

test("a borrower is heard about its own lots only", () => {
  const gate = gateOf({ rate: 10, burst: 10 });
  gate.lend(newLot(1, "a", 4, 4, 1000), 0);
  const use = { lot: 1, usedCost: 0, usedJobs: 0, isOver: true };
  gate.hear("b", 0, [use, { ...use, lot: 7 }], 0);
  assert.equal(gate.opensAt(10, 0, 0) > 0, true, "the lot is still out");
  gate.hear("a", 0, [use], 0);
  assert.equal(gate.opensAt(10, 0, 0), 0, "what was not used is back");
});

test("a borrower that begins again loses what is known of its lots, others lose nothing", () => {
  const gate = gateOf({ concurrency: 10 });
  gate.lend(newLot(1, "a", 4, 4, 1000), 0);
  gate.lend(newLot(2, "b", 3, 3, 1000), 0);
  assert.equal(gate.placesTaken, 7);
  gate.forgetBorrower("a");
  assert.equal(gate.placesTaken, 3);
});

test("an interval that was over when the gate was saved is over when it is loaded", () => {
  const interval = { ms: 1000, from: "start" } as const;
  const gate = gateOf({ interval });
  gate.take(1, 0, 0);
  const early = gateOf({ interval }, 500);
  early.load(gate.save(500), 500);
  assert.equal(early.opensAt(1, 0, 500), 1000);
  const late = gateOf({ interval }, 1500);
  late.load(gate.save(1500), 1500);
  assert.equal(late.opensAt(1, 0, 1500), 1500);
});

test("a stock keeps a permit for a claim whose time is not known if it can have both", () => {
  const gate = gateOf({ rate: 5, burst: 5 });
  gate.stock = new Stock(() => {});
  gate.stock.add({ lot: 1, cost: 3, jobs: 3, tier: 0, until: 1000 }, 0);
  assert.equal(gate.passesBeside(1, 2, 0, Infinity, 0), true, "the stock covers both");
  assert.equal(gate.passesBeside(2, 2, 0, Infinity, 0), false, "one of them must wait");
  assert.equal(gate.passesBeside(2, 4, 0, Infinity, 0), true, "both never fit the limits");
});
