import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeasedJob } from "@sluice/protocol";
import { job } from "../../testing/opened.ts";
import { openScript } from "../../testing/scripts.ts";

const RATES = { fast: 20, slow: 5 } as const;
const SECONDS = 10;

test("500 jobs under keys that a script gives go out at the rates of their gates", async () => {
  const { broker, clock } = await openScript(`
    function on_enqueue(msg)
      return { fairness_key = msg.headers.speed, throttle_keys = { "rate:" .. msg.headers.speed } }
    end`);
  for (const [speed, rate] of Object.entries(RATES)) {
    await broker.setGate(`rate:${speed}`, { rate, burst: 1 });
  }
  const jobs = Array.from({ length: 500 }, (_, i) => {
    return job("x", { headers: { speed: i % 2 === 0 ? "fast" : "slow" } });
  });
  await broker.add("q", jobs);
  const gone: Record<string, number[]> = { fast: [], slow: [] };
  const note = (list: LeasedJob[]): void => {
    for (const { headers } of list) gone[headers.speed!]!.push(clock.now());
  };
  await broker.consume("q", { worker: "w", credits: 1000 }, note);
  const from = clock.now();
  await clock.advance(SECONDS * 1000);
  for (const [speed, rate] of Object.entries(RATES)) {
    const times = gone[speed]!;
    assert.ok(times.length >= 0.99 * rate * SECONDS, `${speed}: ${times.length} went out`);
    for (const [i, at] of times.entries()) {
      const most = 1 + (rate * (at - from)) / 1000;
      assert.ok(i + 1 <= most + 1e-9, `${speed}: ${i + 1} within ${at - from} ms`);
    }
  }
});
