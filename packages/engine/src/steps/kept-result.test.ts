import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal } from "../errors.ts";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";

interface Pair {
  readonly engine: TestEngine;
  readonly gone: unknown[];
  readonly child: number;
  readonly parent: number;
}

/** A finished job with a result of its own body, and one that waits for it. */
function finished(results = 0): Pair {
  const gone = { bodies: [] as unknown[], sizes: [] as number[] };
  const engine = openEngine({ results: { jobs: results } }, { gone });
  const child = engine.add("q", { body: "child" }, 0).id;
  const parent = engine.add("q", { body: "parent", dependencies: [{ id: child }] }, 0).id;
  const { id, lease } = engine.lease("q", 1, 0)[0]!;
  engine.ack(id, lease, 0, "result", { sizeBytes: 6, body: "kept" });
  engine.tick(0);
  return { engine, gone: gone.bodies, child, parent };
}

const end = (engine: TestEngine): void => {
  const { id, lease } = engine.lease("q", 1, 0)[0]!;
  engine.ack(id, lease, 0);
  for (let i = 0; i < 3; i++) engine.tick(0);
};

test("a result is kept as a body for the jobs that wait, and is no step of the job", () => {
  const { engine, gone, child, parent } = finished();
  const [dependency] = engine.queries.dependencies(parent, 10, 0).items;
  assert.equal(dependency!.result, "kept");
  const view = engine.queries.job(child)!;
  assert.deepEqual([view.result, view.steps], ["kept", undefined]);
  assert.deepEqual(engine.queries.stepsOf(child).steps, []);
  assert.equal(engine.queries.queueStats("q").steps, 0);
  assert.deepEqual(gone, []);
});

test("the body is gone once when the last dependent has ended", () => {
  const { engine, gone, child } = finished();
  end(engine);
  assert.equal(engine.queries.job(child), undefined);
  assert.deepEqual(gone.toSorted(), ["child", "kept", "parent"]);
});

test("a job that is run again has no result any more", () => {
  const { engine, gone, child } = finished(10);
  engine.retry(child, 0);
  assert.equal(engine.queries.job(child)!.result, undefined);
  assert.deepEqual(gone, ["kept"]);
});

test("the result of a job that no other waits for stays as it is", () => {
  const engine = openEngine({ results: { jobs: 10 } });
  const { id } = engine.add("q", {}, 0);
  const { lease } = engine.lease("q", 1, 0)[0]!;
  engine.ack(id, lease, 0, "result", { sizeBytes: 6, body: "kept" });
  assert.equal(engine.queries.job(id)!.result, "result");
});

test("no step can have the name of the result", () => {
  const engine = openEngine();
  const { id } = engine.add("q", {}, 0);
  const { lease } = engine.lease("q", 1, 0)[0]!;
  const step = { name: "\0", occurrence: 0, kind: "run" as const, sizeBytes: 1, body: 1 };
  assert.throws(
    () => engine.steps.record(id, lease, step, 0),
    (error) => error instanceof Refusal && error.code === "INVALID",
  );
});
