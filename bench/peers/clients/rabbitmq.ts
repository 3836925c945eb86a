import { type ConfirmChannel, type ConsumeMessage, connect as dial } from "amqplib";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 500;
const BULKS_IN_FLIGHT = 4;
const PREFETCH = 2000;
const ACKS_AT_ONCE = 100;
const MARK = "mark";

export async function connect(place: Place): Promise<Client> {
  const connection = await dial(place.address);
  const channel = await connection.createConfirmChannel();
  const type = place.variant ?? "quorum";
  const args = { "x-queue-type": type };
  const acks = new Acks(channel);
  await channel.assertQueue(place.queue, { durable: true, arguments: args });
  const publish = (body: Buffer, kind?: string) => send(channel, place.queue, body, kind);
  const publishJob = (job: Job) => publish(Buffer.from(JSON.stringify(job)));
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: place.concurrency ?? PREFETCH,
    limits: false,

    async addBulk(jobs) {
      await Promise.all(jobs.map(publishJob));
    },

    add: publishJob,

    async consume(consumer) {
      await channel.prefetch(place.concurrency ?? PREFETCH);
      let consumerTag = "";
      return {
        async start() {
          const consuming = await channel.consume(place.queue, (message) => {
            if (message === null) consumer.failed(new Error("the queue is gone"));
            else take(message, acks, consumer);
          });
          consumerTag = consuming.consumerTag;
        },
        async stop() {
          await channel.cancel(consumerTag);
          acks.send();
        },
      };
    },

    // No ack is confirmed; what is published behind it on its channel is, and after it.
    async settle() {
      acks.send();
      await publish(Buffer.from(MARK), MARK);
    },
  };
}

function send(channel: ConfirmChannel, queue: string, body: Buffer, type?: string): Promise<void> {
  const options = { persistent: true, ...(type === undefined ? {} : { type }) };
  return new Promise((resolve, reject) => {
    channel.sendToQueue(queue, body, options, (error) => (error ? reject(error) : resolve()));
  });
}

function take(message: ConsumeMessage, acks: Acks, { handle, stored, failed }: Consumer): void {
  if (message.properties.type === MARK) return acks.one(message);
  const running = handle(JSON.parse(message.content.toString()));
  if (running === undefined) {
    acks.upTo(message);
    stored(1);
    return;
  }
  running.then(() => {
    acks.one(message);
    stored(1);
  }, failed);
}

// Jobs that end in their order are acked many at once.
class Acks {
  readonly #channel: ConfirmChannel;
  #last: ConsumeMessage | undefined;
  #count = 0;

  constructor(channel: ConfirmChannel) {
    this.#channel = channel;
  }

  one(message: ConsumeMessage): void {
    this.send();
    this.#channel.ack(message);
  }

  upTo(message: ConsumeMessage): void {
    if (this.#count === 0) setImmediate(() => this.send());
    this.#last = message;
    this.#count += 1;
    if (this.#count === ACKS_AT_ONCE) this.send();
  }

  send(): void {
    if (this.#last !== undefined) this.#channel.ack(this.#last, true);
    this.#last = undefined;
    this.#count = 0;
  }
}
