import assert from "node:assert/strict";
import { test } from "node:test";
import { Core } from "../core.ts";
import { apply } from "../facts/replay.ts";
import { queueConfig } from "../testing/test-engine.ts";
import { add } from "../verbs/add.ts";
import { dispatch, want } from "../verbs/dispatch.ts";
import { cancel } from "../verbs/end.ts";
import type { QueueState } from "./queue-state.ts";

function open(): { core: Core; queue: QueueState } {
  const core = new Core({ letterQueue: (name) => queueConfig(name, {}) });
  return { core, queue: core.makeQueue("q", queueConfig("q", {})) };
}

const known = (core: Core): (string | undefined)[] =>
  core.workers.filter((worker) => worker !== undefined).map(({ name }) => name);

test("a worker that wants nothing and holds nothing is forgotten", () => {
  const { core, queue } = open();
  for (let i = 0; i < 100; i++) {
    want(core, queue, `w${i}`, 5);
    want(core, queue, `w${i}`, 0);
    want(core, queue, `never ${i}`, 0);
  }
  assert.equal(queue.workers.size, 0);
  assert.ok(core.workers.length <= 2, "its place is used again");
});

test("a worker whose last lease ends is forgotten, unless it wants more", () => {
  const { core, queue } = open();
  for (let i = 0; i < 3; i++) add(core, queue, {}, 0);
  want(core, queue, "busy", 1);
  want(core, queue, "eager", 5);
  const [first, second] = dispatch(core, 0, 3);
  assert.deepEqual([first?.worker, second?.worker], ["busy", "eager"]);
  assert.deepEqual(known(core), ["busy", "eager"]);
  for (const { id } of [first!, second!]) cancel(core, core.ids.find(id), 0);
  assert.deepEqual(known(core), ["eager"]);
});

test("a worker that takes no more is known by its leases, and comes back as the same", () => {
  const { core, queue } = open();
  add(core, queue, {}, 0);
  want(core, queue, "w", 1);
  dispatch(core, 0, 1);
  want(core, queue, "w", 0);
  assert.equal(queue.workers.get("w")?.leased, 1);
  want(core, queue, "w", 2);
  assert.deepEqual(known(core), ["w"]);
  cancel(core, core.ids.find(1), 0);
  assert.equal(queue.workers.get("w")?.slots, 2);
  want(core, queue, "w", 0);
  assert.deepEqual(known(core), []);
});

test("a worker that is known from a replay is forgotten with its last lease", () => {
  const { core } = open();
  add(core, core.queue("q"), {}, 0);
  apply(core, { at: 1, fact: "leased", id: 1, lease: 1, until: 50, worker: "w" });
  assert.deepEqual(known(core), ["w"]);
  apply(core, { at: 2, fact: "ended", id: 1, ending: "finished", blame: [] });
  assert.deepEqual(known(core), []);
  assert.equal(core.queue("q").workers.size, 0);
});

test("a worker in the process and one outside of it may have the same name", () => {
  const { core, queue } = open();
  for (let i = 0; i < 2; i++) add(core, queue, {}, 0);
  want(core, queue, "w", 1);
  want(core, queue, "w", 1, { inProcess: true });
  dispatch(core, 0, 2);
  assert.deepEqual(known(core), ["w", "w"]);
  assert.deepEqual([queue.workers.size, queue.workersInProcess.size], [1, 1]);
});
