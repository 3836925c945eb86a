import assert from "node:assert/strict";
import { test } from "node:test";
import type { Steps } from "sluice";
import { openMail } from "./testing/open-mail.ts";

/** A step that takes a turn of the event loop, and notes when it runs. */
function slow(step: Steps, ran: string[], name: string, gates: string[] = []): Promise<string> {
  const work = async () => {
    ran.push(name);
    await new Promise(setImmediate);
    return name;
  };
  return step.run(name, work, { gates });
}

test("steps with gates may run in parallel: each runs once, one after the other", async (t) => {
  const { sluice, mail } = await openMail<number, string[]>(t);
  const ran: string[] = [];
  const thrown: unknown[] = [];
  let runs = 0;
  mail.work(async (_, { step }) => {
    assert.ok(++runs < 10, "it is interrupted again and again");
    const all = ["a", "b", "c"].map((name) => slow(step, ran, name, [`gate-${name}`]));
    try {
      return await Promise.all(all);
    } catch (error) {
      thrown.push(error);
      throw error;
    }
  });
  const job = await mail.add(1);
  assert.deepEqual(await job.finished(), ["a", "b", "c"]);
  assert.deepEqual([ran.sort(), runs, thrown], [["a", "b", "c"], 4, []]);
  await sluice.drain();
});

test("a wait lets the steps of other branches end before it suspends the job", async (t) => {
  const { sluice, clock, mail } = await openMail<number, string>(t);
  const ran: string[] = [];
  mail.work(async (_, { step }) => {
    const chain = async () => {
      await slow(step, ran, "first");
      await slow(step, ran, "second");
    };
    await Promise.all([step.sleep("1h"), chain(), slow(step, ran, "gated", ["gate"])]);
    return "done";
  });
  const job = await mail.add(1);
  await sluice.drain();
  assert.deepEqual(ran.slice(0, 2), ["first", "second"]);
  await clock.advance("1h");
  assert.equal(await job.finished(), "done");
  assert.deepEqual(ran, ["first", "second", "gated"]);
});

test("two branches that wait suspend the job once, and neither throws", async (t) => {
  const { sluice, mail } = await openMail<number, unknown[]>(t);
  const thrown: unknown[] = [];
  mail.work((_, { step }) => {
    const waits = ["x", "y"].map((name) => step.waitFor(name));
    for (const wait of waits) wait.catch((error) => thrown.push(error));
    return Promise.all(waits);
  });
  const job = await mail.add(1);
  await sluice.drain();
  await job.signal("y", 2);
  await job.signal("x", 1);
  assert.deepEqual(await job.finished(), [1, 2]);
  assert.deepEqual(thrown, []);
});

test("a step that is retried lets the step beside it end", async (t) => {
  const { clock, sluice, mail } = await openMail<number, string[]>(t);
  const ran: string[] = [];
  mail.work((_, { step }) => {
    const flaky = () => {
      ran.push("flaky");
      if (ran.length < 3) throw new Error("not yet");
      return "flaky";
    };
    const retry = { attempts: 3, min: 1000, jitter: 0 };
    return Promise.all([step.run("flaky", flaky, { retry }), slow(step, ran, "beside")]);
  });
  const job = await mail.add(1);
  await sluice.drain();
  await clock.advance("1s");
  assert.deepEqual(await job.finished(), ["flaky", "beside"]);
  assert.deepEqual(ran, ["flaky", "beside", "flaky"]);
});

test("a step that waits inside another step begins that one again, and both end", async (t) => {
  const { clock, sluice, mail } = await openMail<number, string>(t);
  const ran: string[] = [];
  mail.work((_, { step }) =>
    step.run("outer", async () => {
      ran.push("outer");
      await step.sleep("1m");
      return slow(step, ran, "inner", ["gate"]);
    }),
  );
  const job = await mail.add(1);
  await sluice.drain();
  await clock.advance("1m");
  assert.equal(await job.finished(), "inner");
  assert.deepEqual(ran, ["outer", "outer", "outer", "inner"]);
});

test("a step with gates inside another one with gates is refused by both names", async (t) => {
  const { mail } = await openMail<number, string>(t, { retry: { attempts: 1 } });
  mail.work((_, { step }) =>
    step.run("outer", () => slow(step, [], "inner", ["gate"]), { gates: ["other"] }),
  );
  const refused = /step "inner" is called in step "outer", and both have gates/;
  await assert.rejects((await mail.add(1)).finished(), refused);
});
