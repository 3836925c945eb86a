import assert from "node:assert/strict";
import { test } from "node:test";
import { openTelling, rebuilt } from "../testing/test-engine.ts";
import type { Fact, JobRecord } from "./facts.ts";

// What a log tells that begins in the middle, or that an older release has written.

test("emits the level of the facts, and repeats it in every checkpoint", () => {
  const { engine, facts } = openTelling();
  assert.equal(engine.queries.level, 1);
  engine.setLevel(3, "2.1.0", 5);
  const level = { at: 5, fact: "level", level: 3, needs: "2.1.0" };
  assert.deepEqual(facts.at(-1), level);
  const opening = [...engine.checkpoint()].flat();
  assert.deepEqual(
    opening.filter(({ fact }) => fact === "level"),
    [level],
  );
  for (const told of [facts, opening]) assert.equal(rebuilt([...told]).queries.level, 3);
});

/** A dead letter that died at 40, as its record was written before letters had a time. */
function oldLetter(): { opening: Fact[]; job: JobRecord } {
  const { engine } = openTelling({ retry: { attempts: 1 } });
  engine.add("q", {}, 10);
  const [lease] = engine.lease("q", 1, 20);
  engine.nack(lease!.id, lease!.lease, 40, { error: "boom" });
  const { extra, ...job } = engine.queries.record(lease!.id)!;
  const { diedAt, ...old } = extra!;
  assert.equal(diedAt, 40);
  return { opening: [...engine.checkpoint()].flat(), job: { ...job, extra: old } };
}

test("a letter without the time of its death has it from its history, or was dead at once", () => {
  const { opening, job } = oldLetter();
  const { history: _, ...bare } = job.extra!;
  for (const [extra, diedAt] of [
    [job.extra!, 40],
    [bare, 10],
  ] as const) {
    const engine = rebuilt([...opening, { at: 50, fact: "moved", job: { ...job, extra } }]);
    engine.setQueue("q.dlq", { retentionMs: 100 }, 50);
    engine.tick(50);
    assert.equal(engine.queries.job(job.id)?.deadline, diedAt + 100);
  }
});

test("the position of a level is not given to a lane of the same name", () => {
  const { engine } = openTelling();
  for (const fairnessKey of ["a", "b"]) {
    for (let i = 0; i < 4; i++) engine.add("q", { fairnessKey }, 0);
  }
  const snapshot = [...engine.snapshot()];
  const position = { at: 0, fact: "position" as const, queue: "q", tier: 3, path: ["a"] };
  const order = (facts: Iterable<Fact>): number[] =>
    rebuilt(facts)
      .lease("q", 8, 0)
      .map(({ id }) => id);
  const of = (isLevel: boolean) => ({ ...position, isLevel, rounds: 3, rem: 0 });
  const tier = engine.queries.job(1)!.tier;
  assert.deepEqual(order([...snapshot, { ...of(true), tier }]), order(snapshot));
  assert.notDeepEqual(order([...snapshot, { ...of(false), tier }]), order(snapshot));
});

test("a job whose death comes before its record counts as ended for its group", () => {
  const { engine, facts } = openTelling({ retry: { attempts: 1 } });
  const { id } = engine.add("q", { group: "g" }, 0);
  const opening = [...engine.checkpoint()].flat();
  const begin = facts.length;
  const [lease] = engine.lease("q", 1, 0);
  engine.nack(id, lease!.lease, 1);
  const again = rebuilt([...opening, ...facts.slice(begin)]);
  assert.deepEqual(again.queries.group("g"), engine.queries.group("g"));
});

test("a job whose death comes before its record reaches the jobs that wait for it", () => {
  const { engine, facts } = openTelling({ retry: { attempts: 1 } });
  const first = engine.add("q", {}, 0).id;
  const last = engine.add("q", { dependencies: [{ id: first, on: "run" }] }, 0).id;
  const opening = [...engine.snapshot()].filter(
    (fact) => fact.fact !== "moved" || fact.job.id === last,
  );
  const begin = facts.length;
  const [lease] = engine.lease("q", 1, 0);
  engine.nack(first, lease!.lease, 1);
  const dead = facts.slice(begin).filter(({ fact }) => fact === "dead");
  const again = rebuilt([...opening, ...dead]);
  assert.equal(again.queries.dependencies(last, 1, 0).items[0]?.state, "dead");
  again.tick(1);
  assert.equal(again.lease("q", 1, 1)[0]?.id, last);
});
