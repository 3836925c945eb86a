import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, TestEngine } from "../testing/test-engine.ts";
import type { JobSpec } from "../types.ts";
import type { GateConfig } from "./gate-state.ts";

const ONE: GateConfig = { concurrency: 1 };

/** All that can go out now. */
const take = (engine: TestEngine, now = 0): number[] => engine.takeAll(now).map(({ id }) => id);

function add(
  engine: TestEngine,
  gates: string[],
  key: string,
  spec: JobSpec = {},
  queue = "q",
): number {
  return engine.add(queue, { gates, fairnessKey: key, ...spec }, 0).id;
}

/**
 * A job with two gates that has had its turn at both and claims them: one is held by `holder`, the
 * other is free and kept for it.
 */
function claiming(more: (engine: TestEngine) => void = () => {}, spec: JobSpec = {}) {
  const engine = new TestEngine();
  for (const gate of ["a", "b"]) engine.setGate(gate, ONE, 0);
  engine.serve("q");
  more(engine);
  const holders: Record<string, number> = {};
  for (const gate of ["a", "b"]) holders[gate] = add(engine, [gate], `holder of ${gate}`);
  take(engine);
  const both = add(engine, ["a", "b"], "both", spec);
  const second = add(engine, ["a", "b"], "both", spec);
  take(engine);
  const isAtA = engine.queries.gateStats("a", 0).waitingLanes === 1;
  const [held, free] = isAtA ? ["a", "b"] : ["b", "a"];
  const holder = add(engine, [held!], "holder");
  engine.ack(holders[held!]!, 1, 0);
  assert.deepEqual(take(engine), [holder]);
  engine.ack(holders[free!]!, 1, 0);
  assert.deepEqual(take(engine), []);
  return { engine, both, second, holder, held: held!, free: free! };
}

test("a permit is kept for a claim, and the claim goes out with the last one", () => {
  const { engine, both, holder, free } = claiming();
  const other = add(engine, [free], "other");
  assert.deepEqual(take(engine), []);
  engine.ack(holder, 1, 1);
  assert.deepEqual(take(engine, 1), [both]);
  assert.equal(engine.queries.job(other)?.state, "waiting");
});

test("a permit that is kept for a claim is not lent", () => {
  const { engine, both, holder, free } = claiming();
  const want = { cost: 9, jobs: 9, least: 1, tier: 0, weight: 1 };
  const ask = (tier: number): void =>
    engine.lender.hear("b", { gate: free, held: 0, uses: [], want: { ...want, tier } }, 0);
  ask(3);
  assert.deepEqual(engine.lender.takeLots(), []);
  engine.ack(holder, 1, 1);
  assert.deepEqual(take(engine, 1), [both]);
  assert.deepEqual(engine.lender.takeLots(), []);
});

test("a claim is dropped when one of its gates cools down for long", () => {
  const { engine, both, holder, held, free } = claiming();
  engine.cooldown(held, 5000, "down", 0);
  const other = add(engine, [free], "other");
  assert.deepEqual(take(engine), [other], "the permit is kept for no one");
  engine.ack(holder, 1, 1);
  engine.ack(other, 1, 1);
  assert.deepEqual(take(engine, 5000), [both]);
});

test("a claim is dropped when one of its gates is shut for good", () => {
  const { engine, both, holder, held, free } = claiming();
  engine.setGate(held, { rate: 0 }, 0);
  const other = add(engine, [free], "other");
  assert.deepEqual(take(engine), [other]);
  engine.ack(holder, 1, 1);
  engine.ack(other, 1, 1);
  engine.setGate(held, ONE, 2);
  assert.deepEqual(take(engine, 2), [both]);
});

test("a claim outlasts a short cooldown of its gates", () => {
  const { engine, both, holder, held, free } = claiming();
  engine.cooldown(held, 800, "busy", 0);
  engine.ack(holder, 1, 1);
  add(engine, [free], "other");
  assert.deepEqual(take(engine, 1), []);
  assert.equal(engine.nextWake(1), 800);
  assert.deepEqual(take(engine, 800), [both]);
});

