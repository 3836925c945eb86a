import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, TestEngine } from "../testing/test-engine.ts";

test("gates are listed by key, patterns among them, and each once", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const key of ["b", "a", "p:*"]) engine.setGate(key, { rate: 1 }, 0);
  engine.setQueue("q", {}, 0);
  engine.addAll("q", [{ gates: ["a"] }, { gates: ["p:1"] }], 0);
  const { keys, total, next } = engine.queries.listGates({ limit: 10 }, 0);
  assert.deepEqual([keys, total, next], [["a", "b", "p:*", "p:1"], 4, undefined]);
});

test("those that have limits of their own can be listed alone", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const key of ["b", "p:*"]) engine.setGate(key, { rate: 1 }, 0);
  engine.setQueue("q", {}, 0);
  engine.addAll("q", [{ gates: ["a"] }, { gates: ["p:1"] }], 0);
  engine.cooldown("c", 1_000, "", 0);
  const { keys, total } = engine.queries.listGates({ isConfigured: true, limit: 10 }, 0);
  assert.deepEqual([keys, total], [["b", "p:*"], 2]);
});

test("every gate is on one page, whatever the order and the length of a page", () => {
  const engine = openEngine({ capacity: { jobs: 1_000 } }, { seed: 1 });
  engine.setGate("g:*", { rate: 0 }, 0);
  for (let i = 0; i < 40; i++) {
    const jobs = Array.from({ length: i % 4 }, (_, lane) => ({
      fairnessKey: `${lane}`,
      gates: [`g:${i}`],
    }));
    if (jobs.length > 0) engine.addAll("q", jobs, 0);
    else engine.cooldown(`g:${i}`, 1_000, "", 0);
  }
  for (const sort of ["key", "waiting"] as const) {
    const seen: string[] = [];
    let after: ReturnType<TestEngine["queries"]["listGates"]>["next"];
    do {
      const page = engine.queries.listGates({ sort, limit: 7, after }, 0);
      seen.push(...page.keys);
      after = page.next;
      assert.equal(page.total, 41);
    } while (after !== undefined);
    assert.equal(seen.length, 41, sort);
    const all = ["g:*", ...Array.from({ length: 40 }, (_, i) => `g:${i}`)];
    assert.deepEqual(seen.toSorted(), all.sort(), sort);
    if (sort === "key") continue;
    const lines = seen.map((key) =>
      key === "g:*" ? 0 : engine.queries.gateStats(key, 0).waitingLanes,
    );
    assert.ok(
      lines.slice(0, 10).every((lanes) => lanes === 3),
      `${lines}`,
    );
  }
});

test("lists only the gates in whose line the given queue waits", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const name of ["q", "r"]) engine.setQueue(name, {}, 0);
  for (const key of ["x", "y"]) engine.setGate(key, { rate: 0 }, 0);
  engine.addAll("q", [{ gates: ["x"] }], 0);
  engine.addAll("r", [{ gates: ["y"] }], 0);
  assert.deepEqual(engine.queries.listGates({ queue: "q", limit: 5 }, 0).keys, ["x"]);
  assert.deepEqual(engine.queries.listGates({ queue: "r", limit: 5 }, 0).keys, ["y"]);
});

test("a search finds the keys that have the letters in them, large or small", () => {
  const engine = new TestEngine({ seed: 1 });
  for (const key of ["Mail:a", "mail:b", "sms"]) engine.setGate(key, { rate: 1 }, 0);
  const { keys, total } = engine.queries.listGates({ search: "MAIL", limit: 5 }, 0);
  assert.deepEqual([keys, total], [["Mail:a", "mail:b"], 2]);
});

test("a gate that a queue's jobs name and pass is not one in whose line the queue waits", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.setGate("open", { rate: 100 }, 0);
  engine.want("q", "w", 1, 0);
  engine.add("q", { gates: ["open"] }, 0);
  assert.equal(engine.dispatch(0).length, 1);
  assert.deepEqual(engine.queries.listGates({ queue: "q", limit: 5 }, 0).keys, []);
  assert.deepEqual(engine.queries.listGates({ limit: 5 }, 0).keys, ["open"]);
});
