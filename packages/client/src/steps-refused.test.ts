import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError, Steps } from "sluice";
import { openMail } from "./testing/open-mail.ts";

test("a step that cannot be recorded is refused before it runs", async (t) => {
  const { sluice, mail } = await openMail<string, void>(t, { retry: { attempts: 1 } });
  let ran = 0;
  const work = () => {
    ran++;
  };
  const tries: Record<string, (step: Steps) => Promise<unknown>> = {
    'name must be the name of a step, got ""': (step) => step.run("", work),
    "name must be a string of at most 255 bytes, got 5": (step) => step.run(5 as never, work),
    'step "a" must be a function, got undefined': (step) => step.run("a", undefined as never),
    "step.gate is not a known field (did you mean gates?); known are gates, cost, retry": (step) =>
      step.run("a", work, { gate: "b" } as never),
    'name must be the name of a step, got "" ': (step) => step.waitFor(""),
  };
  const told: string[] = [];
  mail.work(async ({ payload }, { step }) => {
    await tries[payload]!(step).catch((error: SluiceError) => told.push(error.message));
  });
  for (const message of Object.keys(tries)) await (await mail.add(message)).finished();
  await sluice.drain();
  assert.deepEqual([told, ran], [Object.keys(tries).map((message) => message.trim()), 0]);
});

test("a step beyond the limit is refused before it runs", async (t) => {
  const { mail } = await openMail<number, number>(t, { retry: { attempts: 1 } });
  let ran = 0;
  mail.work(async (_, { step }) => {
    for (;;) await step.run("page", () => ++ran);
  });
  const job = await mail.add(1);
  await assert.rejects(job.finished(), /LIMIT_REACHED: a job has at most 1000 steps/);
  assert.equal(ran, 1000);
});
