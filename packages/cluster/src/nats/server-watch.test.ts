import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import { firstServerOf, ServerWatch } from "./server-watch.ts";

function stage() {
  const clock = turningClock(1);
  const left: number[] = [];
  const state = { isUp: true, since: Number.POSITIVE_INFINITY };
  const watch = new ServerWatch({
    clock,
    link: {
      get isUp() {
        return state.isUp;
      },
      leaveServer: () => left.push(clock.now()),
    },
    troubleMs: () => Math.max(0, clock.now() - state.since),
    onLeave: () => {},
  });
  return { clock, left, state, watch };
}

test("a server through which nothing goes is left within five seconds", async () => {
  const { clock, left, state, watch } = stage();
  await clock.advance(60_000);
  assert.deepEqual(left, []);
  state.since = clock.now();
  await clock.advance(5_000);
  assert.equal(left.length, 1);
  assert.ok(left[0]! - state.since <= 3_500, `${left[0]! - state.since} ms`);
  watch.stop();
});

test("while nothing helps servers are left more and more seldom", async () => {
  const { clock, left, state, watch } = stage();
  state.since = clock.now();
  await clock.advance(60_000);
  assert.ok(left.length >= 3 && left.length <= 6, `${left.length} times`);
  state.since = Number.POSITIVE_INFINITY;
  await clock.advance(10_000);
  const before = left.length;
  state.since = clock.now();
  await clock.advance(4_000);
  assert.equal(left.length, before + 1, "the next trouble is met as the first one");
  watch.stop();
});

test("a connection that is away is left alone", async () => {
  const { clock, left, state, watch } = stage();
  state.isUp = false;
  state.since = clock.now();
  await clock.advance(60_000);
  assert.deepEqual(left, []);
  state.isUp = true;
  await clock.advance(2_000);
  assert.deepEqual(left, [], "a new connection has its time");
  watch.stop();
});

test("nodes that are numbered begin with different servers", () => {
  for (const names of [
    ["a", "b", "c"],
    ["sluice-0", "sluice-1", "sluice-2"],
    ["host-7070", "host-7071", "host-7072"],
  ]) {
    assert.equal(new Set(names.map((name) => firstServerOf(name, 3))).size, 3, names.join());
  }
  assert.equal(firstServerOf("a", 1), 0);
});
