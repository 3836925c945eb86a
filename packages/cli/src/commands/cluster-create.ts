import { needs } from "@sluice/protocol";
import { type Call, Misuse, type Options, tell, textOf, wholeOf } from "../command.ts";
import { NATS_OPTIONS, NATS_PACKAGES } from "../nats-address.ts";
import { clusterDatabase } from "../serve/cluster-postgres.ts";
import { serveSettings } from "../serve/settings.ts";
import { counted } from "../show.ts";

export const CREATE_OPTIONS: Options = {
  to: { type: "string" },
  cluster: { type: "string" },
  "cluster-name": { type: "string" },
  "allow-untested-nats": { type: "boolean" },
  partitions: { type: "string" },
  replicas: { type: "string" },
  storage: { type: "string" },
  ...NATS_OPTIONS,
};

const UNITS = ["", "K", "M", "G", "T"];

/** Makes a cluster: nodes join one that is there, and never make one. */
export async function createCluster(call: Call): Promise<number> {
  const created = await create(call);
  return tell(call, created, () => {
    const { name, partitions } = created;
    const size = counted(partitions, "partition");
    return `created the cluster ${name} with ${size}: start nodes with sluice serve --cluster`;
  });
}

async function create(call: Call): Promise<{ name: string; partitions: number }> {
  const settings = await serveSettings(call);
  const partitions = wholeOf(call, "partitions", 1);
  const url = clusterDatabase(settings);
  if (url === undefined) {
    const { place, createNatsCluster } = await onNats(call);
    const replicas = wholeOf(call, "replicas", 1);
    const storageBytes = bytesOf(call, "storage");
    return createNatsCluster({ ...place, partitions, replicas, storageBytes });
  }
  const strange = ["replicas", "storage"].find((name) => textOf(call, name) !== undefined);
  if (strange !== undefined) throw new Misuse(`--${strange} is for a cluster on NATS`);
  const load = async () => {
    await import("pg");
    return import("@sluice/cluster/postgres");
  };
  const { createPostgresCluster } = await needs("a cluster in PostgreSQL", ["pg"], load);
  const say = (remark: string): void => void call.output.progress.write(remark);
  const waiting = { stop: call.stop, say };
  return createPostgresCluster({ url, name: settings.clusterName, partitions, waiting });
}

/** Adds partitions, which take new queues. */
export async function growCluster(call: Call): Promise<number> {
  const partitions = wholeOf(call, "partitions", 1);
  if (partitions === undefined)
    throw new Misuse("--partitions N is needed: how many there shall be");
  const { place, growNatsCluster } = await onNats(call);
  const grown = await growNatsCluster({ ...place, partitions });
  return tell(call, grown, () => {
    const { before, now } = grown;
    return `the cluster has ${counted(now, "partition")}; it had ${before}`;
  });
}

/** Returns when the queue works in its new partition; the cluster continues if this is stopped. */
export async function moveQueue(call: Call, queue: string): Promise<number> {
  const to = wholeOf(call, "to");
  if (to === undefined) throw new Misuse("--to N is needed: the partition that gets the queue");
  const { place, moveQueue: move } = await onNats(call);
  const { stop, output } = call;
  const onBegun = (): void =>
    void output.progress.write(
      `new jobs of ${queue} go to partition ${to}; they wait until the others are worked off\n`,
    );
  await move({ ...place, queue, to, stop, onBegun });
  return tell(call, { queue, to }, () => `${queue} is in partition ${to}`);
}

/** Where the cluster of a command is, and what works on it. */
export async function onNats(call: Call) {
  const settings = await serveSettings(call);
  if (settings.cluster === undefined)
    throw new Misuse("--cluster nats://a,b,c or postgres://host/database is needed");
  const { clusterNats, ...commands } = await needs(
    "a cluster on NATS",
    NATS_PACKAGES,
    async () => ({
      ...(await import("@sluice/cluster/nats")),
      ...(await import("../serve/cluster-nats.ts")),
    }),
  );
  const say = (remark: string): void => void call.output.progress.write(remark);
  const place = {
    nats: clusterNats(settings),
    name: settings.clusterName,
    waiting: { stop: call.stop, say },
  };
  return { ...commands, place };
}

/** A number of bytes, or a text such as 50G. */
export function bytesOf(call: Call, name: string): number | undefined {
  const text = textOf(call, name);
  if (text === undefined) return undefined;
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?$/i.exec(text) ?? [];
  const bytes = Math.floor(Number(number) * 1024 ** UNITS.indexOf(unit.toUpperCase()));
  if (bytes >= 1) return bytes;
  throw new Misuse(`--${name} must be a size such as 50G, got ${JSON.stringify(text)}`);
}
