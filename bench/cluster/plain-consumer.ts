// Pulls messages from JetStream and acknowledges them, from a process of its own.

import { AckPolicy, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { connectNats } from "@sluice/log/nats";
import { answer } from "../answer.ts";
import { BATCH_JOBS, SINGLES_IN_FLIGHT } from "./load.ts";

const LOOK_MS = 2;

let manager: Awaited<ReturnType<typeof jetstreamManager>>;
let streams: readonly string[] = [];
const ids: string[] = [];
let left = 0;
let run = Promise.withResolvers<void>();

async function work(stream: string): Promise<void> {
  const consumer = await manager.jetstream().consumers.get(stream, "workers");
  for await (const message of await consumer.consume({ max_messages: BATCH_JOBS })) {
    ids.push(`${stream} ${message.seq}`);
    message.ack();
    if (--left === 0) run.resolve();
  }
}

// An ack is not answered; that it has arrived shows in what the consumer still waits for.
async function acknowledged(): Promise<void> {
  for (const stream of streams) {
    while ((await manager.consumers.info(stream, "workers")).num_ack_pending > 0) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

answer({
  async open(urls: string[], names: readonly string[], replicas: number) {
    const connection = await connectNats(urls);
    manager = await jetstreamManager(connection);
    streams = names;
    for (const name of names) {
      const storage = StorageType.File;
      await manager.streams.add({ name, subjects: [name], storage, num_replicas: replicas });
      await manager.consumers.add(name, {
        durable_name: "workers",
        ack_policy: AckPolicy.Explicit,
        max_ack_pending: SINGLES_IN_FLIGHT * 2,
      });
      work(name).catch((error) => run.reject(error));
    }
  },

  async finish(jobs: number) {
    left = jobs;
    run = Promise.withResolvers();
    await run.promise;
    await acknowledged();
  },

  ids: () => ids.splice(0),
});
