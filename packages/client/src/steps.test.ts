import assert from "node:assert/strict";
import { test } from "node:test";
import { JobFailed, RetryAfter, type SluiceError, type Steps } from "sluice";
import { openMail } from "./testing/open-mail.ts";

test("a step that is done is not run again by a retry of the job", async (t) => {
  const { sluice, clock, mail } = await openMail<number, string>(t, {
    retry: { attempts: 3, min: "1s", jitter: 0 },
  });
  const ran: string[] = [];
  mail.work(async ({ attempt }, { step }) => {
    const paid = await step.run("charge", () => {
      ran.push("charge");
      return { paid: 7, at: new Date(0) };
    });
    // As the next run gets it: what JSON makes of it.
    assert.equal(paid.at as unknown, "1970-01-01T00:00:00.000Z");
    if (attempt === 0) throw new Error("the first attempt");
    ran.push("ship");
    return `paid ${paid.paid}`;
  });
  const job = await mail.add(1);
  await clock.advance("1s");
  assert.equal(await job.finished(), "paid 7");
  assert.deepEqual(ran, ["charge", "ship"]);
  await sluice.drain();
});

test("a sleep ends the run: no worker waits, and what follows happens in time", async (t) => {
  const { sluice, clock, mail } = await openMail<string, string>(t);
  const seen: string[] = [];
  const worker = mail.work(async ({ payload, deliveries }, { step, signal }) => {
    seen.push(`${payload} begins ${deliveries}`);
    if (payload === "b") return payload;
    signal.addEventListener("abort", () => seen.push((signal.reason as SluiceError).code));
    try {
      await step.sleep("3d");
    } catch {
      seen.push("caught");
    } finally {
      if (!signal.aborted) seen.push("finally");
    }
    seen.push("slept");
    return payload;
  });
  const job = await mail.add("a");
  await sluice.drain();
  assert.equal(worker.running, 0);
  await mail.add("b");
  await sluice.drain();
  assert.deepEqual(seen, ["a begins 1", "SUSPENDED", "b begins 1"]);
  assert.equal((await job.info()).state, "delayed");
  assert.match((await job.why()).text, /sleeps for another 3 d/);
  await clock.advance("3d");
  assert.equal(await job.finished(), "a");
  assert.deepEqual(seen.slice(3), ["a begins 1", "finally", "slept"]);
});

test("waitFor gets the value of a signal, sent later or before, or undefined", async (t) => {
  const { sluice, clock, mail } = await openMail<number, unknown[]>(t);
  mail.work(async (_, { step }) => [
    await step.waitFor("approved"),
    await step.waitFor("approved", { timeout: "1h" }),
    (await step.waitFor("never", { timeout: "1m" })) ?? "late",
  ]);
  const job = await mail.add(1);
  await sluice.drain();
  assert.match((await job.why()).text, /waits for the signal "approved", without a time limit/);
  await sluice.signal(job.id, "approved", { by: "ann" });
  await job.signal("approved", 2);
  await clock.advance("1m");
  assert.deepEqual(await job.finished(), [{ by: "ann" }, 2, "late"]);
});

test("a step with gates waits without a worker, and gives them back with its result", async (t) => {
  const { sluice, mail } = await openMail<string, string>(t);
  await sluice.gate("model").set({ concurrency: 1 });
  const open = new Map<string, () => void>();
  const worker = mail.work(
    async ({ payload }, { step }) => {
      await step.run("ask", () => new Promise<void>((resolve) => open.set(payload, resolve)), {
        gates: ["model"],
      });
      return payload;
    },
    { concurrency: 5 },
  );
  const jobs = await Promise.all(["a", "b", "c"].map((payload) => mail.add(payload)));
  await sluice.drain();
  assert.equal(worker.running, 1);
  assert.deepEqual([...open.keys()], ["a"]);
  for (const name of ["a", "b", "c"]) {
    open.get(name)!();
    await sluice.drain();
  }
  assert.deepEqual(await Promise.all(jobs.map((job) => job.finished())), ["a", "b", "c"]);
  assert.equal((await sluice.gate("model").info()).inFlight, 0);
});

test("a step has attempts of its own; when they are used up the job's attempt fails", async (t) => {
  const { sluice, clock, mail } = await openMail<number, string>(t, {
    retry: { attempts: 2, min: "1m", jitter: 0 },
  });
  let calls = 0;
  mail.work(async (_, { step }) => {
    const retry = { attempts: 3, min: "1s", factor: 1, jitter: 0 } as const;
    return step.run(
      "flaky",
      () => {
        if (++calls < 5) throw new Error(`no ${calls}`);
        return "done";
      },
      { retry },
    );
  });
  const job = await mail.add(1);
  await sluice.drain();
  assert.match(
    (await job.why()).text,
    /Step "flaky" runs again in 1000 ms. Last error: Error: no 1/,
  );
  await clock.advance("2s");
  assert.equal(calls, 3);
  const { attempt, deliveries } = await job.info();
  assert.deepEqual([attempt, deliveries], [1, 1]);
  await clock.advance("62s");
  assert.equal(await job.finished(), "done");
  assert.equal(calls, 5);
});

