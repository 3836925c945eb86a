import assert from "node:assert/strict";
import { test } from "node:test";
import { addAll, job } from "../testing/jobs.ts";
import { spawnServe } from "../testing/spawn-serve.ts";

const JOBS = 10_000;
const WEIGHTS = [1, 2, 3, 4, 5, 6];

test("10,000 jobs of six tenants are delivered by weight, at every point", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  const consuming = (await server.connect()).broker;
  await broker.setQueue("q", { lease: 600_000 });
  // One tenant after the other, as many jobs for each weight as empties all lanes together.
  const sum = WEIGHTS.reduce((total, weight) => total + weight, 0);
  for (const weight of WEIGHTS) {
    const count = Math.floor((JOBS * weight) / sum);
    const options = { fairnessKey: String(weight), weight };
    await addAll(
      broker,
      "q",
      Array.from({ length: count }, () => job("x", options)),
    );
  }
  const { waiting } = (await broker.queue("q")).stats;
  const all = Promise.withResolvers<void>();
  const seen: number[] = [];
  await consuming.consume("q", { worker: "w", credits: waiting }, (jobs) => {
    for (const { fairnessKey } of jobs) seen.push(Number(fairnessKey));
    if (seen.length === waiting) all.resolve();
  });
  await all.promise;
  const turns = new Map(WEIGHTS.map((weight) => [weight, 0]));
  // Until the first lane is empty all of them have something to send.
  for (const [i, weight] of seen.slice(0, -sum).entries()) {
    turns.set(weight, turns.get(weight)! + 1 / weight);
    const apart = Math.max(...turns.values()) - Math.min(...turns.values());
    assert.ok(apart <= 1 + 1e-6, `${apart} turns apart after ${i + 1} jobs`);
  }
});
