// Flows of BullMQ on Redis beside flows of Sluice: a parent and ten children, each side with its
// server in a process of its own and every write on the disk before it is confirmed.

import { chmodSync } from "node:fs";
import { FlowProducer, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Sluice } from "sluice";
import type { Figure, Group, Scale } from "../figure.ts";
import { startRedis } from "../peers/servers/redis.ts";
import { startSluice } from "../peers/servers/sluice.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";

/** Many enough that a run of either side takes longer than half a second. */
const FLOWS = 5000;
/** Runs that are not measured: later ones are no faster, on either side. */
const WARM_UPS = 3;
const CHILDREN = 10;
/** Flows that are added at once. */
const ADDERS = 50;
const CONCURRENCY = 200;
/**
 * A worker of BullMQ fetches one job after the other. Of 1, 2 and 4 workers for a queue with 200 or
 * more jobs at a time in all, 4 with 50 each were fastest: 12,300 jobs/s beside 10,100 with one.
 */
const WORKERS = 4;

export const bullmqFlows: Group = { name: "bullmq", run: measure };

/** One side: adds so many flows, and resolves when all parents have ended. */
type Side = (flows: number) => Promise<void>;

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  const flows = scale.size(FLOWS);
  // Peers run under another user, who must get to their directories.
  chmodSync(scratch.dir, 0o711);
  const redis = await startRedis(scratch.fresh(), "sync");
  const sluice = await startSluice(scratch.fresh(), "sync");
  await using _redis = redis.server;
  await using _sluice = sluice.server;
  await using peer = await bullmq(redis.address);
  await using own = await ours(sluice.address);
  for (let run = 0; run < WARM_UPS; run++) {
    await peer.run(flows);
    await own.run(flows);
  }
  const peers: number[] = [];
  const speeds: number[] = [];
  for (let run = 0; run < scale.runs; run++) {
    peers.push(await speedOf(peer.run, flows));
    speeds.push(await speedOf(own.run, flows));
  }
  const atOnce = { addedAtOnce: ADDERS, concurrency: CONCURRENCY };
  const conditions = { flows, children: CHILDREN, ...atOnce, disk: scratch.disk };
  const times = speeds.map((speed, i) => speed / peers[i]!);
  return [
    figureOf("flows of BullMQ", "jobs/s", peers, { ...conditions, redis: "appendfsync always" }),
    figureOf("flows of Sluice", "jobs/s", speeds, { ...conditions, sluice: "durability fsync" }),
    { ...figureOf("flows against BullMQ", "×", times, conditions), target: { atLeast: 5 } },
  ];
}

async function speedOf(side: Side, flows: number): Promise<number> {
  const from = performance.now();
  await side(flows);
  return (flows * (CHILDREN + 1) * 1000) / (performance.now() - from);
}

interface Party extends AsyncDisposable {
  readonly run: Side;
}

/** Adds flows, so many at a time. */
async function addAll(flows: number, add: () => Promise<unknown>): Promise<void> {
  let left = flows;
  const adder = async (): Promise<void> => {
    while (left-- > 0) await add();
  };
  await Promise.all(Array.from({ length: ADDERS }, adder));
}

/** Resolves when `flows` parents were seen. */
class Parents {
  #left = 0;
  #done = Promise.withResolvers<void>();

  expect(flows: number): Promise<void> {
    this.#left = flows;
    this.#done = Promise.withResolvers();
    return this.#done.promise;
  }

  seen(): void {
    if (--this.#left === 0) this.#done.resolve();
  }
}

async function bullmq(address: string): Promise<Party> {
  const { hostname, port } = new URL(address);
  const connections: Redis[] = [];
  const open = (): never => {
    connections.push(new Redis(Number(port), hostname, { maxRetriesPerRequest: null }));
    return connections.at(-1) as never;
  };
  const producer = new FlowProducer({ connection: open() });
  const parents = new Parents();
  const options = { concurrency: CONCURRENCY / WORKERS, removeOnComplete: { count: 0 } };
  const workers = Array.from({ length: WORKERS }, () => {
    const child = new Worker("child", async (job) => job.data.n, {
      connection: open(),
      ...options,
    });
    const parent = new Worker(
      "parent",
      async (job) => {
        const values = await job.getChildrenValues();
        if (Object.keys(values).length !== CHILDREN) throw new Error("results are missing");
      },
      { connection: open(), ...options },
    );
    parent.on("completed", () => parents.seen());
    return [child, parent];
  }).flat();
  const flow = {
    name: "parent",
    queueName: "parent",
    data: {},
    children: Array.from({ length: CHILDREN }, (_, n) => ({
      name: "child",
      queueName: "child",
      data: { n },
    })),
  };
  return {
    run: async (flows) => {
      const done = parents.expect(flows);
      await addAll(flows, () => producer.add(flow));
      await done;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.close(true)));
      await producer.close();
      for (const connection of connections) connection.disconnect();
    },
  };
}

async function ours(address: string): Promise<Party> {
  const sluice = await Sluice.connect(address);
  const child = await sluice.queue<{ n: number }, number>("child", { results: { jobs: 0 } });
  const parent = await sluice.queue("parent", { results: { jobs: 0 } });
  const parents = new Parents();
  child.work((job) => job.payload.n, { concurrency: CONCURRENCY });
  parent.work(
    async (job) => {
      const values = await Array.fromAsync(job.dependencies());
      if (values.length !== CHILDREN) throw new Error("results are missing");
    },
    { concurrency: CONCURRENCY },
  );
  parent.on("finished", () => parents.seen());
  const children = Array.from({ length: CHILDREN }, (_, n) => ({ queue: "child", payload: { n } }));
  return {
    run: async (flows) => {
      const done = parents.expect(flows);
      await addAll(flows, () => sluice.flow({ queue: "parent", children }));
      await done;
    },
    [Symbol.asyncDispose]: () => sluice.close(),
  };
}
