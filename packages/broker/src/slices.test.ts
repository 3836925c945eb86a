import assert from "node:assert/strict";
import { test } from "node:test";
import { ADD_STEPS_MAX, addSteps, Engine, type JobSpec } from "@sluice/engine";
import type { NewJob } from "@sluice/protocol";
import { ITEMS_PER_TURN } from "./limits.ts";
import { job, open } from "./testing/opened.ts";

const gates = (i: number): string[] => Array.from({ length: 16 }, (_, g) => `g${g}:${i}`);
const path = (i: number): string[] => ["a", "b", "c", `d${i}`];

/** The steps of each call that adds jobs to the engine, while `run` runs. */
async function stepsPerCall(run: () => Promise<unknown>): Promise<number[]> {
  const { addAll } = Engine.prototype;
  const steps: number[] = [];
  Engine.prototype.addAll = function (queue, specs: readonly JobSpec[], now, options) {
    steps.push(specs.reduce((sum, spec) => sum + addSteps(spec), 0));
    return addAll.call(this, queue, specs, now, options);
  };
  try {
    await run();
  } finally {
    Engine.prototype.addAll = addAll;
  }
  return steps;
}

const KINDS: Readonly<Record<string, (i: number) => Omit<NewJob, "payload">>> = {
  "plain jobs": () => ({}),
  "jobs with paths of four levels": (i) => ({ fairnessKey: path(i) }),
  "jobs with 16 gates, paths and dedupe keys": (i) => ({
    fairnessKey: path(i),
    gates: gates(i),
    dedupe: { key: `k${i}`, mode: "pending" },
  }),
  "members of one group": () => ({ group: "all", gates: ["a", "b", "c"] }),
};

for (const [kind, options] of Object.entries(KINDS)) {
  test(`no call to the engine adds more than it can in 5 ms: ${kind}`, async () => {
    const { broker } = await open();
    const jobs = Array.from({ length: ADD_STEPS_MAX + 1 }, (_, i) => job("x", options(i)));
    const total = jobs.reduce((sum, each) => sum + addSteps(each), 0);
    const steps = await stepsPerCall(async () => {
      const outcomes = await broker.add("q", jobs);
      assert.ok(outcomes.every(({ ok }) => ok !== undefined));
    });
    assert.ok(steps.length > 1 && Math.max(...steps) <= ADD_STEPS_MAX, String(steps));
    const sum = steps.reduce((a, b) => a + b);
    assert.equal(sum, total);
  });
}

test("gates that a policy gives to jobs count too", async () => {
  const policy = { gates: Array.from({ length: 16 }, (_, g) => `g${g}:{headers.n}`) };
  const { broker } = await open({ policy });
  const jobs = Array.from({ length: 100 }, (_, i) => job("x", { headers: { n: String(i) } }));
  const steps = await stepsPerCall(async () => {
    const first = broker.add("q", jobs, { operationId: "once" });
    const second = broker.add("q", [job("last", { gates: [] })]);
    const [outcomes, [last]] = await Promise.all([first, second]);
    assert.deepEqual(await broker.add("q", jobs, { operationId: "once" }), outcomes);
    const ids = outcomes.map(({ ok }) => Number.parseInt(ok!.id, 36));
    const lastId = Number.parseInt(last!.ok!.id, 36);
    assert.ok(
      ids.every((id) => id < lastId),
      "a later add stays behind",
    );
  });
  assert.ok(steps.length > 3 && Math.max(...steps) <= ADD_STEPS_MAX, String(steps));
});

test("a group whose members are added in several turns ends once, after the last", async () => {
  const { broker } = await open();
  const ends: string[] = [];
  const consumer = await broker.consume("q", { worker: "w", credits: 100_000 }, (taken) => {
    void broker.ack(taken.map(({ lease }) => ({ lease })));
  });
  const jobs = Array.from({ length: 2500 }, () => job("x", { group: "g" }));
  const ended = (async () => {
    await new Promise(setImmediate);
    const { members } = await broker.groupEnded("q/g");
    ends.push(`${members.length} members`);
  })();
  await broker.add("q", jobs);
  await ended;
  assert.deepEqual(ends, ["2500 members"]);
  await consumer.stop();
});

const CALLS = ["ack", "nack", "giveBack", "extend", "cancel"] as const;

for (const name of CALLS) {
  test(`a large batch lets other calls in between: ${name}`, async () => {
    const { broker } = await open();
    const count = 2 * ITEMS_PER_TURN + 1;
    await broker.add(
      "q",
      Array.from({ length: count }, () => job("x")),
    );
    const taken = await broker.lease("q", { max: count });
    assert.equal(taken.length, count);
    const original = Engine.prototype[name] as (...args: unknown[]) => unknown;
    const perTurn = [0];
    const prototype = Engine.prototype as unknown as Record<string, unknown>;
    prototype[name] = function (this: Engine, ...args: unknown[]): unknown {
      perTurn[perTurn.length - 1]!++;
      return original.apply(this, args);
    };
    let isOver = false;
    const count1 = (): void => {
      perTurn.push(0);
      if (!isOver) setImmediate(count1);
    };
    setImmediate(count1);
    const items = taken.map(({ id, lease }) => {
      if (name === "cancel") return id;
      if (name === "giveBack") return lease;
      return name === "extend" ? { lease, leaseMs: 1000 } : { lease };
    });
    const call = broker[name] as (items: unknown) => Promise<{ ok?: unknown }[]>;
    try {
      const outcomes = await call.call(broker, items);
      assert.ok(outcomes.every(({ ok }) => ok !== undefined));
    } finally {
      prototype[name] = original;
      isOver = true;
    }
    assert.equal(
      perTurn.reduce((a, b) => a + b),
      count,
    );
    assert.ok(Math.max(...perTurn) <= ITEMS_PER_TURN, String(perTurn));
  });
}
