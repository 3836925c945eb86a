import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { GateConfig } from "./gate-state.ts";
import { GateState } from "./gate-state.ts";

const part = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const config: fc.Arbitrary<GateConfig> = fc.record({
  rate: part(
    fc.oneof(fc.constantFrom(0.3, 7, 1000), fc.double({ min: 0.01, max: 50, noNaN: true })),
  ),
  burst: part(fc.integer({ min: 1, max: 6 })),
  interval: part(
    fc.record({
      ms: fc.integer({ min: 0, max: 300 }),
      from: fc.constantFrom("start" as const, "end" as const),
      factors: part(fc.array(fc.constantFrom(0, 0.1, 0.55, 1, 2), { minLength: 1, maxLength: 4 })),
      floorMs: part(fc.integer({ min: 0, max: 50 })),
    }),
  ),
  windows: part(
    fc.array(
      fc.record({
        limit: fc.integer({ min: 1, max: 8 }),
        perMs: fc.integer({ min: 1, max: 900 }),
      }),
      { maxLength: 3 },
    ),
  ),
  concurrency: part(fc.integer({ min: 1, max: 3 })),
  ladder: part(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 4 })),
});

type Step =
  | { do: "take"; cost: number; tier: number; forced: boolean }
  | { do: "release" }
  | { do: "report"; ok: boolean }
  | { do: "cool"; ms: number }
  | { do: "wait"; ms: number }
  | { do: "configure"; config: GateConfig | undefined };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      cost: fc.integer({ min: 1, max: 8 }),
      tier: fc.nat(3),
      forced: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ do: "release" as const }) },
  fc.record({ do: fc.constant("report" as const), ok: fc.boolean() }),
  fc.record({ do: fc.constant("cool" as const), ms: fc.nat(300) }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.nat(500) }),
  fc.record({ do: fc.constant("configure" as const), config: part(config) }),
);
const steps = fc.array(step, { minLength: 1, maxLength: 60, size: "max" });

/** Run one step and answer the time after it; a take waits until the gate opens. */
function run(gate: GateState, one: Step, now: number): number {
  if (one.do === "wait") return now + one.ms;
  if (one.do === "release") gate.release(now);
  else if (one.do === "report") gate.report(one.ok, now);
  else if (one.do === "cool") gate.cool(now + one.ms, "signal", now);
  else if (one.do === "configure") gate.configure(one.config, now);
  else {
    const at = gate.opensAt(one.cost, one.tier, now);
    if (at === Infinity && !one.forced) return now;
    const then = one.forced ? now : at;
    gate.take(one.cost, one.tier, then);
    return then;
  }
  return now;
}

/** The same gate after a restart: saved, and its leases held again. */
function restarted(gate: GateState, now: number): GateState {
  const again = new GateState(gate.key);
  again.configure(gate.config, now);
  again.load(JSON.parse(JSON.stringify(gate.save(now))), now);
  for (let i = 0; i < gate.inFlight; i++) again.hold();
  return again;
}

function answers(gate: GateState, now: number): unknown[] {
  const list: unknown[] = [gate.tokens(now), gate.windowUse(now), gate.cooldown(now)];
  for (let cost = 1; cost < 9; cost += 2) {
    for (let tier = 0; tier < 4; tier++) {
      list.push(gate.timedAt(cost, tier, now), gate.part(cost, tier, now));
    }
  }
  return list;
}

const begins = fc.constantFrom<number>(0, 1_763_000_000_000);

test("the gate opens at the time it answers and not 1 ms before", () => {
  fc.assert(
    fc.property(config, steps, begins, (first, list, begin) => {
      const gate = new GateState("g");
      gate.configure(first, begin);
      let now = begin;
      for (const one of list) {
        now = run(gate, one, now);
        const at = gate.timedAt(2, 1, now);
        assert.ok(at >= now);
        if (at === now || at === Infinity) continue;
        assert.equal(at, Math.ceil(at), "a whole millisecond");
        // Looking must change nothing, so copies look ahead.
        assert.equal(restarted(gate, now).timedAt(2, 1, at - 1), at);
        assert.equal(restarted(gate, now).timedAt(2, 1, at), at);
        assert.equal(restarted(gate, now).part(2, 1, at - 1) === undefined, false);
      }
    }),
    { numRuns: 500 },
  );
});

