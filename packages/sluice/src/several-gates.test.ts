import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock, type GateOptions, Sluice } from "./index.ts";

/** A broker in memory with its own clock, closed after the test. */
async function open(run: (sluice: Sluice, clock: FakeClock) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const sluice = await Sluice.open({ durability: "memory", clock });
  try {
    await run(sluice, clock);
  } finally {
    await sluice.close({ timeout: 0 });
  }
}

const HOUR_MS = 3_600_000;
const budgets: readonly [string, GateOptions][] = [
  ["a window", { windows: [{ limit: 1, per: "1h" }] }],
  ["a rate", { rate: 1 / 3600, burst: 1 }],
  ["an interval", { interval: { every: "1h", from: "start" } }],
];

for (const [name, budget] of budgets) {
  test(`a place is used while a job with two gates waits for ${name}`, () =>
    open(async (sluice, clock) => {
      const queue = await sluice.queue<string>("q");
      await sluice.gate("disk").set({ concurrency: 1 });
      await sluice.gate("budget").set(budget);
      const startedAt = clock.now();
      const ran: { at: number; payload: string }[] = [];
      const addToDisk = () => queue.add("disk", { gates: ["disk"], fairnessKey: "c" });
      queue.work(
        async ({ payload }) => {
          ran.push({ at: clock.now() - startedAt, payload });
          if (payload === "disk") await addToDisk();
          await new Promise<void>((done) => clock.at(clock.now() + 10_000, done));
        },
        { concurrency: 10 },
      );
      for (let i = 0; i < 3; i++) await addToDisk();
      await clock.drain(sluice);
      await queue.add("both", { gates: ["disk", "budget"], fairnessKey: "b" });
      await clock.advance("1s");
      await queue.add("budget", { gates: ["budget"], fairnessKey: "a" });
      await clock.advance("60s");
      await queue.add("budget", { gates: ["budget"], fairnessKey: "a" });
      await clock.advance("3h");
      const atDisk = ran.filter(({ payload }) => payload !== "budget").map(({ at }) => at);
      const idle = atDisk.slice(1).map((at, i) => at - atDisk[i]! - 10_000);
      assert.ok(Math.max(...idle) <= 1000, `the disk idled for ${Math.max(...idle)} ms`);
      const both = ran.find(({ payload }) => payload === "both")!.at;
      assert.ok(both <= HOUR_MS + 11_000, `it goes with the next permit, not at ${both} ms`);
    }));
}

test("a tenant without budget does not hold up the mail of another", () =>
  open(async (sluice, clock) => {
    const queue = await sluice.queue<string>("q", { lease: "10h" });
    await sluice.gate("smtp").set({ concurrency: 1 });
    await sluice.gate("tenant:*").set({ windows: [{ limit: 1000, per: "1d" }] });
    await sluice.gate("tenant:acme").set({ windows: [{ limit: 5, per: "1h" }] });
    const ended: number[] = [];
    queue.work(
      async ({ payload }) => {
        const ms = 5000 + (ended.length % 3) * 500;
        await new Promise<void>((done) => clock.at(clock.now() + ms, done));
        if (payload === "beta mail") ended.push(clock.now());
      },
      { concurrency: 50 },
    );
    const mail = (tenant: string) => ({
      payload: `${tenant} mail`,
      gates: ["smtp", `tenant:${tenant}`],
      fairnessKey: tenant,
    });
    await queue.addBulk(Array.from({ length: 900 }, () => mail("beta")));
    await queue.addBulk(Array.from({ length: 50 }, () => mail("acme")));
    for (let minute = 0; minute < 90; minute++) {
      if (minute % 3 === 0) {
        await queue.add("acme sms", { gates: ["tenant:acme"], fairnessKey: "acme" });
      }
      await clock.advance("1m");
    }
    const gaps = ended.slice(1).map((at, i) => at - ended[i]!);
    // One mail of acme between two of beta, and a second of idling.
    assert.ok(Math.max(...gaps) <= 2 * 6000 + 1000, `beta waited ${Math.max(...gaps)} ms`);
    assert.ok(ended.length >= 880, `${ended.length} mails of beta`);
  }));

for (const [places, tenants] of [
  [1, 1],
  [4, 8],
  [10, 30],
] as const) {
  test(`mail gets a third of a budget beside text messages: ${tenants} tenants`, () =>
    open(async (sluice, clock) => {
      const queue = await sluice.queue<string>("q", { lease: "10h" });
      await sluice.gate("smtp").set({ concurrency: places });
      await sluice.gate("t:*").set({ windows: [{ limit: 3, per: "1h" }] });
      await sluice.gate("t:beta").set({ windows: [{ limit: 100_000, per: "1d" }] });
      const counts: Record<string, number> = { beta: 0, mail: 0, sms: 0 };
      let runs = 0;
      queue.work(
        async ({ payload }) => {
          counts[payload]! += 1;
          if (payload === "sms") return;
          const ms = 5000 + (runs++ % 7) * 300;
          await new Promise<void>((done) => clock.at(clock.now() + ms, done));
        },
        { concurrency: 500 },
      );
      const times = (count: number, payload: string, gates: string[], fairnessKey: string) =>
        queue.addBulk(Array.from({ length: count }, () => ({ payload, gates, fairnessKey })));
      await times(2000 * places, "beta", ["smtp", "t:beta"], "beta");
      for (let tenant = 0; tenant < tenants; tenant++) {
        await times(10, "mail", ["smtp", `t:${tenant}`], `x${tenant}`);
        await times(20, "sms", [`t:${tenant}`], `x${tenant}`);
      }
      await clock.advance("119m");
      const { mail = 0, sms = 0, beta = 0 } = counts;
      assert.equal(mail + sms, 6 * tenants, "every permit of two hours is used");
      assert.ok(3 * mail >= mail + sms, `${mail} mails, ${sms} text messages`);
      const alone = Math.floor((119 * 60) / 5.9) * places;
      assert.ok(beta >= 0.97 * alone - mail, `${beta} mails of beta, ${alone} alone`);
    }));
}
