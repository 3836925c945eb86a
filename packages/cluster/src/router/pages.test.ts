import assert from "node:assert/strict";
import { test } from "node:test";
import { type LaneSort, walkPages } from "@sluice/protocol";
import { job, stage } from "../testing/stage.ts";

test("pages over several partitions hold each job once, and no more than asked for", async () => {
  const { router } = stage();
  await router.setQueue("q", { spread: 4 });
  const jobs = Array.from({ length: 50 }, (_, i) => job(`${i}`, { fairnessKey: `k${i}` }));
  const added = (await router.add("q", jobs)).map(({ ok }) => ok!.id);
  const pages = walkPages(async (from) => {
    const page = await router.jobs("q", { limit: 7, ...from });
    assert.ok(page.items.length <= 7);
    return page;
  });
  const seen = await Array.fromAsync(pages, ({ id }) => id);
  assert.deepEqual(seen.sort(), added.sort());
  for (const bad of ["x", "9~1", "0", "0~x"]) {
    await assert.rejects(router.jobs("q", { cursor: bad }), { code: "INVALID" });
  }
});

test("lanes in an order are in that order over all pages and partitions", async () => {
  const { router } = stage();
  await router.setQueue("q", { spread: 4 });
  for (let lane = 0; lane < 20; lane++) {
    const jobs = Array.from({ length: lane + 1 }, () => job("x", { fairnessKey: `lane${lane}` }));
    await router.add("q", jobs);
  }
  const sort: LaneSort = "waiting";
  const lanes = walkPages((from) => router.lanes("q", { sort, limit: 6, ...from }));
  const waiting = await Array.fromAsync(lanes, (lane) => lane.waiting);
  assert.deepEqual(
    waiting,
    Array.from({ length: 20 }, (_, i) => 20 - i),
  );
  await assert.rejects(router.lanes("q", { sort, cursor: "[{}]" }), { code: "INVALID" });
});