test("a claim whose job is cancelled passes to the next of its strand, or is gone", () => {
  const { engine, both, second, holder, free } = claiming();
  engine.cancel(both, 0);
  const other = add(engine, [free], "other");
  assert.deepEqual(take(engine), [], "the next job of the strand claims");
  engine.cancel(second, 0);
  assert.deepEqual(take(engine), [other]);
  engine.ack(holder, 1, 1);
});

test("a claim that may go out is taken back when its job is cancelled or a gate shuts", () => {
  const { engine, both, second, holder, held, free } = claiming();
  engine.want("q", "w", 0, 0);
  engine.ack(holder, 1, 1);
  engine.cooldown(free, 500, "", 1);
  engine.clearCooldown(free, 1);
  engine.cancel(both, 1);
  engine.want("q", "w", 9, 1);
  assert.deepEqual(take(engine, 1), [second]);
  engine.ack(second, 1, 2);
  assert.deepEqual(
    [engine.queries.gateStats(held, 2).inFlight, engine.queries.gateStats(free, 2).inFlight],
    [0, 0],
  );
});

test("a claim that may go out and is cancelled, the last of its strand, leaves nothing", () => {
  const { engine, both, second, holder, held, free } = claiming();
  engine.want("q", "w", 0, 0);
  engine.ack(holder, 1, 1);
  engine.cancel(second, 1);
  engine.cancel(both, 1);
  const others = [add(engine, [held], "x"), add(engine, [free], "y")];
  engine.want("q", "w", 9, 1);
  assert.deepEqual(take(engine, 1), others);
});

test("a more urgent job passes a claim", () => {
  const { engine, both, holder, free } = claiming();
  const urgent = add(engine, [free], "urgent", { priority: 0 });
  assert.deepEqual(take(engine), [urgent]);
  engine.ack(holder, 1, 1);
  assert.deepEqual(take(engine, 1), []);
  engine.ack(urgent, 1, 2);
  assert.deepEqual(take(engine, 2), [both]);
});

test("a queue without a worker claims nothing of a gate that it shares", () => {
  const { engine, both, holder, held, free } = claiming((one) => {
    one.serve("r");
    add(one, ["a"], "r", {}, "r");
    for (const id of take(one)) one.ack(id, 1, 0);
  });
  const others = [add(engine, [free], "r", {}, "r"), add(engine, [held], "r", {}, "r")];
  assert.deepEqual(take(engine), []);
  engine.want("q", "w", 0, 0);
  assert.ok(take(engine).length <= 1);
  engine.ack(holder, 1, 1);
  take(engine, 1);
  for (const id of others) {
    assert.equal(engine.queries.job(id)?.state, "running");
    engine.ack(id, 1, 2);
  }
  engine.want("q", "w", 9, 2);
  assert.deepEqual(take(engine, 2), [both]);
});

test("strands of one lane that wait at one gate share its seat, and leave it in any order", () => {
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 2, 0, 3],
    [2, 0, 3, 1],
  ]) {
    const engine = new TestEngine();
    engine.setGate("a", { rate: 0 }, 0);
    engine.serve("q");
    const ids = ["b", "c", "d", "e"].map((gate) => add(engine, ["a", gate], "lane"));
    assert.deepEqual(take(engine), []);
    assert.equal(engine.queries.gateStats("a", 0).waitingLanes, 1, "one lane, one place");
    for (const [i, place] of order.entries()) {
      engine.cancel(ids[place]!, 0);
      assert.equal(engine.queries.gateStats("a", 0).waitingLanes, i === 3 ? 0 : 1);
    }
  }
});

test("a seat serves its own strand and those with it by the age of their heads", () => {
  const engine = new TestEngine();
  engine.setGate("a", { rate: 0 }, 0);
  engine.serve("q");
  const ids = [["a"], ["a", "b"], ["a"], ["a", "c"], ["a", "b"]].map((gates) =>
    add(engine, gates, "lane"),
  );
  assert.deepEqual(take(engine), []);
  engine.setGate("a", { rate: 1, burst: 1 }, 0);
  const order: number[] = [];
  for (let now = 0; now <= 9000; now += 500) order.push(...take(engine, now));
  assert.deepEqual(order.toSorted(), ids);
  assert.equal(order[0], ids[0]);
});

