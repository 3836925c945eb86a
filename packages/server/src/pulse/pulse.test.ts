import assert from "node:assert/strict";
import { test } from "node:test";
import type { QueueStats } from "@sluice/protocol";
import { Pulse } from "./pulse.ts";

test("only what has changed is told, and what is gone once", async () => {
  const figures = new Map([["a", 1]]);
  const pulse = new Pulse(async () =>
    [...figures].map(([name, added]) => ({ name, stats: { name, added } as QueueStats })),
  );
  const heard: (readonly string[])[] = [];
  const leave = pulse.listen((changed) => heard.push(changed));
  await pulse.beat();
  await pulse.beat();
  figures.set("a", 2).set("b", 1);
  await pulse.beat();
  figures.delete("a");
  await pulse.beat();
  await pulse.beat();
  leave();
  assert.deepEqual(heard, [["a"], [], ["a", "b"], ["a"], []]);
});

test("a broker that cannot be asked is no reason to fall silent", async () => {
  const pulse = new Pulse(() => Promise.reject(new Error("recovering")));
  let beats = 0;
  const leave = pulse.listen(() => beats++);
  await pulse.beat();
  leave();
  assert.equal(beats, 1);
});
