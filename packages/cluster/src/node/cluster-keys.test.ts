import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import { KEYS_MS_MAX } from "../limits.ts";
import { MemoryRegistry } from "../registry/memory-registry.ts";
import { ClusterKeys } from "./cluster-keys.ts";

function book(read: Record<string, number>) {
  const clock = turningClock(2);
  const listeners = new Set<() => void>();
  const errors: SluiceError[] = [];
  const keys = new ClusterKeys({
    registry: new MemoryRegistry(),
    clock,
    node: "a",
    readBy: () => Object.entries(read).map(([id, keysRead]) => ({ id, keysRead })),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    tell: () => {},
    onError: (error) => errors.push(error),
  });
  const say = (id: string, keysRead: number): void => {
    read[id] = keysRead;
    for (const listener of [...listeners]) listener();
  };
  return { clock, keys, errors, say };
}

test("a change of keys is answered when all that live have read it", async () => {
  const { clock, keys, errors, say } = book({ a: 9, b: 0 });
  let isAnswered = false;
  const changed = keys.changed().then(() => {
    isAnswered = true;
  });
  await clock.advance(KEYS_MS_MAX - 1);
  assert.ok(!isAnswered);
  say("b", 9);
  await changed;
  assert.equal(errors.length, 0);
});

test("answers even if some nodes do not confirm, and reports those nodes", async () => {
  const { clock, keys, errors } = book({ a: 9, b: 0, c: 9, d: 0 });
  const changed = keys.changed();
  await clock.advance(KEYS_MS_MAX);
  await changed;
  assert.equal(errors.length, 1);
  assert.match(errors[0]!.message, /b, d may still accept the old keys/);
});
