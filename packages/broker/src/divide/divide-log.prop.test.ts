import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryLog } from "@sluice/log";
import { type FakeClock, toSluiceError } from "@sluice/protocol";
import { turningClock } from "@sluice/protocol/testing";
import fc from "fast-check";
import { type LocalBroker, openBroker } from "../broker.ts";
import { job, text } from "../testing/opened.ts";
import { COUNT, HOMES } from "../testing/part-homes.ts";
import { divideLog } from "./divide-log.ts";

const QUEUES = ["q0", "q1", "q2", "q3"];

const queue = fc.constantFrom(...QUEUES);
const step = fc.oneof(
  fc.record({
    kind: fc.constant("add" as const),
    queue,
    lane: fc.constantFrom("a", "b"),
    delayMs: fc.constantFrom(0, 0, 500),
    gate: fc.constantFrom(undefined, "g1", "g2"),
    bytes: fc.constantFrom(10, 3_000),
  }),
  fc.record({ kind: fc.constant("flow" as const), queue, child: queue }),
  fc.record({
    kind: fc.constant("work" as const),
    queue,
    max: fc.integer({ min: 1, max: 3 }),
    end: fc.constantFrom("ack", "nack", "hold"),
  }),
  fc.record({ kind: fc.constant("redrive" as const), queue }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(10, 700) }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take(broker: LocalBroker, clock: FakeClock, one: Step): Promise<string[]> {
  if (one.kind === "wait") {
    await clock.advance(one.ms);
    return [];
  }
  if (one.kind === "redrive") {
    await broker.redrive(`${one.queue}.dlq`, {}).catch(toSluiceError);
    return [];
  }
  if (one.kind === "flow") {
    const child = { queue: one.child, ...job("child") };
    const parent = { queue: one.queue, ...job("parent"), after: [{ job: 0 }] };
    return (await broker.addFlow(one.queue, [child, parent])).jobs.map(({ id }) => id);
  }
  if (one.kind === "add") {
    const gates = one.gate === undefined ? {} : { gates: [one.gate] };
    const options = { fairnessKey: one.lane, delayMs: one.delayMs, ...gates };
    const [outcome] = await broker.add(one.queue, [job("x".repeat(one.bytes), options)]);
    return [outcome!.ok!.id];
  }
  const taken = await broker.lease(one.queue, { max: one.max });
  if (one.end === "ack") await broker.ack(taken.map(({ lease }) => ({ lease })));
  if (one.end === "nack") await broker.nack(taken.map(({ lease }) => ({ lease, error: "no" })));
  return [];
}

/** All that can be asked about a job, by id. */
async function known(brokers: readonly LocalBroker[], ids: readonly string[]) {
  const found = new Map<string, unknown>();
  for (const id of ids) {
    const all = await Promise.all(
      brokers.map(async (broker) => {
        const info = await broker.job(id).catch(() => undefined);
        if (info === undefined) return undefined;
        const { payload } = info;
        const links = await broker.dependencies(id).catch(({ code }) => code);
        return { ...info, payload: payload && text(payload), links };
      }),
    );
    const held = all.filter((one) => one !== undefined);
    assert.ok(held.length <= 1, `${id} is in ${held.length} partitions`);
    found.set(id, held[0]);
  }
  return found;
}

async function counts(brokers: readonly LocalBroker[]): Promise<Record<string, number[]>> {
  const sums: Record<string, number[]> = {};
  for (const broker of brokers) {
    for (const { name, stats } of (await broker.queues()).items) {
      const { waiting, delayed, running, finished, dead } = stats;
      const own = [waiting, delayed, running, finished, dead];
      sums[name] = own.map((count, i) => count + (sums[name]?.[i] ?? 0));
    }
  }
  return sums;
}

test("all partitions together hold what the log did, each job once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      const clock = turningClock(5);
      const log = new MemoryLog({ segmentBytes: 16 * 1024 });
      const options = { clock, segmentBytes: 64 * 1024 };
      const whole = await openBroker({ log, ...options });
      await whole.setGate("g1", { concurrency: 2 });
      for (const name of QUEUES) {
        await whole.setQueue(name, { lease: 600, retry: { attempts: 2, min: 1, max: 50 } });
      }
      const ids: string[] = [];
      for (const one of steps) ids.push(...(await take(whole, clock, one)));
      // Nothing that can be done is left, so that both are asked in the same state.
      const [before, sums] = [await known([whole], ids), await counts([whole])];
      await whole.close();

      const parts = Array.from({ length: COUNT }, () => new MemoryLog());
      for (const part of parts) for await (const _ of part.replay());
      const source = new MemoryLog({ after: log });
      await divideLog({ log: source, homes: HOMES, parts });
      await source.close();
      const brokers: LocalBroker[] = [];
      for (const part of parts) {
        await part.close();
        brokers.push(await openBroker({ log: new MemoryLog({ after: part }), ...options }));
      }
      assert.deepEqual(await known(brokers, ids), before);
      assert.deepEqual(await counts(brokers), sums);
      for (const broker of brokers) await broker.close();
    }),
    { numRuns: Number(process.env.DIVISIONS ?? 60) },
  );
});