test("a restart at any moment changes no answer, then or later", () => {
  fc.assert(
    fc.property(config, steps, fc.nat(60), begins, (first, list, when, begin) => {
      const gate = new GateState("g");
      gate.configure(first, begin);
      let now = begin;
      for (const one of list.slice(0, when)) now = run(gate, one, now);
      const again = restarted(gate, now);
      assert.deepEqual(answers(again, now), answers(gate, now));
      for (const one of list.slice(when)) {
        const then = run(gate, one, now);
        assert.equal(run(again, one, now), then);
        now = then;
        assert.deepEqual(answers(again, now), answers(gate, now));
      }
    }),
    { numRuns: 500 },
  );
});

test("a claim passes beside a take exactly when it passes after it", () => {
  fc.assert(
    fc.property(config, steps, fc.nat(3), fc.nat(800), (first, list, tier, wait) => {
      const gate = new GateState("g");
      gate.configure(first, 0);
      let now = 0;
      for (const one of list) now = run(gate, one, now);
      if (!gate.passes(1, 0, now)) return;
      const beside = gate.passesBeside(1, 2, tier, now + wait, now);
      gate.take(1, 0, now);
      assert.equal(beside, gate.passes(2, tier, now + wait));
    }),
    { numRuns: 1000 },
  );
});

test("a pristine gate answers like a fresh one, then and whatever comes next", () => {
  fc.assert(
    fc.property(config, steps, fc.nat(3000), steps, (first, list, wait, next) => {
      const gate = new GateState("g");
      gate.configure(first, 0);
      let now = 0;
      for (const one of list) now = run(gate, one, now);
      while (gate.inFlight > 0) gate.release(now);
      now += wait;
      if (!gate.pristine(now)) return;
      const fresh = new GateState("g");
      fresh.configure(gate.config, now);
      assert.deepEqual(answers(gate, now), answers(fresh, now));
      assert.equal(gate.hasRoom(1, 0, now), fresh.hasRoom(1, 0, now));
      for (const one of next) {
        const then = run(gate, one, now);
        assert.equal(run(fresh, one, now), then);
        now = then;
        assert.deepEqual(answers(gate, now), answers(fresh, now));
      }
    }),
    { numRuns: 1000 },
  );
});

test("no signal makes a cooldown shorter", () => {
  fc.assert(
    fc.property(config, steps, (first, list) => {
      const gate = new GateState("g");
      gate.configure(first, 0);
      let now = 0;
      let until = -Infinity;
      for (const one of list) {
        // Deleting the gate ends its cooldown too.
        if (one.do === "configure") continue;
        now = run(gate, one, now);
        assert.ok(gate.cooldownUntil >= until);
        until = gate.cooldownUntil;
      }
    }),
  );
});

test("a change of limits keeps the level, and never fills what was configured before", () => {
  fc.assert(
    fc.property(config, steps, config, (first, list, next) => {
      const gate = new GateState("g");
      gate.configure(first, 0);
      let now = 0;
      for (const one of list) now = run(gate, one, now);
      // A part at rest counts as new.
      if (gate.bucket?.full(now)) return;
      const tokens = gate.tokens(now);
      const inFlight = gate.inFlight;
      gate.configure(next, now);
      assert.equal(gate.inFlight, inFlight);
      if (tokens === undefined || gate.bucket === undefined) return;
      assert.equal(gate.tokens(now), Math.min(tokens, gate.bucket.burst / 1000));
    }),
    { numRuns: 500 },
  );
});

test("forced takes never throw and leave no debt that the largest of them does not explain", () => {
  const forced = fc.array(fc.integer({ min: 1, max: 1_000_000 }), {
    minLength: 1,
    maxLength: 30,
    size: "max",
  });
  fc.assert(
    fc.property(config, forced, (first, costs) => {
      const gate = new GateState("g");
      gate.configure(first, 0);
      for (const cost of costs) gate.take(cost, 0, 0);
      const tokens = gate.tokens(0) ?? 0;
      const burst = (gate.bucket?.burst ?? 0) / 1000;
      assert.ok(tokens >= Math.min(0, burst - Math.max(...costs)));
      assert.ok(gate.timedAt(1, 0, 0) >= 0);
      assert.equal(gate.inFlight, costs.length);
    }),
  );
});
