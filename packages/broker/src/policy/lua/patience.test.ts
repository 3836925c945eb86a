import assert from "node:assert/strict";
import { test } from "node:test";
import { turningClock } from "@sluice/protocol/testing";
import { Patience } from "./patience.ts";

interface Wait {
  name: string;
  isOver: boolean;
}

function patient() {
  const clock = turningClock(5);
  const late: string[] = [];
  const patience = new Patience<Wait>(clock, 250, (wait) => {
    wait.isOver = true;
    late.push(wait.name);
  });
  const add = (name: string): Wait => {
    const wait = { name, isOver: false };
    patience.add(wait);
    return wait;
  };
  return { clock, late, patience, add };
}

test("each is late when its own time is over, in the order of their beginning", async () => {
  const { clock, late, add } = patient();
  add("a");
  await clock.advance(100);
  add("b");
  await clock.advance(149);
  assert.deepEqual(late, []);
  await clock.advance(1);
  assert.deepEqual(late, ["a"]);
  await clock.advance(99);
  assert.deepEqual(late, ["a"]);
  await clock.advance(1);
  assert.deepEqual(late, ["a", "b"]);
});

test("a wait that ends in time is not late, and one timer serves all waits", async () => {
  const { clock, late, add } = patient();
  const waits = Array.from({ length: 100 }, (_, i) => add(String(i)));
  assert.equal(clock.timers, 1);
  for (const wait of waits.slice(0, 99)) wait.isOver = true;
  await clock.advance(250);
  assert.deepEqual(late, ["99"]);
  assert.equal(clock.timers, 0);
});

test("after a stop none is late", async () => {
  const { clock, late, patience, add } = patient();
  add("a");
  patience.stop();
  await clock.advance(1000);
  assert.deepEqual([late, clock.timers], [[], 0]);
});
