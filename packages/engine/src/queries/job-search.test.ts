import assert from "node:assert/strict";
import { test } from "node:test";
import { openEngine, TestEngine } from "../testing/test-engine.ts";
import type { JobFilter } from "./job-filter.ts";
import type { FoundView, JobSearchOptions } from "./job-search.ts";

type Asked = Partial<JobSearchOptions>;

function search(engine: TestEngine, asked: Asked = {}): { jobs: FoundView[]; pages: number } {
  const jobs: FoundView[] = [];
  let { after } = asked;
  for (let pages = 1; ; pages++) {
    const options = { order: "newest", limit: 100, ...asked, after } as const;
    const found = engine.queries.searchJobs(options);
    while (found.step());
    const page = found.found();
    jobs.push(...page.jobs);
    if (page.next === undefined) return { jobs, pages };
    after = page.next;
  }
}

function ids(engine: TestEngine, asked: Asked = {}): number[] {
  return search(engine, asked).jobs.map(({ id }) => id);
}

function count(engine: TestEngine, filter: JobFilter): number {
  const counted = engine.queries.countJobs(filter);
  while (counted.step());
  return counted.count;
}

/** Jobs of two queues: dead, waiting, delayed, finished. */
function scene(): TestEngine {
  const engine = new TestEngine({ seed: 1 });
  engine.setQueue("mail", { retry: { attempts: 1 } }, 0);
  engine.setQueue("sms", {}, 0);
  engine.addAll("mail", [{ fairnessKey: "acme", gates: ["smtp"] }], 10);
  const [dead] = engine.lease("mail", 1, 20);
  engine.nack(dead!.id, dead!.lease, 30, { error: "Timeout after 500 ms", stack: "at x" });
  engine.addAll("sms", [{ fairnessKey: "acme" }, { fairnessKey: ["a", "b"], delayMs: 1000 }], 40);
  engine.addAll("mail", [{ fairnessKey: "zeta", group: "mail/g" }], 50);
  const [done] = engine.lease("mail", 1, 60);
  engine.ack(done!.id, done!.lease, 70);
  return engine;
}

test("jobs of all queues are found in the order of time, both ways, whatever the page", () => {
  const engine = scene();
  assert.deepEqual(ids(engine), [4, 3, 2, 1]);
  assert.deepEqual(ids(engine, { order: "oldest" }), [1, 2, 3, 4]);
  for (const order of ["newest", "oldest"] as const) {
    const { jobs, pages } = search(engine, { order, limit: 1 });
    assert.equal(pages, 4);
    assert.deepEqual(
      jobs.map(({ id }) => id),
      ids(engine, { order }),
    );
  }
});

test("by the time of their last change the order is another", () => {
  const engine = scene();
  assert.deepEqual(ids(engine, { time: "changed" }), [4, 3, 2, 1]);
  assert.deepEqual(ids(engine, { time: "changed", since: 30, until: 40 }), [3, 2, 1]);
  assert.deepEqual(ids(engine, { since: 40, until: 40 }), [3, 2]);
});

test("a filter means jobs for which all of it holds", () => {
  const engine = scene();
  const cases: [JobFilter, number[]][] = [
    [{ queues: ["sms"] }, [3, 2]],
    [{ queues: ["mail*"] }, [4, 1]],
    [{ states: ["dead", "finished"] }, [4, 1]],
    [{ states: ["waiting"] }, [2]],
    [{ states: ["delayed"] }, [3]],
    [{ key: "acme" }, [2, 1]],
    [{ key: ["a", "b"] }, [3]],
    [{ key: "unknown" }, []],
    [{ origin: "mail" }, [1]],
    [{ error: "timeout AFTER" }, [1]],
    [{ error: "other" }, []],
    [{ gate: "smtp" }, [1]],
    [{ attempts: 1 }, [1]],
    [{ group: "mail/g" }, [4]],
    [{ group: "mail/none" }, []],
    [{ key: "acme", states: ["waiting"] }, [2]],
  ];
  for (const [filter, expected] of cases) {
    assert.deepEqual(ids(engine, filter), expected, JSON.stringify(filter));
    assert.equal(count(engine, filter), expected.length, JSON.stringify(filter));
  }
});

test("a job of a deleted queue is not found, and a new queue in its place is another", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{}, {}], 1);
  const walk = engine.queries.walkJobs({ queues: ["q"] });
  engine.deleteQueue("q", 2);
  assert.deepEqual(ids(engine), []);
  assert.deepEqual(walk.next(10), []);
});

test("a search of many jobs takes several steps, and finds what is planted last", () => {
  const engine = openEngine({}, { seed: 1 });
  for (let i = 0; i < 5; i++) {
    engine.addAll("q", new Array(10_000).fill({ fairnessKey: "many" }), i);
  }
  engine.addAll("q", [{ fairnessKey: "one" }], 9);
  const found = engine.queries.searchJobs({ key: "one", order: "oldest", limit: 10 });
  let steps = 1;
  while (found.step()) steps++;
  assert.equal(steps, 3);
  assert.deepEqual(
    found.found().jobs.map(({ addedAt }) => addedAt),
    [9],
  );
});

test("what no longer matches when the search is over is left out", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{}, {}], 1);
  const found = engine.queries.searchJobs({ states: ["waiting"], order: "newest", limit: 10 });
  while (found.step());
  engine.cancel(2, 2);
  assert.deepEqual(
    found.found().jobs.map(({ id }) => id),
    [1],
  );
});

test("a walk continues from a row, and knows the place of each job", () => {
  const engine = openEngine({}, { seed: 1 });
  engine.addAll("q", [{}, {}, {}], 1);
  const walk = engine.queries.walkJobs({});
  assert.deepEqual(walk.next(2), [1, 2]);
  assert.deepEqual(engine.queries.walkJobs({}, walk.row).next(9), [3]);
  assert.equal(walk.isOver, false);
  assert.ok(walk.placeOf(1) < walk.placeOf(2));
  assert.equal(walk.placeOf(9), Number.POSITIVE_INFINITY);
  assert.deepEqual([walk.matches(3), walk.matches(9)], [true, false]);
});
