/** `why` in every situation that a job can be in, built through the public API: words and data. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock, type Queue, RetryAfter, Sluice, type Why } from "sluice";

interface Scene {
  readonly sluice: Sluice;
  readonly clock: FakeClock;
  readonly start: number;
  queue(options?: object): Promise<Queue<string>>;
  /** A worker that never ends a job; resolves when all that can run does. */
  busy(queue: Queue<string>, concurrency?: number, name?: string): Promise<void>;
}

interface Case {
  /** Builds the situation; answers the job that is asked about. */
  readonly build: (scene: Scene) => Promise<{ id: string }>;
  readonly text: string | ((scene: Scene, others: readonly string[]) => string);
  /** Part of the data. */
  readonly data: object | ((scene: Scene) => object);
}

/** Runs until the worker is closed. */
const untilAborted = (_: unknown, { signal }: { signal: AbortSignal }): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
const boom = (): never => {
  throw new Error("boom");
};

const CASES: Readonly<Record<string, Case>> = {
  "no worker is connected": {
    build: async ({ queue }) => (await queue()).add("x"),
    text: "No worker is connected to queue w.",
    data: { state: "waiting", reason: "no-worker", workers: 0, place: 0, urgent: 0 },
  },
  "the only worker is busy": {
    build: async ({ queue, busy }) => {
      const w = await queue();
      await w.add("first");
      await busy(w);
      return w.add("x");
    },
    text: "The only worker of queue w is busy with 1 job.",
    data: { reason: "no-worker", workers: 1, running: 1 },
  },
  "all workers are busy": {
    build: async ({ queue, busy }) => {
      const w = await queue();
      await w.addBulk(["a", "b", "c"].map((payload) => ({ payload })));
      await busy(w, 1, "one");
      await busy(w, 2, "two");
      return w.add("x");
    },
    text: "All 2 workers of queue w are busy with 3 jobs.",
    data: { reason: "no-worker", workers: 2, running: 3 },
  },
  paused: {
    build: async ({ queue }) => (await queue({ paused: true })).add("x"),
    text: 'Queue w is paused. Resume it with "sluice queue resume w".',
    data: { reason: "paused", queue: "w" },
  },
  "delayed by the producer": {
    build: async ({ queue }) => (await queue()).add("x", { delay: "5m" }),
    text: "It is delayed for another 5 min.",
    data: ({ start }) => ({ state: "delayed", cause: "delay", until: start + 300_000 }),
  },
  "delayed by the policy": {
    build: async ({ queue }) => (await queue({ policy: { delay: "90s" } })).add("x"),
    text: "It is delayed for another 90 s.",
    data: { state: "delayed", cause: "delay" },
  },
  "backoff after a failure": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue({ retry: { min: "8s", max: "8s", jitter: 0 } });
      const job = await w.add("x");
      w.work(boom);
      await clock.drain(sluice);
      return job;
    },
    text: "Attempt 2 of 5 starts in 8 s, after a failure. Last error: Error: boom",
    data: { state: "delayed", cause: "failed", attempt: 1, attempts: 5, error: "Error: boom" },
  },
  "backoff after an expired lease": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue({ lease: "1s", retry: { min: "10s", jitter: 0 } });
      const job = await w.add("x");
      await sluice.broker.lease("w", { max: 1 });
      await clock.advance("1s");
      return job;
    },
    text: "Attempt 2 of 5 starts in 10 s: the lease of the last one expired.",
    data: { state: "delayed", cause: "expired", attempt: 1, attempts: 5 },
  },
  "a RetryAfter for another gate": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue();
      const job = await w.add("x");
      w.work(() => {
        throw new RetryAfter("30s", { gate: "provider" });
      });
      await clock.drain(sluice);
      return job;
    },
    text: (_, [error]) => `It runs again in 30 s, as its worker asked. Last error: ${error}`,
    data: { state: "delayed", cause: "retry-after", attempt: 0 },
  },
  "due on a full queue": {
    build: async ({ queue, clock }) => {
      const w = await queue({ capacity: { jobs: 1 } });
      const job = await w.add("x", { delay: "5s" });
      await w.add("first");
      await clock.advance("5s");
      return job;
    },
    text:
      "It is due in 10 s, but queue w is full (1 job): " +
      "it is put off again until there is room.",
    data: { state: "delayed", cause: "queue-full", waiting: 1 },
  },
  rate: {
    build: async (scene) => secondAt(scene, { rate: 1, burst: 1 }),
    text: "Gate g opens in 1000 ms (rate).",
    data: ({ start }) => ({ reason: "gated", gate: "g", part: "rate", until: start + 1000 }),
  },
  window: {
    build: async (scene) => secondAt(scene, { windows: [{ limit: 1, per: "1h" }] }),
    text: "Gate g opens in 60 min (window).",
    data: ({ start }) => ({ gate: "g", part: "window", until: start + 3_600_000, lanes: 1 }),
  },
  interval: {
    build: async (scene) => secondAt(scene, { interval: { every: "10s", from: "start" } }),
    text: "Gate g opens in 10 s (interval).",
    data: { gate: "g", part: "interval" },
  },
  "concurrency, one job holds it": {
    build: async (scene) => secondAt(scene, { concurrency: 1 }),
    text: (_, [holder]) => `Gate g is full (concurrency): job ${holder} on worker "busy" runs.`,
    data: { gate: "g", part: "concurrency", until: undefined },
  },
  "concurrency, several hold it": {
    build: async (scene) => {
      await scene.sluice.gate("g").set({ concurrency: 2 });
      const w = await scene.queue();
      await w.addBulk(["a", "b"].map((payload) => ({ payload, gates: ["g"] })));
      await scene.busy(w, 10);
      return w.add("x", { gates: ["g"] });
    },
    text: (_, [holder]) =>
      `Gate g is full (concurrency): 2 jobs run, among them job ${holder} on worker "busy".`,
    data: { gate: "g", part: "concurrency" },
  },
  "an interval from the end of a job that runs": {
    build: async (scene) => secondAt(scene, { interval: { every: "10s" } }),
    text: (_, [holder]) => `Gate g is full (interval): job ${holder} on worker "busy" runs.`,
    data: { gate: "g", part: "interval", until: undefined },
  },
  "second in line at a gate": {
    build: async (scene) => {
      await secondAt(scene, { rate: 1, burst: 1 });
      const w = await scene.queue();
      return w.add("third", { gates: ["g"] });
    },
    text: (_, [first]) =>
      `Gate g opens in 1000 ms (rate). Job ${first} (tier 3) is first in line, ` +
      "so this one runs later. 1 job of its lane is before it.",
    data: { gate: "g", part: "rate", place: 1, lanes: 1 },
  },
  "in line behind another lane": {
    build: async (scene) => {
      await secondAt(scene, { rate: 1, burst: 1 });
      const w = await scene.queue();
      return w.add("third", { gates: ["g"], fairnessKey: "other" });
    },
    text: (_, [first]) =>
      `Gate g opens in 1000 ms (rate). Job ${first} (tier 3) is first in line of 2 lanes, ` +
      "so this one runs later.",
    data: { gate: "g", part: "rate", place: 0, lanes: 2 },
  },
  "a lower tier behind an urgent job at a gate": {
    build: async (scene) => {
      const job = await secondAt(scene, { rate: 1, burst: 1 });
      const w = await scene.queue();
      await w.add("urgent", { gates: ["g"], priority: 0 });
      return job;
    },
    text: (_, [first]) =>
      `Gate g opens in 1000 ms (rate). Job ${first} (tier 0) is first in line of 2 lanes, ` +
      "so this one runs later.",
    data: { gate: "g", part: "rate", urgent: 1 },
  },
  "a cooldown with its reason": {
    build: async ({ queue, sluice, busy }) => {
      await sluice.gate("g").cooldown("30s", "429 from the provider");
      const w = await queue();
      await busy(w);
      return w.add("x", { gates: ["g"] });
    },
    text: "Gate g is cooled down for another 30 s: 429 from the provider.",
    data: { gate: "g", part: "cooldown", cooldownReason: "429 from the provider" },
  },
  "a gate that is shut, and no worker": {
    build: async ({ queue, sluice }) => {
      await sluice.gate("g").cooldown("30s");
      return (await queue()).add("x", { gates: ["g"] });
    },
    text: "Gate g is cooled down for another 30 s. No worker is connected to queue w.",
    data: { gate: "g", part: "cooldown", workers: 0 },
  },
  "rate 0": {
    build: async ({ queue, sluice, busy }) => {
      await sluice.gate("g").set({ rate: 0 });
      const w = await queue();
      await busy(w);
      return w.add("x", { gates: ["g"] });
    },
    text:
      "Gate g is shut by its configuration: its rate is 0. " +
      'Raise it with "sluice gate set g rate=1".',
    data: { gate: "g", part: "rate", until: undefined, shutBy: "g" },
  },
  "two gates, one shut for good by a pattern": {
    build: async ({ queue, sluice, busy }) => {
      await sluice.gate("z:*").set({ rate: 0 });
      await sluice.gate("full").set({ concurrency: 1 });
      const w = await queue();
      await w.add("first", { gates: ["full"] });
      await busy(w, 10);
      return w.add("x", { gates: ["full", "z:1"] });
    },
    text:
      "Gate z:1 is shut by its configuration: its rate is 0. " +
      'Raise it with "sluice gate set z:* rate=1".',
    data: { gate: "z:1", part: "rate", shutBy: "z:*" },
  },
  "a place that is kept for a job with several gates": {
    build: async ({ queue, sluice, clock }) => {
      for (const gate of ["a", "b"]) await sluice.gate(gate).set({ concurrency: 1 });
      const w = await queue();
      const ends = new Map<string, () => void>();
      w.work(({ payload }) => new Promise<void>((end) => void ends.set(payload, end)), {
        concurrency: 10,
      });
      const add = (payload: string, ...gates: string[]): Promise<{ id: string }> =>
        w.add(payload, { gates, fairnessKey: payload });
      const end = async (payload: string): Promise<void> => {
        ends.get(payload)!();
        await clock.drain(sluice);
      };
      for (const gate of ["a", "b"]) await add(gate, gate);
      await clock.drain(sluice);
      await add("both", "a", "b");
      await clock.drain(sluice);
      // It takes its turn at one of the gates, holding nothing, and then at the other.
      const { waitingLanes } = await sluice.gate("a").info();
      const [first, second] = (waitingLanes === 1 ? ["a", "b"] : ["b", "a"]) as [string, string];
      await add("later", first);
      await end(first);
      const latest = await add("latest", second);
      await end(second);
      return latest;
    },
    text: (_, [kept]) =>
      `Gate a keeps its next permit for job ${kept}, which also needs gate b (concurrency).`,
    data: { gate: "a", part: "line" },
  },
  "as many run as may": {
    build: async ({ queue, busy }) => {
      const w = await queue({ capacity: { running: 1 } });
      await w.add("first");
      await busy(w, 5);
      return w.add("x");
    },
    text: "Queue w runs 1 job, its limit (capacity.running).",
    data: { reason: "capacity", running: 1 },
  },
  running: {
    build: async ({ queue, busy }) => {
      const w = await queue();
      const job = await w.add("x");
      await busy(w, 1, "worker-7");
      return job;
    },
    text: 'It runs on worker "worker-7", whose lease ends in 30 s.',
    data: ({ start }) => ({ state: "running", worker: "worker-7", until: start + 30_000 }),
  },
  "a dead letter": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue({ retry: { attempts: 1 } });
      const job = await w.add("x");
      w.work(boom);
      await clock.drain(sluice);
      return job;
    },
    text:
      "It is a dead letter: it failed 1 of 1 time in queue w. " +
      'Run it again with "sluice job retry ID" or "sluice redrive w.dlq". Last error: Error: boom',
    data: { state: "dead", queue: "w.dlq" },
  },
  "a dead letter whose queue was deleted": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue({ retry: { attempts: 1 } });
      const job = await w.add("x");
      const worker = w.work(boom);
      await clock.drain(sluice);
      await worker.close();
      await w.delete();
      await assert.rejects(job.retry(), {
        code: "QUEUE_NOT_FOUND",
        message: "the letter came from queue w, which does not exist: create it first",
      });
      return job;
    },
    text:
      "It is a dead letter: it failed 1 of 1 time in queue w. " +
      'That queue was deleted: make it with "sluice queue set w". ' +
      'Run it again with "sluice job retry ID" or "sluice redrive w.dlq". Last error: Error: boom',
    data: { state: "dead", queue: "w.dlq" },
  },
  "sixth of its lane": {
    build: async ({ queue }) => {
      const w = await queue();
      await w.addBulk(Array.from({ length: 5 }, () => ({ payload: "y" })));
      return w.add("x");
    },
    text: "No worker is connected to queue w. 5 jobs of its lane are before it.",
    data: { reason: "no-worker", place: 5 },
  },
  "an urgent one before it": {
    build: async ({ queue, busy }) => {
      const w = await queue();
      await w.add("first");
      await busy(w);
      await w.add("urgent", { priority: 0 });
      return w.add("x");
    },
    text: "The only worker of queue w is busy with 1 job. " + "1 job of a more urgent tier waits.",
    data: { reason: "no-worker", place: 0, urgent: 1 },
  },
  cancelled: {
    build: async ({ queue }) => {
      const job = await (await queue()).add("x");
      await job.cancel();
      return job;
    },
    text: "The job was cancelled.",
    data: { state: "cancelled" },
  },
  "expired, with its deadline": {
    build: async ({ queue, clock }) => {
      const job = await (await queue()).add("x", { ttl: "5s" });
      await clock.advance("6s");
      return job;
    },
    text: ({ start }) =>
      `The job expired at its deadline, ${new Date(start + 5000).toISOString()}.`,
    data: ({ start }) => ({ state: "expired", deadline: start + 5000 }),
  },
  finished: {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue();
      const job = await w.add("x");
      w.work(() => {});
      await clock.drain(sluice);
      return job;
    },
    text: "The job has finished.",
    data: { state: "finished" },
  },
  "finished at the second attempt": {
    build: async ({ queue, clock, sluice }) => {
      const w = await queue({ retry: { min: "1s" } });
      const job = await w.add("x");
      w.work(({ attempt }) => (attempt === 0 ? boom() : undefined));
      await clock.drain(sluice);
      await clock.advance("2s");
      return job;
    },
    text: "The job has finished. An earlier attempt failed: Error: boom",
    data: { state: "finished", error: "Error: boom" },
  },
  "wait too long": {
    build: async ({ queue, sluice }) => {
      const job = await (await queue()).add("x", { gates: ["g"], maxWait: "500ms" });
      await sluice.gate("g").cooldown("1s");
      return job;
    },
    text: "The job has failed: gate g opens in 1000 ms; the job may wait at most 500 ms",
    data: { state: "failed" },
  },
};

