// How long the jobs of a partition are away when its owner is killed, with many of them waiting:
// from the kill to the next add that is confirmed, and to the next job that is delivered.

import { connectBroker } from "@sluice/client/remote";
import type { Broker } from "@sluice/protocol";
import type { Group, Report, Scale } from "../figure.ts";
import { figureOf } from "../spread.ts";
import { rssBytesOf } from "./cpu.ts";
import { BATCH_JOBS, BULKS_IN_FLIGHT } from "./load.ts";
import { Nodes } from "./nodes.ts";

const NODES = 3;
const QUEUE = "backlog";
const PAYLOAD = Buffer.alloc(100, 7);
const LANES = 100;
const LOOK_MS = 200;
const READ_MS = 600_000;
const SIZES = [
  { jobs: 1_000_000, atMost: 4.5, kills: 3 },
  { jobs: 10_000_000, atMost: 10, kills: 2 },
];

async function fill(broker: Broker, jobs: number): Promise<void> {
  const items = Array.from({ length: BATCH_JOBS }, (_, i) => ({
    payload: PAYLOAD,
    fairnessKey: `lane-${i % LANES}`,
  }));
  let left = jobs / BATCH_JOBS;
  const add = async (): Promise<void> => {
    while (left-- > 0) await broker.add(QUEUE, items);
  };
  await Promise.all(Array.from({ length: BULKS_IN_FLIGHT }, add));
}

// Resolves when another node has read the log along: its memory does not grow any more.
async function standbyReady(nodes: Nodes, owner: string, jobs: number): Promise<number> {
  const endAt = performance.now() + READ_MS;
  const others = nodes.pidsBut(owner);
  for (let before = 0, still = 0; performance.now() < endAt; ) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const most = Math.max(...others.map((pid) => rssBytesOf(pid)));
    const isRead = most > jobs * 60 && most - before < 2 ** 20;
    still = isRead ? still + 1 : 0;
    before = most;
    if (still >= 10) return most;
  }
  throw new Error(`no standby within ${READ_MS} ms`);
}

async function measure(scale: Scale, report: Report): Promise<void> {
  for (const { jobs: full, atMost, kills } of SIZES) {
    const jobs = scale.size(full);
    await using nodes = await Nodes.start(NODES, 1);
    const { other } = await nodes.ownerOf(0);
    const broker = await connectBroker(other, {});
    const capacity = { jobs: 100_000_000, bytes: 1e12 };
    await broker.setQueue(QUEUE, { capacity, lease: 3_600_000 });
    await fill(broker, jobs);
    await broker.close();
    const tookSeconds: number[] = [];
    const standbyBytes: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const { owner } = await nodes.ownerOf(0);
      standbyBytes.push(await standbyReady(nodes, owner, jobs));
      const asked = await connectBroker(nodes.urls.find((url) => url !== owner)!, {});
      const from = performance.now();
      await nodes.kill(owner);
      await asked.add(QUEUE, [{ payload: PAYLOAD }]);
      const [job] = await asked.lease(QUEUE, { max: 1, wait: 10_000 });
      if (job === undefined) throw new Error("no job was delivered");
      tookSeconds.push((performance.now() - from) / 1000);
      await asked.close();
      await nodes.resize(NODES);
    }
    const conditions = {
      ...nodes.conditions,
      nodes: NODES,
      waitingJobs: jobs,
      payload: "100 bytes",
    };
    const what = `${jobs.toLocaleString("en")} waiting jobs`;
    const clock = "from kill -9 of the owner to a confirmed add and a delivered job";
    const took = figureOf(`takeover, ${what}`, "s", tookSeconds, { ...conditions, clock });
    report({ ...took, target: { atMost } });
    const perJob = standbyBytes.map((bytes) => bytes / jobs);
    report(figureOf(`memory of the standby's process, ${what}`, "bytes/job", perJob, conditions));
  }
}

export const takeoverGroups: readonly Group[] = [{ name: "takeover", run: measure }];
