import assert from "node:assert/strict";
import { test } from "node:test";
import { LOG_CHARS_MAX, LOG_LINES_MAX } from "../limits.ts";
import { openTelling, rebuilt } from "../testing/test-engine.ts";

test("a job's lines are kept with it, in order, also after a replay and its end", () => {
  const { engine, facts } = openTelling();
  const { id } = engine.add("q", {}, 1);
  const [job] = engine.lease("q", 1, 2);
  engine.logs.write(id, job!.lease, ["a", "b"], 3);
  engine.logs.write(id, job!.lease, ["c"], 4);
  engine.ack(id, job!.lease, 5);
  const lines = [
    { at: 3, text: "a" },
    { at: 3, text: "b" },
    { at: 4, text: "c" },
  ];
  assert.deepEqual(engine.logs.read(id), lines);
  assert.deepEqual(rebuilt(facts).logs.read(id), lines);
  assert.deepEqual(rebuilt(engine.snapshot()).logs.read(id), lines);
  assert.throws(() => engine.logs.write(id, job!.lease, ["late"], 6), { code: "ALREADY_FINISHED" });
});

test("the oldest lines go when there are too many, or they are too long", () => {
  const { engine } = openTelling();
  const { id } = engine.add("q", {}, 1);
  const [job] = engine.lease("q", 1, 1);
  const many = Array.from({ length: LOG_LINES_MAX }, (_, i) => `${i}`);
  engine.logs.write(id, job!.lease, many, 2);
  assert.equal(engine.logs.read(id).length, LOG_LINES_MAX);
  engine.logs.write(id, job!.lease, ["one more"], 3);
  assert.equal(engine.logs.read(id).length, LOG_LINES_MAX);
  assert.equal(engine.logs.read(id)[0]!.text, "1");
  engine.logs.write(id, job!.lease, ["x".repeat(LOG_CHARS_MAX)], 4);
  assert.equal(engine.logs.read(id).length, 1);
});

test("a job without lines has none", () => {
  const { engine } = openTelling();
  const { id } = engine.add("q", {}, 1);
  assert.deepEqual(engine.logs.read(id), []);
});
