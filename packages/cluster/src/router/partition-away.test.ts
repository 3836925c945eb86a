import assert from "node:assert/strict";
import { test } from "node:test";
import type { SluiceError } from "@sluice/protocol";
import { turns } from "@sluice/protocol/testing";
import { homeOfQueue } from "../hash.ts";
import { job, keysOf, stage } from "../testing/stage.ts";

const TIMEOUT_MS = 1_000;
const CALL = { timeout: TIMEOUT_MS };

function queueIn(partition: number): string {
  for (let i = 0; ; i++) if (homeOfQueue(`q${i}`, 4) === partition) return `q${i}`;
}

/** Partition 1 that a test can take away. */
async function scene() {
  const { cluster, router, clock } = stage();
  const [here, there] = [queueIn(0), queueIn(1)];
  for (const queue of [here, there]) await router.setQueue(queue, {});
  await router.setQueue("wide", { spread: 4 });
  const codeOf = async (call: Promise<unknown>): Promise<string> => {
    const code = call.then(
      () => "answered",
      (error: SluiceError) => error.code,
    );
    await clock.advance(TIMEOUT_MS);
    return code;
  };
  const leave = async (): Promise<void> => {
    cluster.away.add(1);
    await cluster.drop(1, "close");
    await turns(16);
  };
  return { clock, cluster, router, here, there, codeOf, leave };
}

test("while a partition is away its calls are UNAVAILABLE, and others go through", async () => {
  const { clock, cluster, router, here, there, codeOf, leave } = await scene();
  await leave();
  assert.equal(await codeOf(router.add(there, [job("a")], CALL)), "UNAVAILABLE");
  assert.equal(await codeOf(router.job("1-a1", CALL)), "UNAVAILABLE");
  assert.equal((await router.add(here, [job("a")], CALL))[0]?.error, undefined);
  cluster.away.clear();
  await clock.advance(TIMEOUT_MS);
  assert.equal((await router.queue(there)).stats.added, 0);
  await cluster.end("close");
});

test("a batch over several partitions is refused for the one that is away alone", async () => {
  const { cluster, clock, router, codeOf, leave } = await scene();
  await leave();
  const keys = [0, 1, 2, 3].flatMap((slot) => keysOf(slot, 4, 2));
  const jobs = keys.map((fairnessKey) => job("a", { fairnessKey }));
  const adding = router.add("wide", jobs, CALL);
  await clock.advance(TIMEOUT_MS);
  const codes = (await adding).map(({ error }) => error?.code ?? "added");
  assert.equal(codes.filter((code) => code === "UNAVAILABLE").length, 2);
  assert.equal(codes.filter((code) => code === "added").length, 6);
  // A call to all of them has had its effect on the others.
  assert.equal(await codeOf(router.purge("wide", CALL)), "TIMEOUT");
  await cluster.end("close");
});
