import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobFields } from "@sluice/protocol";
import { call } from "@sluice/server/testing/start";
import { addAll, job } from "../testing/jobs.ts";
import { spawnServe } from "../testing/spawn-serve.ts";

const RATES = { fast: 20, slow: 5 } as const;
type Speed = keyof typeof RATES;
const JOBS = 500;
const SECONDS = 3;
const BURST = 1;

const LUA = `
  function on_enqueue(msg)
    return { fairness_key = msg.headers.speed, throttle_keys = { "lua:" .. msg.headers.speed } }
  end`;

/** How a job of each queue comes by its throttle key. */
const WAYS: Readonly<Record<string, (speed: Speed) => JobFields>> = {
  lua: (speed) => ({ headers: { speed } }),
  template: (speed) => ({ headers: { speed } }),
  producer: (speed) => ({ gates: [`producer:${speed}`], headers: { speed } }),
};

test("consumers receive at the throttled rates, whatever assigns the keys", async (t) => {
  const server = await spawnServe(t, ["--durability", "os"]);
  const { broker } = await server.connect();
  const consuming = await server.connect();
  await broker.setQueue("lua", { policy: { lua: LUA } });
  await broker.setQueue("template", { policy: { gates: ["template:{headers.speed}"] } });
  await broker.setQueue("producer", {});
  const from = performance.now();
  const seen = new Map<string, number[]>();
  for (const [queue, options] of Object.entries(WAYS)) {
    for (const [speed, rate] of Object.entries(RATES)) {
      await broker.setGate(`${queue}:${speed}`, { rate, burst: BURST });
      seen.set(`${queue}:${speed}`, []);
    }
    const speeds = Array.from({ length: JOBS }, (_, i): Speed => (i % 2 === 0 ? "fast" : "slow"));
    await addAll(
      broker,
      queue,
      speeds.map((speed) => job("x", options(speed))),
    );
  }
  const over = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  for (const queue of Object.keys(WAYS)) {
    await consuming.broker.consume(queue, { worker: "w", credits: JOBS }, (jobs) => {
      const at = performance.now();
      for (const { headers } of jobs) seen.get(`${queue}:${headers.speed}`)!.push(at);
      if (at - from > SECONDS * 1000) over.resolve();
      if (seen.get("producer:slow")!.length === JOBS / 2) all.resolve();
    });
  }
  await over.promise;
  const seconds = (performance.now() - from) / 1000;
  for (const [gate, times] of seen) {
    const rate = RATES[gate.split(":")[1] as Speed];
    const started = (times[0]! - from) / 1000;
    const most = BURST + rate * seconds;
    assert.ok(times.length <= most, `${gate}: ${times.length} in ${seconds} s`);
    const least = 0.8 * rate * (seconds - started) - 1;
    assert.ok(times.length >= least, `${gate}: only ${times.length} in ${seconds} s`);
  }

  // Taken away at run time, the limit lets all that waited for it go.
  const left = JOBS / 2 - seen.get("producer:slow")!.length;
  assert.equal((await call(server.address, "DELETE /v1/gates/producer:slow")).status, 204);
  await all.promise;
  assert.ok(left > 0, "some of them had waited");
});