/** A job with the gate g, and one before it that has used the gate up. */
async function secondAt({ queue, sluice, busy }: Scene, gate: object): Promise<{ id: string }> {
  await sluice.gate("g").set(gate);
  const w = await queue();
  await w.add("first", { gates: ["g"] });
  await busy(w, 10);
  return w.add("x", { gates: ["g"] });
}

async function openScene(): Promise<Scene> {
  const clock = new FakeClock();
  const sluice = await Sluice.open({ durability: "memory", clock });
  return {
    sluice,
    clock,
    start: clock.now(),
    queue: (options = {}) => sluice.queue<string>("w", options),
    busy: async (queue, concurrency = 1, name = "busy") => {
      queue.work(untilAborted, { concurrency, name });
      await clock.drain(sluice);
    },
  };
}

/** The jobs and errors that the answer names beside the job itself, in order. */
function named(why: Why): string[] {
  const of = why as {
    first?: { id: string };
    holders?: { id?: string };
    keptFor?: { id: string };
    error?: string;
  };
  const names = [of.first?.id, of.holders?.id, of.keptFor?.id, of.error];
  return names.filter((name) => name !== undefined);
}

for (const [name, { build, text, data }] of Object.entries(CASES)) {
  test(`why: ${name}`, async () => {
    const scene = await openScene();
    try {
      const { id } = await build(scene);
      await scene.clock.drain(scene.sluice);
      const why = await scene.sluice.why(id);
      const words = typeof text === "string" ? text : text(scene, named(why));
      assert.equal(why.text, words);
      const expected = typeof data === "function" ? data(scene) : data;
      const seen = Object.fromEntries(
        Object.keys(expected).map((key) => [key, (why as unknown as Record<string, unknown>)[key]]),
      );
      assert.deepEqual(seen, expected);
      assert.equal(why.asOf, scene.clock.now());
    } finally {
      await scene.sluice.close({ timeout: 0 });
    }
  });
}

test("why: a job that is no longer kept, an unknown one and a nonsense id", async () => {
  const { sluice, clock, queue } = await openScene();
  await using _ = sluice;
  const w = await queue({ results: { ttl: "1m" } });
  const job = await w.add("x");
  await job.cancel();
  await clock.advance("2m");
  await assert.rejects(sluice.why(job.id), { code: "ALREADY_FINISHED" });
  await assert.rejects(sluice.why("azz"), { code: "JOB_NOT_FOUND" });
  await assert.rejects(sluice.why("nonsense!"), { code: "JOB_NOT_FOUND" });
});
