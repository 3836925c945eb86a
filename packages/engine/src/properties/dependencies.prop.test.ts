import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openTelling, rebuilt, type TestEngine } from "../testing/test-engine.ts";
import type { OnDependencyFailure } from "../types.ts";

/** A job of a random graph: which jobs before it it waits for, and how it ends if it runs. */
interface Plan {
  after: { at: number; on: OnDependencyFailure }[];
  outcome: "finish" | "die" | "cancel";
  queue: string;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  after: fc.uniqueArray(
    fc.record({
      at: fc.nat(40),
      on: fc.constantFrom<OnDependencyFailure>("fail", "fail", "run", "wait"),
    }),
    { maxLength: 4, selector: ({ at }) => at },
  ),
  outcome: fc.constantFrom("finish" as const, "finish", "finish", "die", "cancel"),
  queue: fc.constantFrom("q", "r"),
});

/** Only jobs before it: an edge back, or to itself, is left out. */
function graphOf(plans: readonly Plan[]): Plan[] {
  return plans.map((one, i) => ({ ...one, after: one.after.filter(({ at }) => at < i) }));
}

type End = "finished" | "failed" | "cancelled" | "dead" | "blocked";

/** How each job of a graph ends, by the rules alone. */
function expected(graph: readonly Plan[]): End[] {
  const ends: End[] = [];
  for (const { after, outcome } of graph) {
    const of = after.map(({ at, on }) => ({ end: ends[at]!, on }));
    const isFailed = (end: End): boolean => end !== "finished" && end !== "blocked";
    if (of.some(({ end, on }) => on === "fail" && isFailed(end))) ends.push("failed");
    else if (of.some(({ end, on }) => end === "blocked" || (on === "wait" && isFailed(end))))
      ends.push("blocked");
    else ends.push(outcome === "finish" ? "finished" : outcome === "die" ? "dead" : "cancelled");
  }
  return ends;
}

function addGraph(engine: TestEngine, graph: readonly Plan[], cut: number): number[] {
  const flow = engine.flows.open(0);
  const ids: number[] = [];
  const jobs = graph.map(({ after, queue }) => ({
    queue,
    spec: after.length === 0 ? {} : { dependencies: after.map(({ at, on }) => ({ id: -at, on })) },
  }));
  for (let from = 0; from < jobs.length; from += cut) {
    engine.flows.add(flow, jobs.slice(from, from + cut), ids, 0);
    assert.deepEqual(engine.takeAll(0), [], "eligible before it is sealed");
  }
  engine.flows.seal(flow, 0);
  return ids;
}

function end(engine: TestEngine, { id, lease }: { id: number; lease: number }, plan: Plan): void {
  if (plan.outcome === "finish") engine.ack(id, lease, 0, { of: id });
  else if (plan.outcome === "cancel") engine.cancel(id, 0);
  else engine.nack(id, lease, 0, { unrecoverable: true });
}

test("a job never runs before its dependencies, and every job ends as the rules say", () => {
  fc.assert(
    fc.property(
      fc.array(plan, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 5 }),
      fc.nat(30),
      (plans, cut, workers, restartAt) => {
        const graph = graphOf(plans);
        const ends = expected(graph);
        let { engine, facts } = openTelling({ results: { jobs: 1000 } });
        engine.setQueue("r", { results: { jobs: 1000 } }, 0);
        const ids = addGraph(engine, graph, cut);
        const over = new Map<number, string>();
        for (let round = 0; round < 1000; round++) {
          const leases = ["q", "r"].flatMap((queue) => engine.lease(queue, workers, 0));
          if (leases.length === 0 && engine.nextWake(0) > 0) break;
          for (const lease of leases) {
            const at = ids.indexOf(lease.id);
            for (const dependency of graph[at]!.after) {
              const how = over.get(dependency.at) ?? ends[dependency.at];
              const isReady = how === "finished" || (dependency.on === "run" && how !== "blocked");
              assert.ok(isReady, `job ${at} ran before ${dependency.at}, which is ${how}`);
              if (ends[dependency.at] === "finished") assert.ok(over.has(dependency.at));
            }
            end(engine, lease, graph[at]!);
            over.set(at, ends[at]!);
          }
          if (round !== restartAt) continue;
          // Nothing is lost or done twice when another engine takes over in the middle.
          engine = rebuilt(facts);
          for (const queue of ["q", "r"]) engine.want(queue, "once", 0, 0);
        }
        const states = ids.map((id) => engine.queries.job(id)?.state);
        assert.deepEqual(states, ends);
        for (const at of ids.keys()) {
          if (ends[at] === "finished") assert.ok(over.has(at));
        }
      },
    ),
    { numRuns: 300, interruptAfterTimeLimit: 10_000 },
  );
});
