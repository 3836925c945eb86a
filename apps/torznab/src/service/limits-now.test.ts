import assert from "node:assert/strict";
import { test } from "node:test";
import type { GateInfo } from "sluice";
import { isBusy, nextAt, nextBehind } from "./limits-now.ts";

const NOW = 1_000_000;

function gate(more: Partial<GateInfo> = {}): GateInfo {
  const empty = { key: "g", inFlight: 0, ladderStep: 0, waitingLanes: 0, line: [], windows: [] };
  return { ...empty, opensAtByTier: [NOW], config: undefined, ...more } as unknown as GateInfo;
}

const spaced = { config: { interval: { every: 10_000, from: "end", floor: 2_000 } } } as const;

test("the later of the two gates decides, and a clock that is a little ahead means now", () => {
  const host = gate({ opensAtByTier: [NOW + 7_000] });
  assert.equal(nextAt([gate(), host], 3, NOW), NOW + 7_000);
  assert.equal(nextAt([gate({ opensAtByTier: [NOW + 20] })], 0, NOW), NOW);
  assert.equal(nextAt([gate({ ...spaced, inFlight: 1 }), host], 3, NOW), NOW + 10_000);
});

test("a host is busy when it has all the requests that it may have at once", () => {
  const host = gate({ inFlight: 2, config: { concurrency: 2 } as GateInfo["config"] });
  assert.equal(isBusy([gate(), host]), true);
  assert.equal(isBusy([gate(), { ...host, inFlight: 1 }]), false);
});

test("a request goes after all that wait ahead of it, each spaced by its own priority", () => {
  const gates = [gate(spaced as Partial<GateInfo>)] as const;
  assert.equal(nextBehind(gates, 3, NOW, { tiers: [], tookMs: 500 }), NOW);
  // Two persons, then a background search: 500 + 2,000 to the second, 500 + 10,000 to ours.
  assert.equal(nextBehind(gates, 3, NOW, { tiers: [0, 0], tookMs: 500 }), NOW + 13_000);
});

test("a window of two lets the third request go when the first leaves it", () => {
  const windows = [{ limit: 2, per: 60_000, used: 0 }];
  const at = nextBehind([gate({ windows })], 0, NOW, { tiers: [0, 0], tookMs: 0 });
  assert.equal(at, NOW + 60_000);
});
