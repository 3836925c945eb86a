// How long a committed row of the outbox takes to a handler, at the highest rate at which pg-boss
// keeps up with jobs that are added in transactions of the same kind.

import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { Sluice } from "sluice";
import { Outbox } from "sluice/postgres";
import type { Figure, Group, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { figureOf } from "../spread.ts";
import { ADDERS, type AddJob, QUEUE } from "./adders.ts";
import { PostgresRig } from "./rig.ts";

const CONNECTIONS = 8;
const RATES = [50, 100, 200, 400, 800, 1600, 3200];
const SECONDS = 10;
const TICK_MS = 1;
// It keeps up: its last job is handled so soon after its commit, and adds are on time.
const BEHIND_MS = 1000;
const TARGET = { atMost: 50 };
const TEXT = "x".repeat(470);
// Of as many tenants, so that rows are in all shards of the outbox.
const FAIRNESS_KEYS = 100;

export const relayGroup: Group = { name: "relay", run: measure };

/** When each row was committed, and when its handler began. */
class Lags {
  readonly #committed: number[] = [];
  readonly #handled: number[] = [];
  readonly #all = Promise.withResolvers<void>();
  #left: number;
  lateMs = 0;

  constructor(count: number) {
    this.#left = count;
  }

  committed(id: number): void {
    this.#committed[id] = performance.now();
    this.#end();
  }

  handled(id: number): void {
    if (this.#handled[id] !== undefined) throw new Error(`job ${id} was handled twice`);
    this.#handled[id] = performance.now();
    this.#end();
  }

  async settled(): Promise<readonly number[]> {
    await this.#all.promise;
    // A handler may begin before the answer to the commit is here.
    return this.#handled.map((at, id) => Math.max(0, at - this.#committed[id]!));
  }

  /** Twice for each job. */
  #end(): void {
    this.#left -= 0.5;
    if (this.#left === 0) this.#all.resolve();
  }
}

/** Transactions at a steady rate; one that is due does not wait for those before. */
async function pace(pool: pg.Pool, add: AddJob, rate: number, lags: Lags, count: number) {
  const from = performance.now();
  const running: Promise<void>[] = [];
  for (let sent = 0; sent < count; ) {
    const due = Math.min(count, Math.floor(((performance.now() - from) * rate) / 1000) + 1);
    for (; sent < due; sent++) running.push(transaction(pool, add, sent, lags));
    await setTimeout(TICK_MS);
  }
  await Promise.all(running);
  lags.lateMs = performance.now() - from - (count * 1000) / rate;
}

async function transaction(pool: pg.Pool, add: AddJob, id: number, lags: Lags): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("INSERT INTO orders (text) VALUES ($1)", ["an order"]);
    await add(client, { id, text: TEXT });
    await client.query("COMMIT");
    lags.committed(id);
  } finally {
    client.release();
  }
}

/** One system: its handler reports to the lags of the run. */
interface Party extends AsyncDisposable {
  readonly add: AddJob;
  lags: Lags | undefined;
}

async function boss(pool: pg.Pool, url: string): Promise<Party> {
  const adder = await ADDERS["pg-boss"](pool, url);
  const worker = new PgBoss({ connectionString: url, schedule: false, useListenNotify: true });
  await worker.start();
  await worker.updateQueue(QUEUE, { notify: true });
  const options = { batchSize: 100, localConcurrency: 2, pollingIntervalSeconds: 0.5 };
  const party: Party = {
    add: adder.add,
    lags: undefined,
    async [Symbol.asyncDispose]() {
      await worker.stop({ graceful: false });
      await adder[Symbol.asyncDispose]();
    },
  };
  await worker.work<{ id: number }>(QUEUE, options, async (jobs) => {
    for (const { data } of jobs) party.lags?.handled(data.id);
  });
  return party;
}

