// For throughput, jobs are fetched and completed in batches by hand, as its manual allows: its own
// worker waits for a whole batch before it fetches the next one. For latency its worker is woken.

import { setTimeout } from "node:timers/promises";
import { type Job as BossJob, PgBoss } from "pg-boss";
import type { Client, Consumer, Job, Place } from "../system.ts";

const BATCH_JOBS = 1000;
const BULKS_IN_FLIGHT = 2;
const FETCHERS = 3;
const CONNECTIONS = 8;
const FETCH_MS = 20;
// The widest that lets the quiet ones through: half of the handlers.
const GROUP_SHARE = 2;
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
  const consumption = new Fetching(boss, place);
  return {
    bulk: { jobs: BATCH_JOBS, inFlight: BULKS_IN_FLIGHT },
    limits: false,

    async addBulk(jobs) {
      await boss.insert(name, jobs.map(insertable));
    },

    async add(job) {
      const { data, ...options } = insertable(job);
      await boss.send(name, data, options);
    },

    consume: (consumer) =>
      place.isLatency ? work(boss, name, consumer) : consumption.begin(consumer),
  };
}

async function work(boss: PgBoss, name: string, consumer: Consumer): Promise<() => Promise<void>> {
  const options = {
    batchSize: 1,
    localConcurrency: 2,
    pollingIntervalSeconds: 0.5,
    notifyPollingIntervalSeconds: 0.5,
  };
  await boss.work<Job>(name, options, async (jobs) => {
    for (const { data } of jobs) await consumer.handle(data);
    consumer.stored(jobs.length);
  });
  return () => boss.offWork(name, { wait: true });
}

class Fetching {
  readonly #boss: PgBoss;
  readonly #place: Place;
  #isOver = false;

  constructor(boss: PgBoss, place: Place) {
    this.#boss = boss;
    this.#place = place;
  }

  async begin(consumer: Consumer): Promise<() => Promise<void>> {
    this.#isOver = false;
    const { concurrency } = this.#place;
    const loops =
      concurrency === undefined
        ? Array.from({ length: FETCHERS }, () => this.#takeBatches(consumer))
        : [this.#takeSlots(consumer, concurrency)];
    for (const loop of loops) loop.catch((error) => consumer.failed(error));
    return async () => {
      this.#isOver = true;
      await Promise.all(loops);
    };
  }

  async #takeBatches(consumer: Consumer): Promise<void> {
    while (!this.#isOver) {
      const jobs = await this.#fetch(BATCH_JOBS);
      if (jobs.length === 0) await setTimeout(FETCH_MS);
      else await this.#finish(consumer, jobs);
    }
  }

  // As many jobs at once as there are free handlers.
  async #takeSlots(consumer: Consumer, concurrency: number): Promise<void> {
    let free = concurrency;
    const running = new Set<Promise<void>>();
    while (!this.#isOver) {
      const jobs = free === 0 ? [] : await this.#fetch(free);
      free -= jobs.length;
      for (const job of jobs) {
        const end: Promise<void> = this.#finish(consumer, [job]).then(() => {
          free += 1;
          running.delete(end);
        });
        running.add(end);
      }
      if (free === 0) await Promise.race(running);
      else if (jobs.length === 0) await setTimeout(FETCH_MS);
    }
    await Promise.all(running);
  }

  // Jobs that end together are completed together; one that takes longer holds back no other.
  async #finish(consumer: Consumer, jobs: readonly BossJob<Job>[]): Promise<void> {
    let ended: string[] = [];
    const complete = async (): Promise<void> => {
      const ids = ended;
      ended = [];
      if (ids.length === 0) return;
      await this.#boss.complete(this.#place.queue, ids);
      consumer.stored(ids.length);
    };
    const running: Promise<void>[] = [];
    for (const { id, data } of jobs) {
      const handling = consumer.handle(data);
      if (handling === undefined) ended.push(id);
      else running.push(handling.then(() => void ended.push(id)).then(complete));
    }
    await complete();
    await Promise.all(running);
  }

  #fetch(batchSize: number): Promise<BossJob<Job>[]> {
    const { queue, isFair, concurrency } = this.#place;
    if (!isFair || concurrency === undefined) return this.#boss.fetch<Job>(queue, { batchSize });
    const groupConcurrency = Math.ceil(concurrency / GROUP_SHARE);
    return this.#boss.fetch<Job>(queue, { batchSize, groupConcurrency });
  }
}
