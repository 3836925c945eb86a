import assert from "node:assert/strict";
import { test } from "node:test";
import { Sluice } from "sluice";
import { errorOf, statusOf } from "./status.ts";
import type { Submission } from "./submission.ts";

test("a job that came through in the end has no error, whatever happened before", async () => {
  await using sluice = await Sluice.open({ durability: "memory" });
  const retry = { attempts: 2, min: 1, max: 1 };
  const queue = await sluice.queue<Submission>("jobs", { retry });
  queue.work(({ attempt }) => {
    if (attempt === 0) throw new Error("the first time");
  });
  const job = await queue.add({ type: "note", timeoutMs: 1000 });
  await job.finished();
  const { status, attempts, error } = await statusOf(job);
  assert.deepEqual(
    { status, attempts, error },
    { status: "succeeded", attempts: 2, error: undefined },
  );
  assert.equal(errorOf(await job.info()), undefined);
});
