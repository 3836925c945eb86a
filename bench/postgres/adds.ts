// Adds in a user's transaction: how many in a second, and what one add costs the transaction that
// it is in. No side has a worker, and the tables are emptied between the runs.

import { chmodSync } from "node:fs";
import pg from "pg";
import type { Figure, Group, Scale } from "../figure.ts";
import { startPostgres } from "../peers/servers/postgres.ts";
import { percentileOf } from "../percentile.ts";
import { Scratch } from "../scratch.ts";
import { figureOf } from "../spread.ts";
import { ADDERS, type Adder, type AddJob, SIDES, type Side } from "./adders.ts";
import { serverMicros } from "./server-time.ts";

const CONNECTIONS = 4;
const TRANSACTIONS = 1000;
const ADDS_EACH = 10;
const ALONE = 1000;
const PAYLOAD = { order: 7, to: "someone@example.com", text: "x".repeat(452) };
const NONE = "no add";

const NAMES = [NONE, ...SIDES] as const;
type Name = (typeof NAMES)[number];
const PAYLOAD_BYTES = JSON.stringify(PAYLOAD).length;
const WARM_UP = 100;
const TARGET = { atLeast: 1.5 };

export const addsGroup: Group = { name: "adds", run: measure };

class Sides implements AsyncDisposable {
  readonly pool: pg.Pool;
  readonly adders = new Map<Side, Adder>();

  constructor(url: string) {
    this.pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    // A connection that is lost fails the call that needs it.
    this.pool.on("error", () => undefined);
    this.pool.on("connect", (client) => client.on("error", () => undefined));
  }

  static async open(url: string): Promise<Sides> {
    const sides = new Sides(url);
    await sides.pool.query("CREATE TABLE orders (id bigserial PRIMARY KEY, text text NOT NULL)");
    for (const side of SIDES) sides.adders.set(side, await ADDERS[side](sides.pool, url));
    return sides;
  }

  addOf(name: Name): AddJob {
    return this.adders.get(name as Side)?.add ?? (async () => {});
  }

  async empty(): Promise<void> {
    const tables = [...this.adders.values()].map(({ table }) => table);
    await this.pool.query(`TRUNCATE orders, ${tables.join(", ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const adder of this.adders.values()) await adder[Symbol.asyncDispose]();
    await this.pool.end();
  }
}

/** A row of the user's, and so many jobs with it. */
async function transaction(client: pg.ClientBase, add: AddJob, adds: number): Promise<void> {
  await client.query("BEGIN");
  await client.query("INSERT INTO orders (text) VALUES ($1)", ["an order"]);
  for (let i = 0; i < adds; i++) await add(client, PAYLOAD);
  await client.query("COMMIT");
}

async function addsPerSecond(sides: Sides, name: Name, transactions: number): Promise<number> {
  const add = sides.addOf(name);
  let left = transactions;
  const lane = async (): Promise<void> => {
    const client = await sides.pool.connect();
    while (left-- > 0) await transaction(client, add, ADDS_EACH);
    client.release();
  };
  const from = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  return (transactions * ADDS_EACH * 1000) / (performance.now() - from);
}

/** The median time of a transaction with one add: one after the other, the sides in turns. */
async function alone(sides: Sides, names: readonly Name[], count: number): Promise<number[]> {
  const client = await sides.pool.connect();
  const took = names.map((): number[] => []);
  for (let i = 0; i < count; i++) {
    for (const [at, name] of names.entries()) {
      const from = performance.now();
      await transaction(client, sides.addOf(name), 1);
      took[at]!.push(performance.now() - from);
    }
  }
  client.release();
  return took.map((times) => percentileOf(times, 0.5));
}

interface Sample {
  readonly perSecond: number;
  /** Of the database, for an add and its part of the transaction. */
  readonly serverMicros: number;
}

async function sampleOf(sides: Sides, name: Name, pid: number, count: number): Promise<Sample> {
  await sides.empty();
  const before = serverMicros(pid);
  const perSecond = await addsPerSecond(sides, name, count);
  return { perSecond, serverMicros: (serverMicros(pid) - before) / (count * ADDS_EACH) };
}

interface Samples {
  readonly many: ReadonlyMap<Side, Sample[]>;
  /** By run, in the order of `NAMES`. */
  readonly aloneMs: number[][];
}

async function measure(scale: Scale): Promise<Figure[]> {
  using scratch = new Scratch();
  chmodSync(scratch.dir, 0o711);
  const { server, address, version } = await startPostgres(scratch.fresh(), "sync");
  await using _server = server;
  await using sides = await Sides.open(address);
  for (const side of SIDES) await sampleOf(sides, side, server.pid, WARM_UP);
  const samples: Samples = { many: new Map(SIDES.map((side) => [side, []])), aloneMs: [] };
  for (let run = 0; run < scale.runs; run++) {
    for (let i = 0; i < SIDES.length; i++) {
      const side = SIDES[(run + i) % SIDES.length]!;
      const count = scale.size(TRANSACTIONS);
      samples.many.get(side)!.push(await sampleOf(sides, side, server.pid, count));
    }
    await sides.empty();
    samples.aloneMs.push(await alone(sides, NAMES, scale.size(ALONE)));
  }
  return figuresOf(samples, { server: version, payloadBytes: PAYLOAD_BYTES, disk: scratch.disk });
}

function figuresOf({ many, aloneMs }: Samples, shared: Figure["conditions"]): Figure[] {
  const conditions = { ...shared, connections: CONNECTIONS, addsInATransaction: ADDS_EACH };
  const costs = (side: Side): number[] =>
    aloneMs.map((times) => times[NAMES.indexOf(side)]! - times[NAMES.indexOf(NONE)]!);
  const rates = (side: Side): number[] => many.get(side)!.map(({ perSecond }) => perSecond);
  const micros = (side: Side): number[] => many.get(side)!.map((sample) => sample.serverMicros);
  const bare = aloneMs.map((times) => times[NAMES.indexOf(NONE)]!);
  const figures = [figureOf("transaction with a row and no add", "ms", bare, shared)];
  for (const side of SIDES) {
    figures.push(
      figureOf(`adds in a transaction, ${side}`, "adds/s", rates(side), conditions),
      figureOf(`database's processor time, ${side}`, "µs/add", micros(side), conditions),
      figureOf(`cost of one add to a transaction, ${side}`, "ms", costs(side), shared),
    );
  }
  for (const peer of SIDES.slice(1)) {
    const against = (what: string, of: (side: Side) => number[], peerFirst: boolean): Figure => {
      const [upper, lower] = peerFirst ? [of(peer), of("Sluice")] : [of("Sluice"), of(peer)];
      const ratios = upper.map((value, run) => value / lower[run]!);
      return { ...figureOf(`${what} against ${peer}`, "×", ratios, conditions), target: TARGET };
    };
    figures.push(
      against("adds in a transaction", rates, false),
      against("database's processor time", micros, true),
      against("cost of one add to a transaction", costs, true),
    );
  }
  return figures;
}
