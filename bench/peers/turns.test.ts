import assert from "node:assert/strict";
import { test } from "node:test";
import { FORGETFUL, type Measurements } from "./state.ts";
import { type Contest, type Entrant, takeTurns } from "./turns.ts";

function entrant(name: string, log: string[], change: Partial<Contest> = {}): Entrant {
  return {
    name,
    async open() {
      log.push(`open ${name}`);
      let run = 0;
      return {
        conditions: { version: `${name} 1` },
        warmUp: async () => void log.push(`warm ${name}`),
        run: async () => {
          log.push(`run ${name}`);
          return { speed: ++run };
        },
        [Symbol.asyncDispose]: async () => void log.push(`close ${name}`),
        ...change,
      };
    },
  };
}

const OPTIONS = {
  row: "row",
  runs: 2,
  measurements: FORGETFUL,
  progress: () => undefined,
  stepMsMax: 10_000,
};

function memory(): Measurements {
  const values = new Map<string, unknown>();
  return {
    get: <T>(key: string) => values.get(key) as T | undefined,
    put: (key, value) => void values.set(key, value),
  };
}

test("runs are interleaved, each round begins one further, and warm-ups come first", async () => {
  const log: string[] = [];
  const outcomes = await takeTurns([entrant("a", log), entrant("b", log)], OPTIONS);
  assert.deepEqual(log, [
    ...["open a", "open b", "warm a", "warm b", "run a", "run b", "run b", "run a"],
    ...["close a", "close b"],
  ]);
  const samples = [{ speed: 1 }, { speed: 2 }];
  assert.deepEqual(outcomes, [
    { name: "a", conditions: { version: "a 1" }, samples },
    { name: "b", conditions: { version: "b 1" }, samples },
  ]);
});

test("a system that fails is removed and reported, and the others continue", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const log: string[] = [];
  const run = async (): Promise<never> => {
    throw new Error("of 3 jobs: 1 never delivered");
  };
  const entrants = [entrant("a", log, { run }), entrant("b", log)];
  const [a, b] = await takeTurns(entrants, OPTIONS);
  assert.equal(a?.failure, "of 3 jobs: 1 never delivered");
  assert.equal(b?.samples.length, 2);
  assert.equal(log.filter((line) => line === "close a").length, 1);
});

test("reports a system that cannot be started", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const broken = { name: "a", open: () => Promise.reject(new Error("no such package")) };
  const [a] = await takeTurns([broken], OPTIONS);
  assert.equal(a?.failure, "no such package");
});

test("a system that hangs is removed after the time limit", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const run = (): Promise<never> => new Promise(() => undefined);
  const [a] = await takeTurns([entrant("a", [], { run })], { ...OPTIONS, stepMsMax: 20 });
  assert.equal(a?.failure, "not done after 0.02 s");
});

test("an interrupted run continues where it stopped and starts no finished system", async (t) => {
  t.mock.method(console, "error", () => undefined);
  const measurements = memory();
  const options = { ...OPTIONS, measurements };
  let isOver = false;
  const run = async () => {
    if (isOver) throw new Error("interrupted");
    isOver = true;
    return { speed: 100 };
  };
  const first = [entrant("a", []), entrant("b", [], { run })];
  await takeTurns(first, options);
  const log: string[] = [];
  const [a, b] = await takeTurns([entrant("a", log), entrant("b", log)], options);
  assert.deepEqual(log, ["open b", "warm b", "run b", "close b"]);
  assert.deepEqual(a?.samples, [{ speed: 1 }, { speed: 2 }]);
  assert.deepEqual(a?.conditions, { version: "a 1" });
  assert.deepEqual(b?.samples, [{ speed: 100 }, { speed: 1 }]);
});
