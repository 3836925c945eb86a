import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, type TestEngine } from "../testing/test-engine.ts";

function survey(engine: TestEngine, jobs = 10, jobsOfAll = 100) {
  const walk = engine.queries.surveyWorkers("q", { jobs, jobsOfAll });
  let steps = 1;
  while (walk.step()) steps++;
  return { workers: walk.workers(), steps };
}

function leaseTo(engine: TestEngine, worker: string, now: number): number[] {
  engine.want("q", worker, 1, now);
  const leases = engine.dispatch(now, 1);
  engine.want("q", worker, 0, now);
  return leases.map(({ id }) => id);
}

/** Two workers hold jobs, dispatched in turns a second apart. */
function twoAtWork(): { engine: TestEngine; ids: number[] } {
  const engine = openEngine({}, { seed: 1 });
  engine.setQueue("other", {}, 0);
  engine.addAll("other", [{}], 0);
  engine.lease("other", 1, 0);
  engine.addAll("q", [{}, {}, {}, {}, {}], 0);
  const ids = [1, 2, 3, 4].flatMap((second) =>
    leaseTo(engine, second % 2 === 1 ? "ann" : "bob", second * 1000),
  );
  return { engine, ids };
}

test("each worker has the jobs that it holds, since their dispatch, the longest first", () => {
  const { engine, ids } = twoAtWork();
  const { workers } = survey(engine);
  assert.deepEqual(
    workers.map(({ name, running, jobs }) => [name, running, jobs.map(({ id }) => id)]),
    [
      ["ann", 2, [ids[0], ids[2]]],
      ["bob", 2, [ids[1], ids[3]]],
    ],
  );
  assert.deepEqual(
    workers.flatMap(({ jobs }) => jobs.map(({ since }) => since)),
    [1000, 3000, 2000, 4000],
  );
  const [first] = workers[0]!.jobs;
  assert.equal(first!.expiresAt, engine.queries.job(first!.id)!.at);
});

test("of more jobs than are asked for those are listed that are held longest", () => {
  const { engine, ids } = twoAtWork();
  const listed = (jobs: number, jobsOfAll: number) =>
    survey(engine, jobs, jobsOfAll).workers.map((worker) => worker.jobs.map(({ id }) => id));
  assert.deepEqual(listed(1, 100), [[ids[0]], [ids[1]]]);
  assert.equal(listed(10, 3).flat().length, 3);
});

test("nothing is walked over while nothing runs, and many jobs in steps", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.setQueue("full", { capacity: { jobs: 100_000 } }, 0);
  for (let i = 0; i < 6; i++) engine.addAll("full", new Array(10_000).fill({}), i);
  engine.addAll("q", [{}], 7);
  assert.equal(survey(engine).steps, 1);
  const ids = leaseTo(engine, "ann", 8);
  const { workers, steps } = survey(engine);
  assert.deepEqual(
    workers.flatMap(({ jobs }) => jobs.map(({ id }) => id)),
    ids,
  );
  assert.equal(steps, 2);
});
