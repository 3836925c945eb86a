import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClusterProcess, TestCluster } from "../testing/cluster.ts";

const KILLS = 20;
// What is promised is 5 s, on a machine that does nothing else; the figure is printed.
const DISPATCH_MS_MAX = 15_000;

test("after kill -9 of an owner the next one dispatches within seconds", async (t) => {
  const cluster = await TestCluster.start(t);
  const sluice = await cluster.connect();
  const mail = await sluice.queue<number>("mail", { lease: "60s" });
  const heard = new Map<number, () => void>();
  mail.work(async ({ payload }) => heard.get(payload)?.());
  const { id } = await mail.add(-1);
  let starting: Promise<void> = Promise.resolve();
  const took: number[] = [];
  for (let round = 0; round < KILLS; round++) {
    const owner = await ownerOf(cluster, id);
    await starting;
    const worked = new Promise<void>((resolve) => heard.set(round, resolve));
    const since = performance.now();
    await owner.kill();
    const adding = mail.add(round);
    await worked;
    took.push(Math.round(performance.now() - since));
    await adding;
    starting = owner.start();
  }
  await starting;
  took.sort((a, b) => a - b);
  const median = took[Math.floor(took.length / 2)];
  t.diagnostic(`${KILLS} kills: first dispatch after ${median} ms (p50), ${took.at(-1)} ms (p99)`);
  assert.ok(took.at(-1)! <= DISPATCH_MS_MAX, `${took.join(", ")} ms`);
});

// The node that serves the partition of a job, when it is not about to go to another.
async function ownerOf(cluster: TestCluster, job: string): Promise<ClusterProcess> {
  const partition = Number(job.split("-")[0]);
  for (;;) {
    const { partitions } = await cluster.status();
    const { owner, state, next } = partitions[partition]!;
    const node = cluster.nodes.find(({ name }) => name === owner);
    if (state === "serving" && next === undefined && node?.isRunning === true) return node;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
