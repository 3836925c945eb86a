// A connection has one command under way: many connections are what its clients use for speed.

import jackd, { type JackdClient } from "jackd";
import type { Client, Consumer, Job, Place } from "../system.ts";

const CONNECTIONS = 64;
const TTR_S = 3600;
// Its types tell of a module with a class in it; what is there is the class.
const Jackd = jackd as unknown as typeof JackdClient;

export async function connect(place: Place): Promise<Client> {
  const [host = "", port] = place.address.split(":");
  const dial = async (): Promise<JackdClient> => {
    const client = new Jackd();
    await client.connect({ host, port: Number(port) });
    await client.use(place.queue);
    await client.watch(place.queue);
    return client;
  };
  const free: JackdClient[] = [];
  const put = async (job: Job): Promise<void> => {
    const client = free.pop() ?? (await dial());
    await client.put(JSON.stringify(job), { ttr: TTR_S });
    free.push(client);
  };
  return {
    bulk: { jobs: 1, inFlight: CONNECTIONS },
    limits: false,

    async addBulk(jobs) {
      for (const job of jobs) await put(job);
    },

    add: put,

    async consume(consumer) {
      const length = place.concurrency ?? CONNECTIONS;
      const clients = await Promise.all(Array.from({ length }, dial));
      let isOver = false;
      for (const client of clients) {
        takeJobs(client, consumer, () => isOver).catch((error) => {
          if (!isOver) consumer.failed(error);
        });
      }
      return async () => {
        isOver = true;
        for (const { socket } of clients) socket.destroy();
      };
    },
  };
}

async function takeJobs(
  client: JackdClient,
  consumer: Consumer,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    const { id, payload } = await client.reserve();
    await consumer.handle(JSON.parse(payload.toString()));
    await client.delete(id);
    consumer.stored(1);
  }
}
