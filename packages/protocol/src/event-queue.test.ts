import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrokerEvent } from "./event.ts";
import { EventQueue } from "./event-queue.ts";
import { EVENTS_WAITING_MAX } from "./limits.ts";

const OVER = { done: true, value: undefined };

function event(at: number): BrokerEvent {
  return { at, event: "queue", queue: "q" };
}

function opened(): { events: EventQueue; left: () => number } {
  let count = 0;
  return { events: new EventQueue(() => count++), left: () => count };
}

test("events are read in order, also by reads that began before them", async () => {
  const { events } = opened();
  const asked = [events.next(), events.next()];
  for (const at of [1, 2, 3]) events.push(event(at));
  const read = [...(await Promise.all(asked)), await events.next()];
  assert.deepEqual(
    read.map(({ value }) => value?.at),
    [1, 2, 3],
  );
});

test("a reader that falls too far behind is cut off, at the limit and not before", async () => {
  const { events, left } = opened();
  for (let at = 0; at < EVENTS_WAITING_MAX; at++) events.push(event(at));
  assert.equal(left(), 0);
  events.push(event(EVENTS_WAITING_MAX));
  assert.equal(left(), 1);
  await assert.rejects(events.next(), { code: "RATE_LIMITED" });
  assert.deepEqual(await events.next(), OVER);
});

test("events that wait at the end can still be read", async () => {
  const { events, left } = opened();
  events.push(event(1));
  events.end();
  events.push(event(2));
  assert.equal((await events.next()).value?.at, 1);
  assert.deepEqual(await events.next(), OVER);
  assert.equal(left(), 0);
});

test("a reader that leaves reads nothing more", async () => {
  const { events, left } = opened();
  events.push(event(1));
  assert.deepEqual(await events.return(), OVER);
  assert.deepEqual(await events.next(), OVER);
  await events.return();
  assert.equal(left(), 1);
});
