// What the log in a NATS stream costs beside plain publishes of the same size to the same servers,
// measured in turns.

import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { connectNats, NatsLog } from "@sluice/log/nats";
import { NatsServers } from "@sluice/log/testing";
import type { Bench, Figure, Group, Scale } from "../figure.ts";
import { percentileOf } from "../percentile.ts";
import { figureOf, rounded } from "../spread.ts";

const BATCH_BYTES = 64 * 1024;
const BATCHES = 4000;
const IN_FLIGHT = 32;
const ALONE = 500;

type Append = (facts: Uint8Array) => Promise<unknown>;
type Connection = Awaited<ReturnType<typeof connectNats>>;

/** Megabytes in a second, as many appends on their way as `lanes`. */
async function throughputOf(append: Append, count: number, lanes: number): Promise<number> {
  const facts = Buffer.alloc(BATCH_BYTES, 7);
  let left = count;
  const begin = performance.now();
  const lane = async (): Promise<void> => {
    while (left-- > 0) await append(facts);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return (count * BATCH_BYTES) / 1000 / (performance.now() - begin);
}

/** Milliseconds of appends one after the other. */
async function latenciesOf(append: Append, count: number): Promise<number[]> {
  const facts = Buffer.alloc(BATCH_BYTES, 7);
  const tookMs: number[] = [];
  for (let i = 0; i < count; i++) {
    const begin = performance.now();
    await append(facts);
    tookMs.push(performance.now() - begin);
  }
  return tookMs;
}

async function openPlain(connection: Connection, name: string, replicas: number): Promise<Append> {
  const manager = await jetstreamManager(connection);
  const subjects = [`plain.${name}`];
  await manager.streams.add({ name, subjects, storage: StorageType.File, num_replicas: replicas });
  const client = jetstream(connection);
  return (facts) => client.publish(`plain.${name}`, facts);
}

async function openLog(connection: Connection, stream: string): Promise<NatsLog> {
  const log = await NatsLog.open({ connection, stream });
  for await (const _ of log.replay());
  return log;
}

async function replayRate(connection: Connection, stream: string): Promise<number> {
  const log = await NatsLog.open({ connection, stream });
  const begin = performance.now();
  let bytes = 0;
  for await (const { facts } of log.replay()) bytes += facts.length;
  const rate = bytes / 1000 / (performance.now() - begin);
  await log.close();
  return rate;
}

interface Measured {
  readonly rates: number[];
  readonly ratios: number[];
  readonly replays: number[];
  readonly ours: number[];
  readonly plain: number[];
}

async function measure(servers: NatsServers, scale: Scale): Promise<Measured> {
  const found: Measured = { rates: [], ratios: [], replays: [], ours: [], plain: [] };
  const connection = await connectNats(servers.urls);
  for (let run = 0; run < scale.runs; run++) {
    const plain = await openPlain(connection, `plain-${run}`, servers.count);
    const log = await openLog(connection, `log-${run}`);
    const append: Append = (facts) => log.append(facts);
    const plainRate = await throughputOf(plain, scale.size(BATCHES), IN_FLIGHT);
    const rate = await throughputOf(append, scale.size(BATCHES), IN_FLIGHT);
    found.rates.push(rate);
    found.ratios.push(rate / plainRate);
    found.plain.push(...(await latenciesOf(plain, scale.size(ALONE))));
    found.ours.push(...(await latenciesOf(append, scale.size(ALONE))));
    await log.close();
    found.replays.push(await replayRate(connection, `log-${run}`));
    const manager = await jetstreamManager(connection);
    for (const name of [`plain-${run}`, `log-${run}`]) await manager.streams.delete(name);
  }
  await connection.close();
  return found;
}

function figuresOf(count: number, { rates, ratios, replays, ours, plain }: Measured): Figure[] {
  const conditions = { servers: count, batchBytes: BATCH_BYTES };
  const inFlight = { ...conditions, inFlight: IN_FLIGHT };
  const alone = (name: string, share: number): Figure => ({
    metric: `${name} of one append at a time`,
    unit: "ms",
    value: rounded(percentileOf(ours, share)),
    conditions: { ...conditions, plain: rounded(percentileOf(plain, share)) },
  });
  return [
    figureOf("append throughput", "MB/s", rates, inFlight),
    figureOf("appends by plain publishes", "ratio", ratios, inFlight),
    alone("median", 0.5),
    alone("p99", 0.99),
    figureOf("replay throughput", "MB/s", replays, conditions),
  ];
}

/** What `sync_interval: always` costs: the same log on servers that sync each message, in turns. */
const syncGroup: Group = {
  name: "sync",
  run: async (scale) => {
    const lazy = await NatsServers.start({ count: 3 });
    const synced = await NatsServers.start({ count: 3, syncInterval: "always" });
    try {
      const rates: number[][] = [[], []];
      const times: number[][] = [[], []];
      const connections = await Promise.all([lazy, synced].map(({ urls }) => connectNats(urls)));
      for (let run = 0; run < scale.runs; run++) {
        for (const [i, connection] of connections.entries()) {
          const log = await openLog(connection, `log-${run}`);
          const append: Append = (facts) => log.append(facts);
          rates[i]!.push(await throughputOf(append, scale.size(BATCHES), IN_FLIGHT));
          times[i]!.push(...(await latenciesOf(append, scale.size(ALONE))));
          await log.close();
        }
      }
      await Promise.all(connections.map((connection) => connection.close()));
      const ratios = rates[1]!.map((rate, i) => rate / rates[0]![i]!);
      const conditions = { servers: 3, batchBytes: BATCH_BYTES };
      const median = (of: number[]): number => rounded(percentileOf(of, 0.5));
      return [
        figureOf("throughput, synced by not", "ratio", ratios, {
          ...conditions,
          inFlight: IN_FLIGHT,
        }),
        {
          metric: "median of one synced append at a time",
          unit: "ms",
          value: median(times[1]!),
          conditions: { ...conditions, notSynced: median(times[0]!) },
        },
      ];
    } finally {
      await Promise.all([lazy.stop(), synced.stop()]);
    }
  },
};

const groupOf = (count: number): Group => ({
  name: `${count} ${count === 1 ? "server" : "servers"}`,
  run: async (scale) => {
    const servers = await NatsServers.start({ count });
    try {
      return figuresOf(count, await measure(servers, scale));
    } finally {
      await servers.stop();
    }
  },
});

export const natsBench: Bench = { name: "nats", groups: [groupOf(1), groupOf(3), syncGroup] };
