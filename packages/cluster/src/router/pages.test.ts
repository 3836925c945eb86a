import assert from "node:assert/strict";
import { test } from "node:test";
import type { LaneSort, LaneStats } from "@sluice/protocol";
import { job, stage } from "../testing/stage.ts";

test("pages over several partitions hold each job once, and no more than asked for", async () => {
  const { cluster, router } = stage();
  await router.setQueue("q", { spread: 4 });
  const jobs = Array.from({ length: 50 }, (_, i) => job(`${i}`, { fairnessKey: `k${i}` }));
  const added = (await router.add("q", jobs)).map(({ ok }) => ok!.id);
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await router.jobs("q", { limit: 7, ...(cursor === undefined ? {} : { cursor }) });
    assert.ok(page.items.length <= 7);
    seen.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  assert.deepEqual(seen.sort(), added.sort());
  for (const bad of ["x", "9~1", "0", "0~x"]) {
    await assert.rejects(router.jobs("q", { cursor: bad }), { code: "INVALID" });
  }
  await cluster.end("close");
});

test("lanes in an order are in that order over all pages and partitions", async () => {
  const { cluster, router } = stage();
  await router.setQueue("q", { spread: 4 });
  for (let lane = 0; lane < 20; lane++) {
    const jobs = Array.from({ length: lane + 1 }, () => job("x", { fairnessKey: `lane${lane}` }));
    await router.add("q", jobs);
  }
  const lanes: LaneStats[] = [];
  let cursor: string | undefined;
  const sort: LaneSort = "waiting";
  do {
    const from = cursor === undefined ? {} : { cursor };
    const page = await router.lanes("q", { sort, limit: 6, ...from });
    lanes.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  const waiting = lanes.map((lane) => lane.waiting);
  assert.deepEqual(
    waiting,
    Array.from({ length: 20 }, (_, i) => 20 - i),
  );
  await assert.rejects(router.lanes("q", { sort, cursor: "[{}]" }), { code: "INVALID" });
  await cluster.end("close");
});