async function relay(rig: PostgresRig, pool: pg.Pool): Promise<Party> {
  const adder = await ADDERS.Sluice(pool, rig.url);
  const { address } = await rig.sluice("file", "--postgres", rig.url);
  const sluice = await Sluice.connect(address);
  const queue = await sluice.queue<{ id: number }>(QUEUE, { results: { jobs: 0 } });
  const party: Party = {
    add: adder.add,
    lags: undefined,
    [Symbol.asyncDispose]: () => sluice.close(),
  };
  queue.work(({ payload }) => party.lags?.handled(payload.id), { concurrency: 1000 });
  return party;
}

let tenant = 0;
const ofTenants: AddJob = (tx, payload) => {
  const fairnessKey = `tenant-${tenant++ % FAIRNESS_KEYS}`;
  return new Outbox(tx).add(QUEUE, payload, { fairnessKey });
};

/** In milliseconds, by job. */
type Lag = readonly number[];

interface Run {
  readonly lagsMs: Lag;
  readonly keepsUp: boolean;
}

async function runOf(
  pool: pg.Pool,
  party: Party,
  rate: number,
  seconds: number,
  add: AddJob = party.add,
): Promise<Run> {
  const count = Math.round(rate * seconds);
  const lags = new Lags(count);
  party.lags = lags;
  await pace(pool, add, rate, lags, count);
  const lagsMs = await lags.settled();
  return { lagsMs, keepsUp: lags.lateMs <= BEHIND_MS && lagsMs.at(-1)! <= BEHIND_MS };
}

async function highestRate(pool: pg.Pool, party: Party, seconds: number): Promise<number> {
  let highest = RATES[0]!;
  for (const rate of RATES) {
    if (!(await runOf(pool, party, rate, seconds)).keepsUp) break;
    highest = rate;
  }
  return highest;
}

async function measure(scale: Scale): Promise<Figure[]> {
  await using rig = await PostgresRig.start();
  const pool = new pg.Pool({ connectionString: rig.url, max: CONNECTIONS });
  pool.on("error", () => undefined);
  await pool.query("CREATE TABLE orders (id bigserial PRIMARY KEY, text text NOT NULL)");
  const seconds = Math.max(3, scale.size(SECONDS));
  const peer = await boss(pool, rig.url);
  const rate = await highestRate(pool, peer, seconds);
  const peers: Lag[] = [];
  for (let run = 0; run < scale.runs; run++) {
    peers.push((await runOf(pool, peer, rate, seconds)).lagsMs);
  }
  await peer[Symbol.asyncDispose]();
  const own = await relay(rig, pool);
  await runOf(pool, own, rate, seconds);
  const ours: Lag[] = [];
  const tenants: Lag[] = [];
  for (let run = 0; run < scale.runs; run++) {
    ours.push((await runOf(pool, own, rate, seconds)).lagsMs);
    tenants.push((await runOf(pool, own, rate, seconds, ofTenants)).lagsMs);
  }
  await own[Symbol.asyncDispose]();
  await pool.end();
  const conditions = { server: rig.version, disk: rig.disk, transactionsPerSecond: rate, seconds };
  const systems: readonly (readonly [string, Lag[]])[] = [
    ["relay", ours],
    [`relay, ${FAIRNESS_KEYS} fairness keys`, tenants],
    ["pg-boss", peers],
  ];
  return systems.flatMap(([name, runs]) => figuresOf(name, runs, conditions));
}

function figuresOf(
  name: string,
  runs: readonly Lag[],
  conditions: Figure["conditions"],
): readonly Figure[] {
  const lagOf = (share: number): Figure => {
    const values = runs.map((lagsMs) => percentileOf(lagsMs, share));
    return figureOf(`commit → handler, p${share * 100}, ${name}`, "ms", values, conditions);
  };
  const p99 = lagOf(0.99);
  return [lagOf(0.5), name === "pg-boss" ? p99 : { ...p99, target: TARGET }];
}
