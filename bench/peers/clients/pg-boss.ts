// For throughput, jobs are fetched and completed in batches by hand, as its manual allows: its own
// worker waits for a whole batch before it fetches the next one. For latency its worker is woken.

import { setImmediate, setTimeout } from "node:timers/promises";
import { type Job as BossJob, PgBoss } from "pg-boss";
import type { Client, Consumer, Consumption, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 2;
const FETCHERS = 3;
const CONNECTIONS = 8;
const FETCH_MS = 20;
// A tenant may have a quarter of the handlers: the others are there for the quiet ones.
const GROUP_SHARE = 4;
const HOUR_S = 3600;

export async function connect(place: Place): Promise<Client> {
  const boss = new PgBoss({
    connectionString: place.address,
    max: CONNECTIONS,
    schedule: false,
    useListenNotify: place.isLatency,
  });
  await boss.start();
  const name = place.queue;
  const own = { expireInSeconds: HOUR_S, retryLimit: 0, deleteAfterSeconds: HOUR_S };
  if ((await boss.getQueue(name)) === null) {
    await boss.createQueue(name, { ...own, notify: place.isLatency });
  }
  const insertable = (data: Job) =>
    place.isFair ? { data, group: { id: String(data.tenant) } } : { data };
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    takenMax: place.concurrency ?? FETCHERS * BATCH_JOBS,
    limits: false,

    async addBulk(jobs) {
      await boss.insert(name, jobs.map(insertable));
    },

    async add(job) {
      const { data, ...options } = insertable(job);
      await boss.send(name, data, options);
    },

    consume: async (consumer) =>
      place.isLatency ? working(boss, name, consumer) : Fetching.connect(boss, place, consumer),
  };
}

function working(boss: PgBoss, name: string, consumer: Consumer): Consumption {
  const options = {
    batchSize: 1,
    localConcurrency: 2,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
  };
  return {
    async start() {
      await boss.work<Job>(name, options, async (jobs) => {
        for (const { data } of jobs) await consumer.handle(data);
        consumer.stored(jobs.length);
      });
    },
    stop: () => boss.offWork(name, { wait: true }),
  };
}

class Fetching implements Consumption {
  readonly #boss: PgBoss;
  readonly #place: Place;
  readonly #consumer: Consumer;
  #loops: readonly Promise<void>[] = [];
  #isOver = false;
  // Handled and not completed yet.
  #ended: string[] = [];
  #completing: Promise<void> | undefined;

  private constructor(boss: PgBoss, place: Place, consumer: Consumer) {
    this.#boss = boss;
    this.#place = place;
    this.#consumer = consumer;
  }

  static async connect(boss: PgBoss, place: Place, consumer: Consumer): Promise<Fetching> {
    // A pool dials when it is asked, and hangs up after a while.
    const ask = () => boss.getDb().executeSql("select 1");
    await Promise.all(Array.from({ length: CONNECTIONS }, ask));
    return new Fetching(boss, place, consumer);
  }

  start(): void {
    const { concurrency } = this.#place;
    this.#loops =
      concurrency === undefined
        ? Array.from({ length: FETCHERS }, () => this.#takeBatches())
        : [this.#takeSlots(concurrency)];
    for (const loop of this.#loops) loop.catch((error) => this.#consumer.failed(error));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #takeBatches(): Promise<void> {
    while (!this.#isOver) {
      const jobs = await this.#fetch(BATCH_JOBS);
      for (const { data } of jobs) await this.#consumer.handle(data);
      if (jobs.length === 0) await setTimeout(FETCH_MS);
      else await this.#complete(jobs.map(({ id }) => id));
    }
  }

  // As many jobs at once as there are free handlers.
  async #takeSlots(concurrency: number): Promise<void> {
    let free = concurrency;
    const running = new Set<Promise<void>>();
    while (!this.#isOver) {
      const jobs = free === 0 ? [] : await this.#fetch(free);
      free -= jobs.length;
      for (const job of jobs) {
        const end: Promise<void> = this.#finish(job).then(() => {
          free += 1;
          running.delete(end);
        });
        running.add(end);
      }
      // A tenant at its share gets more as soon as one of its jobs has ended.
      if (free === 0) await Promise.race(running);
      else if (jobs.length === 0) await Promise.race([...running, setTimeout(FETCH_MS)]);
    }
    await Promise.all(running);
  }

  async #finish({ id, data }: BossJob<Job>): Promise<void> {
    await this.#consumer.handle(data);
    this.#ended.push(id);
    this.#completing ??= this.#completeEnded();
    await this.#completing;
  }

  // Jobs that end in the same turn of the loop are completed together.
  async #completeEnded(): Promise<void> {
    await setImmediate();
    const ids = this.#ended;
    this.#ended = [];
    this.#completing = undefined;
    await this.#complete(ids);
  }

  async #complete(ids: string[]): Promise<void> {
    await this.#boss.complete(this.#place.queue, ids);
    this.#consumer.stored(ids.length);
  }

  #fetch(batchSize: number): Promise<BossJob<Job>[]> {
    const { queue, isFair, concurrency } = this.#place;
    if (!isFair || concurrency === undefined) return this.#boss.fetch<Job>(queue, { batchSize });
    const groupConcurrency = Math.ceil(concurrency / GROUP_SHARE);
    return this.#boss.fetch<Job>(queue, { batchSize, groupConcurrency });
  }
}
