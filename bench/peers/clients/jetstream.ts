import { setTimeout } from "node:timers/promises";
import {
  AckPolicy,
  type ConsumerMessages,
  DiscardPolicy,
  type Consumer as Durable,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
} from "@nats-io/jetstream";
import { connect as dial, nanos } from "@nats-io/transport-node";
import type { Client, Consumer, Consumption, Job, Place } from "../system.ts";

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
  const publish = (job: Job) => stream.publish(queue, JSON.stringify(job));
  let pulling: Pulling | undefined;
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: place.concurrency ?? PULL_JOBS,
    limits: false,

    async addBulk(jobs) {
      await Promise.all(jobs.map(publish));
    },

    async add(job) {
      await publish(job);
    },

    async consume(consumer) {
      const durable = await durableOf(manager, stream, place);
      pulling = new Pulling(durable, consumer);
      return pulling;
    },

    settle: async () => pulling?.settle(),
  };
}

// A new one: it takes what was sent to the one before and came too late for it.
async function durableOf(
  manager: JetStreamManager,
  stream: JetStreamClient,
  { queue, concurrency = ACK_PENDING_MAX }: Place,
): Promise<Durable> {
  await manager.consumers.delete(queue, queue).catch(() => undefined);
  await manager.consumers.add(queue, {
    durable_name: queue,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(HOUR_MS),
    max_ack_pending: concurrency,
  });
  return stream.consumers.get(queue, queue);
}

class Pulling implements Consumption {
  readonly #durable: Durable;
  readonly #consumer: Consumer;
  #messages: ConsumerMessages | undefined;
  #acked = 0;

  constructor(durable: Durable, consumer: Consumer) {
    this.#durable = durable;
    this.#consumer = consumer;
  }

  async start(): Promise<void> {
    const callback = (message: JsMsg): void => this.#take(message);
    this.#messages = await this.#durable.consume({ max_messages: PULL_JOBS, callback });
  }

  async stop(): Promise<void> {
    await this.#messages?.close();
    await this.settle();
  }

  // An ack of its own kind of confirmation would cost a round trip each: its state tells.
  async settle(): Promise<void> {
    const until = this.#acked;
    const floor = async (): Promise<number> => (await this.#durable.info()).ack_floor.consumer_seq;
    while ((await floor()) < until) await setTimeout(SETTLE_MS);
  }

  #take(message: JsMsg): void {
    const end = (): void => {
      message.ack();
      this.#acked += 1;
      this.#consumer.stored(1);
    };
    const running = this.#consumer.handle(message.json<Job>());
    if (running === undefined) end();
    else running.then(end, (error) => this.#consumer.failed(error));
  }
}
