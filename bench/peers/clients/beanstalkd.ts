// A connection has one command under way: many connections are what its clients use for speed.

import jackd, { type JackdClient } from "jackd";
import type { Client, Consumer, Consumption, Job, Place } from "../system.ts";

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
  const pool = new Pool(dial);
  const put = (job: Job): Promise<void> =>
    pool.use(async (client) => {
      await client.put(JSON.stringify(job), { ttr: TTR_S });
    });
  return {
    bulk: { jobs: 1, inFlight: CONNECTIONS },
    takenMax: place.concurrency ?? CONNECTIONS,
    limits: false,

    async addBulk(jobs) {
      await Promise.all(jobs.map(put));
    },

    add: put,

    async consume(consumer) {
      const length = place.concurrency ?? CONNECTIONS;
      return new Taking(await Promise.all(Array.from({ length }, dial)), consumer);
    },
  };
}

// Connections for puts; who finds none free waits for one.
class Pool {
  readonly #dial: () => Promise<JackdClient>;
  readonly #free: JackdClient[] = [];
  readonly #waiting: ((client: JackdClient) => void)[] = [];
  #count = 0;

  constructor(dial: () => Promise<JackdClient>) {
    this.#dial = dial;
  }

  async use(act: (client: JackdClient) => Promise<void>): Promise<void> {
    const client = await this.#take();
    try {
      await act(client);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(client);
      else next(client);
    }
  }

  #take(): Promise<JackdClient> | JackdClient {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#count === CONNECTIONS) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#count += 1;
    return this.#dial();
  }
}

class Taking implements Consumption {
  readonly #clients: readonly JackdClient[];
  readonly #consumer: Consumer;
  readonly #running = new Set<Promise<void>>();
  #isOver = false;

  constructor(clients: readonly JackdClient[], consumer: Consumer) {
    this.#clients = clients;
    this.#consumer = consumer;
  }

  start(): void {
    for (const client of this.#clients) {
      this.#take(client).catch((error) => {
        if (!this.#isOver) this.#consumer.failed(error);
      });
    }
  }

  // Handled jobs are deleted first. The server gives reserved jobs to another consumer.
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.allSettled(this.#running);
    for (const { socket } of this.#clients) socket.destroy();
  }

  async #take(client: JackdClient): Promise<void> {
    while (!this.#isOver) {
      const { id, payload } = await client.reserve();
      if (this.#isOver) return;
      const running = this.#finish(client, id, payload);
      this.#running.add(running);
      await running;
      this.#running.delete(running);
    }
  }

  async #finish(client: JackdClient, id: string, payload: string | Buffer): Promise<void> {
    await this.#consumer.handle(JSON.parse(payload.toString()));
    await client.delete(id);
    this.#consumer.stored(1);
  }
}
