import { setTimeout } from "node:timers/promises";
import {
  AckPolicy,
  type ConsumerMessages,
  DiscardPolicy,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { connect as dial, nanos } from "@nats-io/transport-node";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 500;
const BULKS_IN_FLIGHT = 4;
const PULL_JOBS = 2000;
// Its default of 1,000 would let acks on their way hold back the next pull.
const ACK_PENDING_MAX = 20_000;
const HOUR_MS = 3_600_000;
const SETTLE_MS = 5;
const TIMEOUT_MS = 60_000;

export async function connect(place: Place): Promise<Client> {
  const connection = await dial({ servers: place.address });
  const manager = await jetstreamManager(connection, { timeout: TIMEOUT_MS });
  const stream = jetstream(connection, { timeout: TIMEOUT_MS });
  const { queue } = place;
  await manager.streams.add({
    name: queue,
    subjects: [queue],
    storage: StorageType.File,
    retention: RetentionPolicy.Workqueue,
    discard: DiscardPolicy.New,
    num_replicas: 1,
  });
  const options = {
    durable_name: queue,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(HOUR_MS),
    max_ack_pending: place.concurrency ?? ACK_PENDING_MAX,
  };
  let acked = 0;
  const publish = (job: Job) => stream.publish(queue, JSON.stringify(job));
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    limits: false,

    async addBulk(jobs) {
      await Promise.all(jobs.map(publish));
    },

    async add(job) {
      await publish(job);
    },

    async consume(consumer) {
      // A new one takes what was sent to the one before and came too late for it.
      await manager.consumers.delete(queue, queue).catch(() => undefined);
      await manager.consumers.add(queue, options);
      acked = 0;
      const durable = await stream.consumers.get(queue, queue);
      const stored = (count: number): void => {
        acked += count;
        consumer.stored(count);
      };
      const callback = (message: JsMsg): void => take(message, { ...consumer, stored });
      let messages: ConsumerMessages | undefined;
      return {
        async start() {
          messages = await durable.consume({ max_messages: PULL_JOBS, callback });
        },
        async stop() {
          await messages?.close();
        },
      };
    },

    // An ack of its own kind of confirmation would cost a round trip each: its state tells.
    async settle() {
      const until = acked;
      const floor = async (): Promise<number> =>
        (await manager.consumers.info(queue, queue)).ack_floor.consumer_seq;
      while ((await floor()) < until) await setTimeout(SETTLE_MS);
    },
  };
}

function take(message: JsMsg, { handle, stored, failed }: Consumer): void {
  const end = (): void => {
    message.ack();
    stored(1);
  };
  const running = handle(message.json<Job>());
  if (running === undefined) end();
  else running.then(end, failed);
}