test("a job alone in line leaves it, and those that share its seat stay", () => {
  const engine = new TestEngine();
  engine.setGate("a", { rate: 0 }, 0);
  engine.serve("q");
  const alone = add(engine, ["a"], "lane");
  const shared = add(engine, ["a", "b"], "lane");
  take(engine);
  engine.cancel(alone, 0);
  assert.equal(engine.queries.gateStats("a", 0).waitingLanes, 1);
  const again = add(engine, ["a"], "lane");
  engine.cancel(shared, 0);
  assert.equal(engine.queries.gateStats("a", 0).waitingLanes, 1);
  engine.deleteGate("a", 0);
  assert.deepEqual(take(engine), [again]);
});

test("a line of jobs with one gate and with several is let go when there is room for all", () => {
  const engine = new TestEngine();
  engine.setGate("a", { rate: 0 }, 0);
  engine.serve("q");
  const ids: number[] = [];
  for (let i = 0; i < 30; i++) {
    ids.push(add(engine, i % 3 === 0 ? ["a", "b"] : ["a"], `k${i % 7}`));
  }
  take(engine);
  engine.setGate("a", { concurrency: 100 }, 0);
  assert.deepEqual(
    take(engine).toSorted((x, y) => x - y),
    ids,
  );
});

test("a gate that is named twice is one gate", () => {
  const engine = new TestEngine();
  engine.setGate("a", ONE, 0);
  engine.serve("q");
  const id = add(engine, ["a", "a"], "lane");
  assert.deepEqual(engine.queries.job(id)?.gates, ["a"]);
  assert.deepEqual(take(engine), [id]);
  assert.equal(engine.queries.gateStats("a", 0).inFlight, 1);
});

test("a more urgent claim goes before an older one", () => {
  for (const isFirst of [true, false]) {
    const { engine, both, holder, held } = claiming((one) => {
      if (isFirst) one.deleteGate("a", 0);
      one.setGate("c", ONE, 0);
      one.setGate("a", ONE, 0);
      add(one, ["c"], "holder of c");
      take(one);
    });
    engine.want("q", "w", 0, 0);
    const urgent = add(engine, [held, "c"], "urgent", { priority: 0 });
    engine.ack(holder, 1, 1);
    engine.cooldown(held, 500, "busy", 1);
    engine.ack(1, 1, 2);
    engine.want("q", "w", 9, 2);
    assert.deepEqual(take(engine, 2), []);
    assert.deepEqual(take(engine, 501), [urgent]);
    engine.ack(urgent, 1, 502);
    assert.deepEqual(take(engine, 502), [both]);
  }
});

test("an add that forgets the last strand of its own set of gates makes the set again", () => {
  // An add forgets a few idle lanes; which, depends on how far the sweep has come. One meets it.
  for (let met = 0; met < 20; met++) {
    const engine = openEngine({ results: { jobs: 0, ms: 0 } });
    for (let i = 0; i < 3; i++) engine.add("q", { fairnessKey: "keeper" }, 0);
    for (let i = 0; i < 20; i++) add(engine, [`a${i}`, `b${i}`], `lane ${i}`);
    for (const { id, lease } of engine.lease("q", 21, 0)) engine.ack(id, lease, 0);
    assert.equal(engine.lease("q", 1, 0)[0]!.id, 2, "a round later no one leads any more");
    const id = add(engine, [`a${met}`, `b${met}`], "new");
    assert.equal(engine.lease("q", 1, 0)[0]!.id, id);
  }
});

test("gates that only a forgotten lane used are still there for the job that comes", () => {
  let state = 1;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  for (let world = 0; world < 20; world++) {
    const engine = openEngine({ results: { jobs: 0 } });
    for (let i = 0; i < 50; i++) engine.add("q", { fairnessKey: `busy ${i % 3}` }, 0);
    for (let now = 0; now < 200; now++) {
      if (draw(3) === 0) add(engine, ["x", `y${draw(2)}`], `lane ${draw(6)}`);
      for (const { id, lease } of engine.lease("q", draw(3), now)) engine.ack(id, lease, now);
      if (draw(5) === 0) engine.add("q", { fairnessKey: `busy ${draw(3)}` }, now);
    }
    const { added, waiting } = engine.queries.queueStats("q");
    assert.equal(engine.lease("q", 1000, 200).length, waiting, `${added} added`);
  }
});