test("RetryAfter in a step reaches the job, and what was recorded stays", async (t) => {
  const { clock, mail } = await openMail<number, string>(t);
  const ran: string[] = [];
  let isBusy = true;
  mail.work(async (_, { step }) => {
    await step.run("a", () => void ran.push("a"));
    return step.run("b", () => {
      ran.push("b");
      if (isBusy) throw new RetryAfter("5s", { gate: "model" });
      return "ok";
    });
  });
  const job = await mail.add(1);
  await clock.advance("1s");
  isBusy = false;
  await clock.advance("5s");
  assert.equal(await job.finished(), "ok");
  assert.deepEqual(ran, ["a", "b", "b"]);
});

test("distinguishes steps of the same name by their occurrence", async (t) => {
  const { clock, mail } = await openMail<number, number[]>(t, { retry: { min: 1, jitter: 0 } });
  let ran = 0;
  mail.work(async ({ attempt }, { step }) => {
    const results: number[] = [];
    for (let i = 0; i < 3; i++) results.push(await step.run("page", () => ++ran));
    if (attempt === 0) throw new Error("again");
    return results;
  });
  const job = await mail.add(1);
  await clock.advance(10);
  assert.deepEqual(await job.finished(), [1, 2, 3]);
});

test("another kind under the same name is an error that names both", async (t) => {
  const { mail } = await openMail<number, void>(t, { retry: { attempts: 1 } });
  mail.work(async (_, { step }) => {
    await step.run("ready", () => 1);
    await step.waitFor("ready");
  });
  const job = await mail.add(1);
  await assert.rejects(job.finished(), (error) => {
    return error instanceof JobFailed && /"ready" is a run and a wait/.test(error.message);
  });
});

test("a changed handler runs its new steps, and ignores those that it no longer has", async (t) => {
  const { clock, mail } = await openMail<number, string>(t);
  const ran: string[] = [];
  const doing = (step: Steps, name: string) => step.run(name, () => ran.push(name));
  const first = mail.work(async (_, { step }) => {
    await doing(step, "old");
    await doing(step, "kept");
    await step.sleep("1h");
    return "old";
  });
  const job = await mail.add(1);
  await clock.advance("1m");
  await first.close();
  mail.work(async (_, { step }) => {
    await doing(step, "new");
    await doing(step, "kept");
    await step.sleep("1h");
    return "new";
  });
  await clock.advance("1h");
  assert.equal(await job.finished(), "new");
  assert.deepEqual(ran, ["old", "kept", "new"]);
});

test("a result that JSON cannot carry fails the step, and says so", async (t) => {
  const { mail } = await openMail<number, unknown>(t, { retry: { attempts: 1 } });
  mail.work((_, { step }) => step.run("big", () => 1n));
  await assert.rejects((await mail.add(1)).finished(), /the result of step "big" must be JSON/);
});

test("a cost is corrected afterwards", async (t) => {
  const { sluice, mail } = await openMail<number, void>(t);
  await sluice.gate("tokens").set({ rate: 10, burst: 1000 });
  mail.work(async (_, { step }) => {
    const used = await step.run("ask", () => ({ tokens: 700 }), { gates: ["tokens"], cost: 500 });
    await step.run("charge", () => sluice.gate("tokens").charge(used.tokens - 500));
  });
  await (await mail.add(1)).finished();
  assert.equal((await sluice.gate("tokens").info()).tokens, 300);
});

test("steps are listed with their results, and counted", async (t) => {
  const { mail, sluice } = await openMail<number, void>(t);
  mail.work(async (_, { step }) => {
    await step.run("a", () => [1]);
    await step.run("b", () => {});
    await step.waitFor("go");
  });
  const job = await mail.add(1);
  await sluice.drain();
  const steps = await Array.fromAsync(job.steps());
  assert.deepEqual(
    steps.map(({ name, value }) => [name, value]),
    [
      ["a", [1]],
      ["b", undefined],
    ],
  );
  assert.equal((await job.info()).steps, 2);
  const { steps: done, suspended, signals } = await mail.stats();
  assert.deepEqual([done, suspended, signals], [2, 1, 0]);
  const events = (await job.history()).map(({ event, detail }) => [event, detail]);
  assert.deepEqual(events.at(-1), ["suspended", "wait go"]);
});

test("steps are not for batches, nor for jobs of consume", async (t) => {
  const { mail } = await openMail<number, void>(t);
  const told: string[] = [];
  await mail.add(1);
  for await (const job of mail.consume()) {
    try {
      void (job as unknown as { step: Steps }).step;
    } catch (error) {
      told.push((error as SluiceError).code);
    }
    await job.ack();
    break;
  }
  assert.deepEqual(told, ["INVALID"]);
});
