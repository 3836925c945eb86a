import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fact } from "../facts/facts.ts";
import type { GateConfig } from "../gates/gate-state.ts";
import { each, openEngine, rebuilt, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";
import type { Want } from "./ledger.ts";

const PLENTY: Want = { cost: 1000, jobs: 1000, least: 1, tier: 0, weight: 1 };

/** A home with one gate, and a queue whose workers are free. */
function home(config: GateConfig) {
  const facts: Fact[] = [];
  const engine = openEngine({ leaseMs: 60_000 }, { facts, isBorrowed: () => false });
  engine.setGate("g", config, 0);
  engine.want("q", "w", 100, 0);
  engine.dispatch(0);
  engine.lender.begin(0);
  engine.lender.meet("b", 1, [], 0);
  engine.lender.meet("c", 1, [], 0);
  const ask = (now: number, want: Partial<Want> = {}, borrower = "b") => {
    const word = { gate: "g", held: 0, uses: [], want: { ...PLENTY, ...want } };
    engine.lender.hear(borrower, word, now);
    return engine.lender.takeLots();
  };
  const say = (now: number, held: number, uses: readonly number[][] = [], isOver = true) =>
    engine.lender.hear(
      "b",
      {
        gate: "g",
        held,
        uses: uses.map(([lot, usedCost, usedJobs]) => {
          return { lot: lot!, usedCost: usedCost!, usedJobs: usedJobs!, isOver };
        }),
      },
      now,
    );
  const add = (spec: JobSpec = {}) => engine.add("q", { gates: ["g"], priority: 0, ...spec }, 0);
  const sent = (now: number) => engine.dispatch(now).length;
  const tokens = (now: number) => engine.queries.gateStats("g", now).tokens;
  return { engine, facts, ask, say, add, sent, tokens };
}

/** An engine that has heard the same facts. */
function again(facts: readonly Fact[]): TestEngine {
  return rebuilt(facts, new TestEngine({ isBorrowed: () => false }));
}

test("a borrower gets its part of what is free, and no more than it wants", () => {
  const { ask } = home({ rate: 10, burst: 100 });
  const [lot] = ask(0);
  const { gate, borrower, cost, jobs, until } = lot!;
  assert.deepEqual([gate, borrower, cost, jobs, until], ["g", "b", 100, 1000, 1000]);
  assert.deepEqual(ask(0), []);
  const { ask: askLess } = home({ rate: 10, burst: 100 });
  assert.equal(askLess(0, { cost: 7, jobs: 7 })[0]!.cost, 7);
  assert.equal(askLess(0, {}, "c")[0]!.cost, 93);
});

test("the level and what is out never make more than the burst", () => {
  const { ask, say, tokens } = home({ rate: 1000, burst: 100 });
  const [lot] = ask(0, { cost: 60 });
  assert.equal(tokens(0), 40);
  // Full at what is left of it.
  assert.equal(tokens(500), 40);
  say(500, 0, [[lot!.lot, 20, 20]]);
  // 40 came back, and the bucket refills what was used.
  assert.equal(tokens(500), 80);
  assert.equal(tokens(510), 90);
  assert.equal(tokens(600), 100);
});

test("a repeated report of a lot, or a report of another borrower's lot, changes nothing", () => {
  const { engine, ask, say, tokens, facts } = home({ rate: 1, burst: 100 });
  const [lot] = ask(0, { cost: 50 });
  say(0, 0, [[lot!.lot, 10, 10]], false);
  say(0, 0, [[lot!.lot, 4, 4]], false);
  assert.equal(tokens(0), 50);
  const before = facts.length;
  engine.lender.hear(
    "c",
    {
      gate: "g",
      held: 0,
      uses: [{ lot: lot!.lot, usedCost: 0, usedJobs: 0, isOver: true }],
    },
    0,
  );
  assert.equal(facts.length, before);
  say(0, 0, [[lot!.lot, 10, 10]]);
  say(0, 0, [[lot!.lot, 10, 10]]);
  assert.equal(tokens(0), 90);
});

test("what is not reported of a lot before it expires counts as used", () => {
  const { engine, ask, say, tokens, facts } = home({ rate: 1, burst: 100 });
  const [lot] = ask(0, { cost: 50 });
  assert.equal(engine.nextWake(0), 1250);
  engine.tick(1249);
  assert.equal(facts.at(-1)!.fact, "lent");
  engine.tick(1250);
  assert.equal(facts.at(-1)!.fact, "lot-expired");
  assert.equal(tokens(1250), 50);
  say(1250, 0, [[lot!.lot, 0, 0]]);
  assert.equal(tokens(1250), 50);
});

test("windows count what is lent, and count use from the time of the report", () => {
  const { ask, say, engine } = home({ windows: [{ limit: 10, perMs: 1000 }] });
  const [lot] = ask(0, { cost: 8 });
  const used = (now: number) => engine.queries.gateStats("g", now).windows[0]!.used;
  assert.equal(used(0), 8);
  assert.equal(ask(0, { least: 3 }, "c").length, 0);
  say(500, 0, [[lot!.lot, 6, 6]]);
  assert.deepEqual(each(engine.lender.takeLots(), "cost"), [4]);
  assert.equal(used(1499), 10);
  assert.equal(used(1500), 4);
});

test("a window that is full of what is lent opens when that has come back", () => {
  const { ask, add, sent, say, engine } = home({ windows: [{ limit: 10, perMs: 1000 }] });
  add({ cost: 2 });
  assert.equal(sent(0), 1);
  const [lot] = ask(0, { cost: 8 });
  add({ cost: 5 });
  assert.equal(sent(0), 0);
  const why = engine.queries.why(2, 0);
  assert.ok("part" in why);
  assert.deepEqual([why.part, why.until], ["window", undefined]);
  say(10, 0, [[lot!.lot, 0, 0]]);
  assert.equal(sent(10), 1);
});

test("places are taken by what is lent and by what borrowers run, whatever expires", () => {
  const { engine, ask, say, add, sent } = home({ concurrency: 4 });
  const [lot] = ask(0, { cost: 3, jobs: 3 });
  assert.equal(lot!.jobs, 3);
  for (let i = 0; i < 4; i++) add();
  assert.equal(sent(0), 1);
  say(0, 2, [[lot!.lot, 2, 2]], false);
  assert.equal(sent(0), 0);
  engine.tick(5000);
  assert.equal(sent(5000), 0);
  assert.deepEqual(engine.lender.missingLots("b"), [{ gate: "g", lot: lot!.lot }]);
  assert.deepEqual(engine.lender.missingLots("c"), []);
  say(5000, 2, [[lot!.lot, 2, 2]]);
  assert.equal(sent(5000), 1);
  say(5000, 1);
  assert.equal(sent(5000), 1);
  assert.equal(engine.queries.why(4, 5000).state, "waiting");
});

test("of an interval one permit is out at a time, and the next one follows its use", () => {
  const { ask, say, add, sent, engine } = home({ interval: { ms: 100, from: "start" } });
  const [lot] = ask(0);
  assert.deepEqual([lot!.cost, lot!.jobs], [1, 1]);
  add();
  assert.equal(sent(0), 0);
  assert.equal(engine.queries.gateStats("g", 0).opensAt, undefined);
  say(40, 1, [[lot!.lot, 1, 1]]);
  assert.equal(sent(139), 0);
  assert.equal(sent(140), 1);
  const end = home({ interval: { ms: 100, from: "end" } });
  const [one] = end.ask(0);
  end.say(0, 1, [[one!.lot, 1, 1]]);
  end.add();
  assert.equal(end.sent(500), 0);
  end.say(500, 0);
  assert.equal(end.sent(599), 0);
  assert.equal(end.sent(600), 1);
});

test("borrowers and the home's own lanes take turns, by how many lanes wait", () => {
  const { engine, ask, add, sent } = home({ rate: 100, burst: 2 });
  for (let i = 0; i < 100; i++) add({ fairnessKey: i % 2 === 0 ? "x" : "y" });
  const got = { own: 0, b: 0, c: 0 };
  for (let now = 0; now <= 1000; now++) {
    for (const name of ["b", "c"] as const) {
      const lots = ask(now, { weight: name === "b" ? 2 : 1, cost: 1, jobs: 1 }, name);
      for (const { borrower, lot, cost } of lots) {
        got[borrower as "b" | "c"] += cost;
        const use = { lot, usedCost: cost, usedJobs: 1, isOver: true };
        engine.lender.hear(borrower, { gate: "g", held: 0, uses: [use] }, now);
      }
    }
    got.own += sent(now);
  }
  const sum = got.own + got.b + got.c;
  assert.ok(sum >= 95 && sum <= 102, JSON.stringify(got));
  assert.ok(Math.abs(got.own - got.b) <= 4, JSON.stringify(got));
  assert.ok(Math.abs(got.own - 2 * got.c) <= 6, JSON.stringify(got));
});

test("the more urgent tier goes first, wherever it waits", () => {
  const { engine, ask, add, sent } = home({ rate: 1, burst: 1 });
  add({ priority: 1 });
  assert.equal(sent(0), 1);
  add({ priority: 1 });
  assert.deepEqual(ask(0, { tier: 2 }), []);
  assert.deepEqual(ask(0, { tier: 0 }, "c"), []);
  assert.equal(sent(1000), 0);
  assert.deepEqual(each(engine.lender.takeLots(), "borrower"), ["c"]);
  engine.lender.hear(
    "c",
    { gate: "g", held: 0, uses: [{ lot: 1, usedCost: 1, usedJobs: 1, isOver: true }] },
    1000,
  );
  assert.equal(sent(2000), 1);
  assert.equal(sent(3000), 0);
  assert.deepEqual(each(engine.lender.takeLots(), "borrower"), ["b"]);
});

test("a gate at its limit gathers a lot, and lends what there is when more would take long", () => {
  const fast = home({ rate: 1000, burst: 200 });
  assert.equal(fast.ask(0)[0]!.cost, 200);
  fast.say(0, 0, [[1, 200, 200]]);
  assert.deepEqual(fast.ask(1), []);
  fast.engine.tick(49);
  assert.deepEqual(fast.engine.lender.takeLots(), []);
  fast.engine.tick(50);
  assert.equal(fast.engine.lender.takeLots()[0]!.cost, 50);
  const slow = home({ rate: 2, burst: 10 });
  slow.ask(0, { cost: 8 });
  assert.equal(slow.ask(0, { cost: 8 }, "c")[0]!.cost, 2);
});

test("a job with several gates keeps its permit from borrowers, and waits behind them", () => {
  const { engine, ask, add, sent } = home({ concurrency: 1 });
  engine.setGate("k", { concurrency: 1 }, 0);
  add();
  assert.equal(sent(0), 1);
  engine.add("q", { gates: ["g", "k"] }, 0);
  engine.dispatch(0);
  assert.deepEqual(ask(0), []);
  engine.ack(1, 1, 0);
  const lots = engine.lender.takeLots();
  const dispatched = sent(0);
  assert.equal(lots.length + dispatched, 1);
});

test("drops the wants of a borrower on request", () => {
  const { engine, ask } = home({ rate: 1, burst: 1 });
  ask(0);
  ask(0);
  assert.equal(engine.lender.isDealingWith("b"), true);
  engine.lender.dropWants("c", 0);
  engine.lender.dropWants("b", 0);
  engine.tick(1250);
  assert.equal(engine.lender.isDealingWith("b"), false);
  engine.tick(9000);
  assert.deepEqual(engine.lender.takeLots(), []);
  assert.throws(() => ask(0, { least: 0 }), { code: "INVALID" });
  assert.throws(() => engine.lender.meet("b", 1, [], 0), { code: "INVALID" });
});

test("a borrower that asks for a gate without limits gets what it needs, job by job", () => {
  const { engine, ask, tokens } = home({ rate: 1, burst: 2 });
  engine.lender.hear("b", { gate: "open", held: 0, uses: [] }, 0);
  assert.deepEqual(engine.lender.takeLots(), []);
  for (let i = 0; i < 3; i++) {
    engine.lender.hear("b", { gate: "open", held: 0, uses: [], want: { ...PLENTY, least: 2 } }, 0);
    const lots = engine.lender.takeLots().map(({ gate, cost, jobs }) => [gate, cost, jobs]);
    assert.deepEqual(lots, [["open", 2, 1]]);
  }
  ask(0, { cost: 2, jobs: 2 });
  assert.deepEqual(ask(0), [], "the gate has nothing left");
  engine.deleteGate("g", 0);
  assert.equal(engine.lender.takeLots().length, 1, "who waited for it continues");
  assert.equal(ask(0).length, 1);
  engine.setGate("g", { rate: 1, burst: 10 }, 0);
  assert.equal(tokens(0), 6, "what is out counts");
});

test("limits that change count what is out", () => {
  const { engine, ask, say, tokens } = home({ concurrency: 5 });
  const [lot] = ask(0, { cost: 4, jobs: 4 });
  engine.setGate("g", { rate: 1, burst: 10, windows: [{ limit: 5, perMs: 1000 }] }, 0);
  assert.equal(tokens(0), 6);
  assert.equal(engine.queries.gateStats("g", 0).windows[0]!.used, 4);
  say(0, 0, [[lot!.lot, 0, 0]]);
  assert.equal(tokens(0), 10);
});

test("a borrower that comes back says what it runs, and the rest of its places are free", () => {
  const { engine, ask, say, add, sent } = home({ concurrency: 4 });
  const [lot] = ask(0, { cost: 2, jobs: 2 });
  say(0, 1, [[lot!.lot, 1, 1]], false);
  for (let i = 0; i < 4; i++) add();
  assert.equal(sent(0), 2);
  engine.lender.meet("b", 2, [{ gate: "g", held: 1, uses: [] }], 0);
  assert.equal(sent(0), 1);
  engine.lender.keepOnly("b", new Set(["g"]), 0);
  assert.equal(sent(0), 0);
  engine.lender.keepOnly("b", new Set(), 0);
  assert.equal(sent(0), 1);
  assert.equal(engine.lender.lifeOf("b"), 2);
  // An expired lot is gone with the life that had it.
  const other = home({ concurrency: 1 });
  other.ask(0);
  other.engine.tick(2000);
  other.engine.lender.meet("b", 2, [], 2000);
  assert.deepEqual(other.engine.lender.missingLots("b"), []);
});

test("a restart keeps what is lent, and gives it all its time again", () => {
  const { engine, ask, say, facts } = home({ rate: 1, burst: 10, concurrency: 8 });
  const [lot] = ask(0, { cost: 4, jobs: 4 });
  say(0, 2, [[lot!.lot, 2, 2]], false);
  ask(0, { cost: 1, jobs: 1 }, "c");
  engine.tick(1250);
  ask(1250, { cost: 1, jobs: 1 });
  for (const from of [facts, [...engine.snapshot()], [...engine.checkpoint()].flat()]) {
    const copy = again(from);
    assert.deepEqual(copy.queries.gateStats("g", 1250), engine.queries.gateStats("g", 1250));
    assert.deepEqual(copy.lender.missingLots("b"), engine.lender.missingLots("b"));
    assert.equal(copy.lender.lifeOf("b"), 1);
    copy.lender.begin(9000);
    assert.equal(copy.lender.life, 2);
    assert.equal(copy.nextWake(9000), 10_250);
    copy.tick(10_250);
    assert.equal(copy.lender.missingLots("b").length, 2);
  }
  const early = again([
    ...facts.slice(0, -1),
    { at: 1250, fact: "lot-expired", key: "g", lot: 99 },
  ]);
  assert.equal(early.lender.missingLots("b").length, 1);
});

test("a borrower with a lot out is dealt with, although it wants no more", () => {
  const { engine, ask, say } = home({ rate: 10, burst: 100 });
  const [lot] = ask(0, { cost: 7, jobs: 7 });
  engine.lender.dropWants("b", 0);
  assert.deepEqual(
    [engine.lender.isDealingWith("b"), engine.lender.isDealingWith("c")],
    [true, false],
  );
  say(0, 0, [[lot!.lot, 7, 7]]);
  assert.equal(engine.lender.isDealingWith("b"), false);
});
